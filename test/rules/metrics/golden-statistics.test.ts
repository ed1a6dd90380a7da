import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Aggregator } from "../../../src/metrics/aggregates.ts";
import { RewardSpread } from "../../../src/metrics/interval.ts";
import { passAllK, passAtK } from "../../../src/metrics/pass-at-k.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";

/**
 * Numbers that were recomputed from real transcripts by other code, to the digits in which they were printed. Of these runs only how many examples had how many
 * passes is kept here: of four of them their rates leave no other choice; for GPQA and AIME it is one of those that have all of the rates.
 */
interface Golden {
  readonly rollouts: number;
  /** Examples by passes. */
  readonly examples: Readonly<Record<number, number>>;
  readonly mean: number;
  /** Standard error over examples, with n in place of n - 1 as the clustered formula has it. */
  readonly clustered?: number;
  /** With G/(G-1): ours. */
  readonly corrected?: number;
  /** Standard error as if all attempts were independent, which no report here shows. */
  readonly naive?: number;
  readonly passAt?: Readonly<Record<number, number>>;
  readonly passAll?: Readonly<Record<number, number>>;
  readonly digits: number;
}

const GOLDEN: Readonly<Record<string, Golden>> = {
  "tau-bench airline, gpt-4o, 50 x 4": {
    rollouts: 4,
    examples: { 0: 14, 1: 12, 2: 10, 3: 4, 4: 10 },
    mean: 0.42,
    clustered: 0.051691,
    corrected: 0.052216,
    naive: 0.034987,
    passAt: { 2: 0.5667, 3: 0.66, 4: 0.72 },
    passAll: { 1: 0.42, 2: 0.2733, 3: 0.22, 4: 0.2 },
    digits: 4,
  },
  "SimpleQA-verified, gpt-5-mini, 1000 x 3": {
    rollouts: 3,
    examples: { 0: 766, 1: 73, 2: 51, 3: 110 },
    mean: 0.168333,
    clustered: 0.010604,
    naive: 0.006832,
    passAt: { 3: 0.234 },
    passAll: { 3: 0.11 },
    digits: 6,
  },
  "vpct_1, gpt-4.1-mini, 100 x 3": {
    rollouts: 3,
    examples: { 0: 43, 1: 32, 2: 20, 3: 5 },
    mean: 0.29,
    clustered: 0.030057,
    passAt: { 3: 0.57 },
    passAll: { 3: 0.05 },
    digits: 6,
  },
  "LegalBench, gpt-4o-mini, 10 x 5": {
    rollouts: 5,
    examples: { 0: 1, 1: 1, 2: 1, 3: 1, 5: 6 },
    mean: 0.72,
    clustered: 0.117303,
    naive: 0.064143,
    passAt: { 2: 0.8, 5: 0.9 },
    passAll: { 2: 0.64, 5: 0.6 },
    digits: 6,
  },
  "GPQA, gpt-5, 198 x 8": {
    rollouts: 8,
    examples: { 0: 11, 1: 7, 2: 6, 3: 6, 4: 7, 5: 5, 6: 3, 7: 12, 8: 141 },
    mean: 0.833333,
    clustered: 0.022249,
    naive: 0.009367,
    passAt: { 2: 0.880051, 4: 0.917605, 8: 0.944444 },
    passAll: { 2: 0.786616, 4: 0.74798, 8: 0.712121 },
    digits: 6,
  },
  "AIME 2024, gpt-5, 30 x 64": {
    rollouts: 64,
    examples: { 8: 1, 29: 1, 52: 1, 53: 1, 57: 2, 60: 1, 63: 6, 64: 17 },
    mean: 0.928125,
    clustered: 0.033395,
    corrected: 0.033966,
    naive: 0.005896,
    passAt: { 2: 0.961905, 4: 0.977937, 8: 0.989125, 16: 0.997158, 32: 0.999921, 64: 1 },
    passAll: { 2: 0.894345, 4: 0.85201, 8: 0.798199, 16: 0.736496, 32: 0.668923, 64: 0.566667 },
    digits: 6,
  },
  // Of its metadata alone, which are printed to four digits; one of the two sets of counts that have them.
  "polars_env, gpt-5.4-nano, 52 x 3": {
    rollouts: 3,
    examples: { 0: 2, 1: 3, 2: 1, 3: 46 },
    mean: 0.916667,
    passAt: { 1: 0.9167, 2: 0.9423 },
    passAll: { 2: 0.891 },
    digits: 4,
  },
  "AIME 2025, gpt-5, 30 x 64": {
    rollouts: 64,
    examples: { 9: 2, 55: 4, 61: 4, 63: 4, 64: 16 },
    mean: 0.915625,
    clustered: 0.038763,
    passAt: { 2: 0.948313 },
    passAll: { 2: 0.882937, 64: 0.533333 },
    digits: 6,
  },
};

const scored = (reward: number): RolloutSummary => ({ reward, error: null, input_tokens: 0, output_tokens: 0, truncated: false, metrics: { correct: reward } });

/** Units of a run with so many passes each. */
function unitsOf({ rollouts, examples }: Pick<Golden, "rollouts" | "examples">): RolloutSummary[][] {
  return Object.entries(examples).flatMap(([passes, count]) =>
    Array.from({ length: count }, () => Array.from({ length: rollouts }, (_, i) => scored(i < Number(passes) ? 1 : 0))),
  );
}

/** To the digits printed: half a unit of the last one. */
const printed = (digits: number): number => 0.5 * 10 ** -digits * 1.001;

describe.each(Object.entries(GOLDEN))("%s", (_, golden) => {
  const aggregator = new Aggregator({ rolloutsPerExample: golden.rollouts, passThreshold: 0.5 });
  for (const unit of unitsOf(golden)) aggregator.addUnit(unit);
  const result = aggregator.result();
  const n = result.n_clusters;

  it("has the mean and the standard error over examples that were published", () => {
    expect(Math.abs(result.avg_reward - golden.mean)).toBeLessThan(printed(6));
    const stderr = result.reward_stderr ?? 0;
    if (golden.clustered !== undefined) expect(Math.abs(stderr * Math.sqrt((n - 1) / n) - golden.clustered)).toBeLessThan(printed(6));
    if (golden.corrected !== undefined) expect(Math.abs(stderr - golden.corrected)).toBeLessThan(printed(6));
  });

  it("is less sure than every attempt taken for itself would have it", () => {
    const attempts = new RewardSpread([0, 1]);
    for (const unit of unitsOf(golden)) for (const { reward } of unit) attempts.addExample([reward]);
    const naive = attempts.estimate().stderr ?? 0;
    expect(naive).toBeLessThan(result.reward_stderr ?? 0);
    if (golden.naive !== undefined) expect(Math.abs(naive - golden.naive)).toBeLessThan(printed(6));
  });

  it("has the rates that were published, and intervals around them", () => {
    for (const [k, rate] of Object.entries(golden.passAt ?? {}))
      expect(Math.abs(meanRate(golden, Number(k), passAtK) - rate)).toBeLessThan(printed(golden.digits));
    for (const [k, rate] of Object.entries(golden.passAll ?? {}))
      expect(Math.abs(meanRate(golden, Number(k), passAllK) - rate)).toBeLessThan(printed(golden.digits));
    for (const kind of ["pass_at_k", "pass_all_k"] as const)
      for (const [k, rate] of Object.entries(result[kind])) {
        const [low = 2, high = -1] = result[`${kind}_ci95`][k] ?? [];
        expect(low).toBeLessThanOrEqual(rate);
        expect(high).toBeGreaterThanOrEqual(rate);
        expect(high).toBeGreaterThan(low);
      }
  });

  it("gives a metric of the same values the same interval as the reward", () => {
    expect(result.metric_estimates.correct).toEqual({ n, mean: expect.closeTo(result.avg_reward, 12), stderr: result.reward_stderr, ci95: result.reward_ci95 });
  });

  it("is the same in parts that are merged", () => {
    const parts = [0, 1, 2].map((part) => {
      const one = new Aggregator({ rolloutsPerExample: golden.rollouts, passThreshold: 0.5 });
      for (const unit of unitsOf(golden).filter((_unit, i) => i % 3 === part)) one.addUnit(unit);
      return one;
    });
    const [first, ...others] = parts;
    for (const other of others) first?.merge(other);
    const merged = first?.result();
    expect(merged?.pass_at_k_ci95).toEqual(result.pass_at_k_ci95);
    expect(merged?.reward_ci95?.[0]).toBeCloseTo(result.reward_ci95?.[0] ?? 0, 12);
  });
});

function meanRate({ rollouts, examples }: Golden, k: number, rate: (n: number, c: number, k: number) => number): number {
  const all = Object.entries(examples);
  return all.reduce((sum, [passes, count]) => sum + count * rate(rollouts, Number(passes), k), 0) / all.reduce((sum, [, count]) => sum + count, 0);
}

describe("rust_review, kimi-k2-0905, 50 x 3, graded", () => {
  // Rewards that have its mean, its standard error and its rates; its own are not here.
  const groups = [
    [16, [0.23, 0.23, 0.23]],
    [24, [0.6, 0.45, 0.36]],
    [10, [0.718266, 0.718266, 0.718266]],
  ] as const;
  const resultAt = (passThreshold: number) => {
    const aggregator = new Aggregator({ rolloutsPerExample: 3, passThreshold });
    for (const [count, rewards] of groups) for (let i = 0; i < count; i++) aggregator.addUnit(rewards.map(scored));
    return aggregator.result();
  };

  it("has its mean and standard error, and rates by the threshold: none at 1", () => {
    const { avg_reward, reward_stderr } = resultAt(0.5);
    expect(Math.abs(avg_reward - 0.442853)).toBeLessThan(printed(6));
    expect(Math.abs((reward_stderr ?? 0) * Math.sqrt(49 / 50) - 0.024504)).toBeLessThan(printed(6));
    const rates = (threshold: number, rate: (n: number, c: number, k: number) => number): number =>
      groups.reduce((sum, [count, rewards]) => sum + count * rate(3, rewards.filter((reward) => reward >= threshold).length, 3), 0) / 50;
    expect([rates(0.5, passAtK), rates(0.5, passAllK), rates(1, passAtK), rates(1, passAllK)]).toEqual([0.68, 0.2, 0, 0]);
    expect(resultAt(0.5).pass_at_k["1"]).toBeCloseTo((24 / 3 + 10) / 50, 12);
    expect(Object.values(resultAt(1).pass_at_k)).toEqual([0, 0]);
  });
});

describe("the interval of tau-bench's mean", () => {
  it("is that of a bootstrap over examples: standard error 0.0515, 0.32 to 0.52", () => {
    const aggregator = new Aggregator({ rolloutsPerExample: 4, passThreshold: 0.5 });
    for (const unit of unitsOf({ rollouts: 4, examples: { 0: 14, 1: 12, 2: 10, 3: 4, 4: 10 } })) aggregator.addUnit(unit);
    const { pass_at_k_ci95, reward_ci95 } = aggregator.result();
    for (const interval of [pass_at_k_ci95["1"], reward_ci95]) {
      expect(interval?.[0]).toBeCloseTo(0.32, 1.7);
      expect(interval?.[1]).toBeCloseTo(0.52, 1.7);
    }
  });
});

describe("intervals of rates", () => {
  it("never have zero width at 0 or 1, and never leave them", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 4 }), { minLength: 2, maxLength: 40 }), (passes) => {
        const aggregator = new Aggregator({ rolloutsPerExample: 4, passThreshold: 0.5 });
        for (const c of passes) aggregator.addUnit(Array.from({ length: 4 }, (_, i) => scored(i < c ? 1 : 0)));
        const { pass_at_k, pass_all_k, pass_at_k_ci95, pass_all_k_ci95 } = aggregator.result();
        for (const [rates, intervals] of [
          [pass_at_k, pass_at_k_ci95],
          [pass_all_k, pass_all_k_ci95],
        ] as const)
          for (const [k, rate] of Object.entries(rates)) {
            const interval = intervals[k];
            // All examples alike at neither end say nothing of their spread.
            if (interval === null || interval === undefined) expect(rate > 0 && rate < 1 && new Set(passes).size > 0).toBe(true);
            else {
              expect(interval[0]).toBeLessThan(interval[1]);
              expect(interval[0]).toBeGreaterThanOrEqual(0);
              expect(interval[1]).toBeLessThanOrEqual(1 + 1e-12);
            }
          }
      }),
      { numRuns: 60 },
    );
  });
});
