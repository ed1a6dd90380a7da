import type { ResponseTokens, StepTokens } from "../types.ts";

/**
 * Tokens of a turn as a trajectory keeps them, within `maxSeqLen` tokens of context: a prompt that fills it leaves no
 * room for an answer, an answer that reaches over its end is cut there. Null when the server gave none.
 */
export function stepTokens(tokens: ResponseTokens | null, maxSeqLen: number | null): StepTokens | null {
  if (tokens === null) return null;
  const { prompt_ids, prompt_mask, completion_ids, completion_mask, completion_logprobs } = tokens;
  const room = maxSeqLen === null ? Number.POSITIVE_INFINITY : maxSeqLen - prompt_ids.length;
  const overlong = room < 0;
  const kept = Math.max(0, room);
  return {
    prompt_ids: overlong ? prompt_ids.slice(0, maxSeqLen ?? undefined) : prompt_ids,
    prompt_mask: overlong ? prompt_mask.slice(0, maxSeqLen ?? undefined) : prompt_mask,
    completion_ids: completion_ids.slice(0, kept),
    completion_mask: completion_mask.slice(0, kept),
    completion_logprobs: completion_logprobs.slice(0, kept),
    overlong_prompt: overlong,
    is_truncated: overlong || completion_ids.length > kept,
    routed_experts: null,
  };
}
