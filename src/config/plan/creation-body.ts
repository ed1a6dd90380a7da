import type { ReplicaBody } from "../endpoints/endpoint-choice.ts";
import type { Option } from "../options/option.ts";
import { type GivenOptions, OPTION_NAMES, OPTIONS } from "../options/options.ts";
import type { Json, JsonObject, RunConfig } from "./run-config.ts";
import { foldSamplingArgs } from "../options/sampling.ts";

/**
 * Body of `POST /hosted-evaluations` for what a command line or a config file says. `replicas`: several places that serve the model, instead of one;
 * `commonLimit`: what it keeps to together with others that are created beside it.
 */
export function createBody(
  envId: string,
  given: GivenOptions,
  replicas: readonly ReplicaBody[] = [],
  commonLimit: RunConfig["common_limit"] = undefined,
): JsonObject {
  const body: JsonObject = { environment_ids: [envId], ...(given.endpoint_id === undefined ? { inference_model: OPTIONS.model.default } : {}) };
  const evalConfig: JsonObject = {};
  for (const name of OPTION_NAMES) {
    const { http }: Option = OPTIONS[name];
    const value = given[name];
    if (http !== null && value !== undefined) (http[0] === "body" ? body : evalConfig)[http[1]] = value as Json;
  }
  evalConfig.sampling_args = foldSamplingArgs(given.sampling_args ?? {}, given);
  if (commonLimit !== undefined) evalConfig.common_limit = { ...commonLimit };
  if (replicas.length > 0) {
    delete evalConfig.api_base_url;
    evalConfig.replicas = replicas.map((replica) => ({ ...replica }));
  }
  return { ...body, eval_config: evalConfig };
}

/** A limit for one rollout is a setting of the environment; the setting itself wins. */
export function withTimeout({ timeout, ...given }: GivenOptions): GivenOptions {
  return timeout === undefined ? given : { ...given, extra_env_kwargs: { timeout_seconds: timeout, ...given.extra_env_kwargs } };
}
