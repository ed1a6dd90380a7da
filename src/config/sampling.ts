import type { JsonObject } from "./run-config.ts";

/** Whether answers are asked for in pieces (`stream: true`, also in `extra_body`). */
export function asksForStream({ stream, extra_body }: JsonObject): boolean {
  const extra = typeof extra_body === "object" && extra_body !== null && !Array.isArray(extra_body) ? extra_body.stream : undefined;
  return (extra ?? stream) === true;
}

/**
 * Sampling arguments of a run (verifiers-spec 1.4, step 6): what is given explicitly wins over the flags; `max_tokens` is always
 * there, if only as null; `temperature` only when given.
 */
export function foldSamplingArgs(
  given: JsonObject,
  flags: { readonly max_tokens?: number | undefined; readonly temperature?: number | undefined } = {},
): JsonObject {
  const folded: JsonObject = { ...given };
  if (!Object.hasOwn(folded, "max_tokens")) folded.max_tokens = flags.max_tokens ?? null;
  if (flags.temperature !== undefined && !Object.hasOwn(folded, "temperature")) folded.temperature = flags.temperature;
  return folded;
}
