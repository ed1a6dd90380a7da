import { numberVar } from "../../durable-objects/timing.ts";
import type { Env } from "../env.ts";
import type { OfferedEnvironment } from "../environments/definition/offered.ts";
import type { IsolatedModule } from "../isolates/isolated-module.ts";
import { isolateOpener } from "../isolates/isolate-opener.ts";
import { WALLED_SILENCE_MS } from "../limits.ts";
import { DEFAULT_TEAM } from "../teams/team-name.ts";
import { walledEnvironment } from "../walled/walled-environment.ts";
import { beginWork } from "./at-work.ts";

/**
 * `module` for runs of `team`: its code has an isolate of its own, with nothing of this Worker, and is never loaded in one of the service's. Throws, where it is used,
 * what `isolateOpener` throws.
 */
export function isolatedEnvironment(env: Env, team: string = DEFAULT_TEAM, { facts, code }: IsolatedModule): OfferedEnvironment {
  const silenceMs = numberVar("WALLED_SILENCE_MS", env.WALLED_SILENCE_MS, WALLED_SILENCE_MS);
  const plan = { team, hosts: facts.hosts ?? [], code: async () => ({ digest: facts.source, ...(await code()) }) };
  return walledEnvironment(facts, isolateOpener(env, plan), { silenceMs, atWork: () => beginWork(env.PARENT, facts.id) });
}
