/** What a command line asks of a run that there is, as the body of the service's request. */
import type { Option } from "../../config/options/option.ts";
import { OPTION_NAMES, OPTIONS } from "../../config/options/options.ts";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { GivenOptions } from "./flags.ts";

/** Body of `POST /evaluations/{id}/resume`: only what was typed is passed on or compared; the run keeps the rest. */
export function resumeBody(envId: string, given: GivenOptions, storedSampling: JsonObject): JsonObject {
  const body: JsonObject = { expect: { env_id: envId, ...expectedSettings(given, storedSampling) } };
  for (const name of OPTION_NAMES) {
    const { resume }: Option = OPTIONS[name];
    const value = given[name];
    if (resume && value !== undefined) body[name] = value as Json;
  }
  return body;
}

/** What the command line says of a run that must not change. */
export function expectedSettings(given: GivenOptions, storedSampling: JsonObject): JsonObject {
  const expected: JsonObject = {};
  if (given.env_args !== undefined) expected.env_args = given.env_args;
  if (given.model !== undefined) expected.model = given.model;
  if (given.extra_env_kwargs !== undefined) expected.extra_env_kwargs = given.extra_env_kwargs;
  if (given.shuffle === true) expected.shuffle_seed = given.shuffle_seed ?? OPTIONS.shuffle_seed.default;
  if (given.order !== undefined) expected.order = given.order;
  if (given.rollouts_per_example !== undefined) expected.rollouts_per_example = given.rollouts_per_example;
  if (given.api_client_type !== undefined) expected.api_client_type = given.api_client_type;
  if (given.independent_scoring !== undefined) expected.independent_scoring = given.independent_scoring;
  if (given.cluster_by !== undefined) expected.cluster_by = given.cluster_by;
  if (given.state_columns !== undefined) expected.state_columns = given.state_columns;
  const sampling = expectedSampling(given, storedSampling);
  if (sampling !== null) expected.sampling_args = sampling;
  return expected;
}

/**
 * Sampling arguments that the command line implies for a run that has `stored`; null when it says nothing of them. As in a first
 * run, `-S` wins over `-t` and `-T`; what none of them names stays as it is.
 */
function expectedSampling({ sampling_args, max_tokens, temperature }: GivenOptions, stored: JsonObject): JsonObject | null {
  if (sampling_args === undefined && max_tokens === undefined && temperature === undefined) return null;
  const kept: JsonObject = {};
  for (const name of ["max_tokens", "temperature"] as const) if (stored[name] !== undefined) kept[name] = stored[name];
  const flags = { ...(max_tokens === undefined ? {} : { max_tokens }), ...(temperature === undefined ? {} : { temperature }) };
  return sampling_args === undefined ? { ...stored, ...flags } : { ...kept, ...flags, ...sampling_args };
}
