import { numberVar } from "../../durable-objects/timing.ts";
import { hostsProblem } from "../config/endpoints/environment-hosts.ts";
import { type Env, isLocal } from "../env.ts";
import type { OfferedEnvironment } from "../environments/definition/offered.ts";
import { EdgewiseError } from "../errors/result.ts";
import { isolateHostOf } from "../isolates/isolate-host.ts";
import type { IsolatedModule } from "../isolates/isolated-module.ts";
import { openIsolate } from "../isolates/open-isolate.ts";
import { WALLED_SILENCE_MS } from "../limits.ts";
import { DEFAULT_TEAM } from "../teams/team-name.ts";
import { walledEnvironment, type WallOpener } from "../walled/walled-environment.ts";

/**
 * `module` for runs of `team`: its code has an isolate of its own, with nothing of this Worker. Throws, where it is used, `access_not_allowed` for hosts that it
 * declares and that this service lets no environment call, and what `openIsolate` throws.
 */
export function isolatedEnvironment(env: Env, team: string | undefined, { facts, code }: IsolatedModule): OfferedEnvironment {
  const declared = facts.hosts ?? [];
  const silenceMs = numberVar("WALLED_SILENCE_MS", env.WALLED_SILENCE_MS, WALLED_SILENCE_MS);
  const open: WallOpener = async ({ purpose, keys }) => {
    const problem = hostsProblem({ declared, allowed: env.ENVIRONMENT_HOSTS ?? null, local: isLocal(env) });
    if (problem !== null) throw new EdgewiseError("access_not_allowed", `environment ${facts.id} ${problem}`);
    const { text, map } = await code();
    const hosts = purpose === "run" ? declared : [];
    return openIsolate(isolateHostOf(env), { team: team ?? DEFAULT_TEAM, hosts, secrets: keys, code: { digest: facts.source, text, map } });
  };
  return walledEnvironment(facts, open, { silenceMs });
}
