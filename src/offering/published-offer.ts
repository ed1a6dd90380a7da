import type { PublishedPin } from "../config/plan/published-pin.ts";
import type { Env } from "../env.ts";
import type { OfferedEnvironment } from "../environments/definition/offered.ts";
import { EdgewiseError } from "../errors/result.ts";
import { shownPin } from "../published/published-name.ts";
import { publishedModule } from "./published-code.ts";

/** The published environment that a run is pinned to; null where its code is gone. Its code is nobody's of this service, and is loaded in no isolate of it. Rejects as `publishedModule`. */
export async function publishedOffer(env: Env, pin: PublishedPin): Promise<OfferedEnvironment | null> {
  const module = await publishedModule(env, pin);
  if (module === null) return null;
  const refuse = async (): Promise<never> => {
    throw new EdgewiseError("environment_failed", `${shownPin(pin)} is published, and this service runs no published environments yet.`, {
      hint: "Run it from its file, or deploy it with the service.",
    });
  };
  return { ...module.facts, resolveArgs: refuse, check: refuse, load: refuse };
}
