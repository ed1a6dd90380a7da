import type { Usage } from "../../rollouts/types.ts";

/** What each of several texts took of a request's tokens, by their number of prompt tokens; the shares add up to the whole. */
export function shareUsage({ prompt_tokens, completion_tokens }: Usage, weights: readonly number[]): readonly Usage[] {
  const prompts = shares(prompt_tokens, weights);
  const made = shares(
    completion_tokens,
    weights.map(() => 1),
  );
  return weights.map((_, at) => {
    const prompt = prompts[at] ?? 0;
    const completion = made[at] ?? 0;
    return { prompt_tokens: prompt, reasoning_tokens: 0, completion_tokens: completion, total_tokens: prompt + completion };
  });
}

/** `total` in whole numbers, as near to the weights as they come. */
function shares(total: number, weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const even = sum <= 0;
  let before = 0;
  let given = 0;
  return weights.map((weight) => {
    before += even ? 1 : weight;
    const upTo = Math.round((total * before) / (even ? weights.length : sum));
    const share = upTo - given;
    given = upTo;
    return share;
  });
}
