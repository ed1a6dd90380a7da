import type { WallOpener } from "../walled/walled-environment.ts";
import { hostsProblem } from "../config/endpoints/environment-hosts.ts";
import { type Env, isLocal } from "../env.ts";
import { EdgewiseError } from "../errors/result.ts";
import { isolateHostOf } from "./isolate-host.ts";
import { type IsolatePlan, openIsolate } from "./open-isolate.ts";

/**
 * Opens isolates of one environment for whoever asks, each for the request that asks. Copies that were given keys meet nobody who was given others. Rejects
 * with `access_not_allowed` where the environment declares hosts that this service lets no environment call.
 */
export const isolateOpener =
  (env: Env, plan: Omit<IsolatePlan, "secrets">): WallOpener =>
  async ({ keys }) => {
    const problem = hostsProblem({ declared: plan.hosts, allowed: env.ENVIRONMENT_HOSTS ?? null, local: isLocal(env) });
    if (problem !== null) throw new EdgewiseError("access_not_allowed", `the environment ${problem}`);
    return await openIsolate(isolateHostOf(env), { ...plan, secrets: keys });
  };
