import type { Json, JsonObject } from "../plan/run-config.ts";

/** Whether answers are asked for in pieces (`stream: true`, also in `extra_body`). */
export function asksForStream({ stream, extra_body }: JsonObject): boolean {
  return (objectOf(extra_body).stream ?? stream) === true;
}

/**
 * Sampling arguments of a run: what is given explicitly wins over the flags; `max_tokens` is always
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

/** Chat templates of open models read these (vLLM, SGLang); providers read them at the top. */
const REASONING = ["reasoning_effort", "enable_thinking"];

/** A `[sampling]` table: its reasoning keys stand in `extra_body.chat_template_kwargs` too, under what is there already. */
export function withMirroredReasoning(sampling: JsonObject): JsonObject {
  const mirrored = Object.fromEntries(Object.entries(sampling).filter(([key]) => REASONING.includes(key)));
  if (Object.keys(mirrored).length === 0) return sampling;
  const extra = objectOf(sampling.extra_body);
  return { ...sampling, extra_body: { ...extra, chat_template_kwargs: { ...mirrored, ...objectOf(extra.chat_template_kwargs) } } };
}

const objectOf = (value: Json | undefined): JsonObject => (typeof value === "object" && value !== null && !Array.isArray(value) ? value : {});
