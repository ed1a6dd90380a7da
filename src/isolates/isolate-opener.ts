import { hostsProblem } from "../config/endpoints/environment-hosts.ts";
import { type Env, isLocal } from "../env.ts";
import { EdgewiseError } from "../errors/result.ts";
import type { WallOpener } from "../walled/walled-environment.ts";
import { isolateHostOf } from "./isolate-host.ts";
import type { IsolateCode } from "./isolate-modules.ts";
import { type IsolatePlan, openIsolate } from "./open-isolate.ts";

export interface OpenerPlan extends Pick<IsolatePlan, "team" | "hosts"> {
  /** Asked for when an isolate is opened. */
  readonly code: () => Promise<IsolateCode>;
}

/**
 * Opens isolates of one environment for whoever asks, each for the request that asks. Copies that were given keys meet nobody who was given others, and only those that
 * play have a network. Rejects with `access_not_allowed` where the environment declares hosts that this service lets no environment call.
 */
export const isolateOpener =
  (env: Env, { team, hosts, code }: OpenerPlan): WallOpener =>
  async ({ purpose, keys }) => {
    const problem = hostsProblem({ declared: hosts, allowed: env.ENVIRONMENT_HOSTS ?? null, local: isLocal(env) });
    if (problem !== null) throw new EdgewiseError("access_not_allowed", `the environment ${problem}`);
    return await openIsolate(isolateHostOf(env), { team, hosts: purpose === "run" ? hosts : [], code: await code(), secrets: keys });
  };
