import type { JsonObject } from "./run-config.ts";

/**
 * Sampling arguments of an environment, and over them those of a run. A run always has `max_tokens`, null where nobody said it: the environment's own bound then stands, or an evaluation that asks
 * for ten tokens would have answers without end.
 */
export function mergedSampling(own: JsonObject, run: JsonObject): JsonObject {
  const merged = { ...own, ...run };
  const { max_tokens = null } = own;
  const isBounded = (run.max_tokens ?? null) !== null || (run.max_completion_tokens ?? null) !== null;
  return isBounded || max_tokens === null ? merged : { ...merged, max_tokens };
}
