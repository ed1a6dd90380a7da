import type { PublishedPin } from "../config/plan/published-pin.ts";
import type { Env } from "../env.ts";
import type { OfferedEnvironment } from "../environments/definition/offered.ts";
import { isolateOpener } from "../isolates/isolate-opener.ts";
import { DEFAULT_TEAM } from "../teams/team-name.ts";
import { walledEnvironment } from "../walled/walled-environment.ts";
import { publishedModule } from "./published-code.ts";

/**
 * The published environment that a run of `team` is pinned to; null where its code is gone. The code is nobody's of this service: it is loaded in isolates of its own, and
 * never in one of the service's. Rejects as `publishedModule`.
 */
export async function publishedOffer(env: Env, pin: PublishedPin, team: string = DEFAULT_TEAM): Promise<OfferedEnvironment | null> {
  const module = await publishedModule(env, pin);
  if (module === null) return null;
  const { facts, code } = module;
  return walledEnvironment(facts, async (grant) =>
    isolateOpener(env, { team, hosts: facts.hosts ?? [], code: { digest: pin.digest, ...(await code()) } })(grant),
  );
}
