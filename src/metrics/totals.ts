import { addNano, type NanoCost } from "../prices/nano-cost.ts";
import { addCacheUsage, type CacheUsage, isNothing, NO_CALLS } from "./cache-usage.ts";
import type { JudgeUsage, PricedRequests, RolloutSummary } from "./rollout-summary.ts";

/**
 * Running sums over the finished rollouts of a run: what a live view shows without a scan. They can be subtracted from, since
 * a repair replaces a unit's rows; the final averages never come from here (aggregates.ts), so rounding left behind by a
 * subtraction shows in no result. A sum whose count is back at zero is exactly as it was before the first addition.
 */
export interface Totals {
  readonly rollouts: number;
  readonly reward_sum: number;
  readonly reward_sum_without_errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly truncated: number;
  /** What the model's answers cost, of the rollouts of which that is known; absent while it is of none. */
  readonly costs?: PricedRollouts;
  /** Absent while no judge was asked. */
  readonly judges?: JudgeUsage;
  /** Absent while no call was answered with the cache on. */
  readonly cache?: CacheUsage;
  /** Rollouts with another prompt than the first of their example; absent while there is none. */
  readonly other_prompts?: number;
  /** Rollouts by error code; no zeros. */
  readonly errors: Readonly<Record<string, number>>;
  readonly metrics: Readonly<Record<string, { readonly sum: number; readonly count: number }>>;
  /** Rollouts that carry the digest of their code, by digest; no zeros, absent where none does. */
  readonly marked?: Readonly<Record<string, number>>;
}

export interface PricedRollouts extends NanoCost {
  readonly rollouts: number;
}

export const emptyTotals = (): Totals => ({
  rollouts: 0,
  reward_sum: 0,
  reward_sum_without_errors: 0,
  input_tokens: 0,
  output_tokens: 0,
  truncated: 0,
  errors: {},
  metrics: {},
});

/** Totals with one more unit; the argument is not changed. */
export const addUnit = (totals: Totals, rollouts: readonly RolloutSummary[]): Totals => shifted(totals, rollouts, 1);

/** Totals without a unit that was added before, with the same rollouts. */
export const removeUnit = (totals: Totals, rollouts: readonly RolloutSummary[]): Totals => shifted(totals, rollouts, -1);

export const erroredRollouts = (totals: Pick<Totals, "errors">): number => Object.values(totals.errors).reduce((sum, count) => sum + count, 0);

/** Mean reward over all rows, errored ones included; null where there is no other: then nothing was scored. */
export const averageReward = (totals: Totals): number | null => (totals.rollouts === erroredRollouts(totals) ? null : totals.reward_sum / totals.rollouts);

function shifted(totals: Totals, rollouts: readonly RolloutSummary[], sign: 1 | -1): Totals {
  const errors = new Map(Object.entries(totals.errors));
  const metrics = new Map(Object.entries(totals.metrics));
  const marked = new Map(Object.entries(totals.marked ?? {}));
  let { rollouts: count, reward_sum, reward_sum_without_errors, input_tokens, output_tokens, truncated, costs, judges, cache, other_prompts = 0 } = totals;
  for (const rollout of rollouts) {
    count += sign;
    reward_sum += sign * rollout.reward;
    input_tokens += sign * rollout.input_tokens;
    output_tokens += sign * rollout.output_tokens;
    if (rollout.truncated) truncated += sign;
    if (rollout.env_digest !== undefined) setOrDrop(marked, rollout.env_digest, (marked.get(rollout.env_digest) ?? 0) + sign);
    if (rollout.other_prompt === true) other_prompts += sign;
    if (rollout.cost !== undefined) costs = addCost(costs, rollout.cost, sign);
    if (rollout.judges !== undefined) judges = addJudges(judges, rollout.judges, sign);
    if (rollout.cache !== undefined) cache = addCacheUsage(cache, rollout.cache, sign);
    if (rollout.error === null) reward_sum_without_errors += sign * rollout.reward;
    else setOrDrop(errors, rollout.error, (errors.get(rollout.error) ?? 0) + sign);
    for (const [name, value] of Object.entries(rollout.metrics)) {
      const old = metrics.get(name) ?? { sum: 0, count: 0 };
      if (old.count + sign === 0) metrics.delete(name);
      else metrics.set(name, { sum: old.sum + sign * value, count: old.count + sign });
    }
  }
  const failed = [...errors.values()].reduce((sum, n) => sum + n, 0);
  return {
    rollouts: count,
    reward_sum: count === 0 ? 0 : reward_sum,
    reward_sum_without_errors: count === failed ? 0 : reward_sum_without_errors,
    input_tokens,
    output_tokens,
    truncated,
    ...(costs === undefined || costs.rollouts === 0 ? {} : { costs }),
    ...(judges === undefined || judges.requests === 0 ? {} : { judges }),
    ...(cache === undefined || (isNothing(cache) && isNothing(cache.judges ?? NO_CALLS)) ? {} : { cache }),
    ...(other_prompts === 0 ? {} : { other_prompts }),
    errors: Object.fromEntries(errors),
    metrics: Object.fromEntries(metrics),
    ...(marked.size === 0 ? {} : { marked: Object.fromEntries(marked) }),
  };
}

/** One usage more, or (`sign` -1) less. */
export function addJudges(sum: JudgeUsage | undefined, { requests, input_tokens, output_tokens, priced }: JudgeUsage, sign: 1 | -1 = 1): JudgeUsage {
  const inAll = priced === undefined ? sum?.priced : addPriced(sum?.priced, priced, sign);
  return {
    requests: (sum?.requests ?? 0) + sign * requests,
    input_tokens: (sum?.input_tokens ?? 0) + sign * input_tokens,
    output_tokens: (sum?.output_tokens ?? 0) + sign * output_tokens,
    ...(inAll === undefined || inAll.requests === 0 ? {} : { priced: inAll }),
  };
}

const addPriced = (sum: PricedRequests | undefined, more: PricedRequests, sign: 1 | -1): PricedRequests => ({
  requests: (sum?.requests ?? 0) + sign * more.requests,
  ...addNano(sum, more, sign),
});

/** The cost of one rollout more, or (`sign` -1) less. */
export const addCost = (sum: PricedRollouts | undefined, cost: NanoCost, sign: 1 | -1 = 1): PricedRollouts => ({
  rollouts: (sum?.rollouts ?? 0) + sign,
  ...addNano(sum, cost, sign),
});

function setOrDrop(counts: Map<string, number>, key: string, count: number): void {
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
