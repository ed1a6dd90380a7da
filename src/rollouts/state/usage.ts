import type { State, TokenUsage, TrajectoryStep, Usage } from "../types.ts";

/** Adds one call's usage to the running sums; null stays null while no call reported any. */
export function addUsage(sums: TokenUsage | null, usage: Usage | null): TokenUsage | null {
  if (usage === null) return sums;
  return {
    input_tokens: (sums?.input_tokens ?? 0) + usage.prompt_tokens,
    output_tokens: (sums?.output_tokens ?? 0) + usage.completion_tokens,
  };
}

/**
 * Adds tokens to a rollout's sums that no model call reported: of a model that the environment called by itself. Throws a `RangeError` for
 * what is no number from 0.
 */
export function incrementUsage(state: State, { input_tokens = 0, output_tokens = 0 }: Partial<TokenUsage>): void {
  for (const tokens of [input_tokens, output_tokens]) if (!(tokens >= 0 && Number.isFinite(tokens))) throw new RangeError(`usage grows by ${tokens} tokens`);
  state.usage = { input_tokens: (state.usage?.input_tokens ?? 0) + input_tokens, output_tokens: (state.usage?.output_tokens ?? 0) + output_tokens };
}

/**
 * Tokens of the conversation as it stands at the end: everything the model wrote, and everything else it had read. Fixture of
 * the reference: calls of (100, 20), (150, 25), (200, 30) prompt and completion tokens give 155 in and 75 out.
 */
export function finalTokens(trajectory: readonly TrajectoryStep[]): { final_output_tokens: number; final_input_tokens: number } {
  let written = 0;
  let last = 0;
  for (const { response } of trajectory) {
    if (response.usage === null) continue;
    written += response.usage.completion_tokens;
    last = response.usage.prompt_tokens + response.usage.completion_tokens;
  }
  return { final_output_tokens: written, final_input_tokens: Math.max(0, last - written) };
}
