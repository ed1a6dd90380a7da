import type { PricedUsage } from "../../prices/price.ts";
import type { State, TokenUsage, TrajectoryStep, Usage } from "../types.ts";

/** Tokens of an answer as they are billed. */
export const billedOf = ({ prompt_tokens, completion_tokens, billed }: Usage): PricedUsage =>
  billed ?? { input_tokens: prompt_tokens, output_tokens: completion_tokens };

/** Tokens of a rollout as they are billed by who serves the model under evaluation. */
export const billedInAll = ({ input_tokens, output_tokens, billed }: TokenUsage): PricedUsage => billed ?? { input_tokens, output_tokens };

/**
 * Adds one call's usage to the running sums; null stays null while no call reported any. `isBilled`: false for an answer that the model under evaluation
 * was not asked for: out of the cache, or another model's.
 */
export function addUsage(sums: TokenUsage | null, usage: Usage | null, isBilled = true): TokenUsage | null {
  if (usage === null) return sums;
  const before = sums ?? NOTHING;
  const plain = { input_tokens: before.input_tokens + usage.prompt_tokens, output_tokens: before.output_tokens + usage.completion_tokens };
  return withBilled(plain, isBilled ? addBilled(billedInAll(before), billedOf(usage)) : billedInAll(before));
}

const NOTHING: TokenUsage = { input_tokens: 0, output_tokens: 0 };

function withBilled(plain: { readonly input_tokens: number; readonly output_tokens: number }, billed: PricedUsage): TokenUsage {
  const { input_tokens, output_tokens, ...parts } = billed;
  const same = input_tokens === plain.input_tokens && output_tokens === plain.output_tokens && Object.keys(parts).length === 0;
  return same ? plain : { ...plain, billed };
}

function addBilled(sum: PricedUsage, more: PricedUsage): PricedUsage {
  const parts = (["cached_input_tokens", "cache_write_tokens", "long_cache_write_tokens"] as const).flatMap((name) => {
    const tokens = (sum[name] ?? 0) + (more[name] ?? 0);
    return tokens === 0 ? [] : [[name, tokens] as const];
  });
  return { input_tokens: sum.input_tokens + more.input_tokens, output_tokens: sum.output_tokens + more.output_tokens, ...Object.fromEntries(parts) };
}

/**
 * Adds tokens to a rollout's sums that no model call reported: of a model that the environment called by itself. Throws a `RangeError` for
 * what is no number from 0.
 */
export function incrementUsage(state: State, { input_tokens = 0, output_tokens = 0 }: Partial<TokenUsage>): void {
  for (const tokens of [input_tokens, output_tokens]) if (!(tokens >= 0 && Number.isFinite(tokens))) throw new RangeError(`usage grows by ${tokens} tokens`);
  const before = state.usage ?? NOTHING;
  const plain = { input_tokens: before.input_tokens + input_tokens, output_tokens: before.output_tokens + output_tokens };
  state.usage = withBilled(plain, addBilled(billedInAll(before), { input_tokens, output_tokens }));
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
