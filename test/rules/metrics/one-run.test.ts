import { describe, expect, it } from "vitest";
import { Aggregator } from "../../../src/metrics/aggregates.ts";
import { Breakdown } from "../../../src/metrics/one-run/breakdown.ts";
import { drawBinomial } from "../../../src/metrics/one-run/binomial-draws.ts";
import { ClusteredMean } from "../../../src/metrics/one-run/clustered-mean.ts";
import { errorBounds, leadsWithRange } from "../../../src/metrics/one-run/error-bounds.ts";
import { MISSING, valueUnder } from "../../../src/metrics/one-run/row-key.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { wilsonInterval } from "../../../src/metrics/wilson.ts";
import { PlainReport } from "../../../src/report/plain-report.ts";
import { seededRandom } from "../../../src/seeded-random.ts";

const scored = (reward: number, metrics: Readonly<Record<string, number>> = {}): RolloutSummary => ({
  reward,
  error: null,
  input_tokens: 0,
  output_tokens: 0,
  truncated: false,
  metrics,
});

describe("examples that share something", () => {
  it("count as one observation: the standard error is that of the groups", () => {
    const mean = new ClusteredMean([0, 1]);
    // Two passages of three questions each: sums of 3 and 0, m = 0.5.
    for (const [value, passage] of [
      [1, "a"],
      [1, "a"],
      [1, "a"],
      [0, "b"],
      [0, "b"],
      [0, "b"],
    ] as const)
      mean.addExample([value], passage);
    const { n, stderr, ci95 } = mean.estimate();
    expect(n).toBe(2);
    expect(stderr).toBeCloseTo(Math.sqrt(2 * (1.5 ** 2 + 1.5 ** 2)) / 6, 12);
    expect(ci95).toEqual([0, 1]);
  });

  it("that share nothing give the interval over examples", () => {
    const rewards = [0.2, 0.5, 0.9, 0.4];
    const alone = new Aggregator({ rolloutsPerExample: 1, passThreshold: 0.5 });
    const clustered = new Aggregator({ rolloutsPerExample: 1, passThreshold: 0.5, clustered: true });
    rewards.forEach((reward, i) => {
      alone.addUnit([scored(reward)]);
      clustered.addUnit([scored(reward)], String(i));
    });
    expect(clustered.result().reward_stderr).toBeCloseTo(alone.result().reward_stderr ?? 0, 12);
    expect(clustered.result().reward_ci95?.[0]).toBeCloseTo(alone.result().reward_ci95?.[0] ?? 0, 12);
  });

  it("that all pass have Wilson's interval over groups, and none for a count", () => {
    const all = new ClusteredMean(null);
    const counts = new ClusteredMean(null, true);
    for (const passage of ["a", "a", "b", "c"]) for (const mean of [all, counts]) mean.addExample([1, 1], passage);
    expect(all.estimate().ci95).toEqual(wilsonInterval(3, 3));
    expect(counts.estimate().ci95).toBeNull();
  });
});

describe("metrics", () => {
  it("have intervals as rewards have: Wilson for single 0 or 1, t for the rest, counts never below 0", () => {
    const aggregator = new Aggregator({ rolloutsPerExample: 1, passThreshold: 0.5 });
    for (let i = 0; i < 100; i++) aggregator.addUnit([scored(0, { judge: i < 88 ? 1 : 0, length: i, num_turns: 1, search_calls: i === 0 ? 60 : 0, safe: 1 })]);
    const { judge, length, num_turns, search_calls, safe } = aggregator.result().metric_estimates;
    expect(judge?.ci95).toEqual(wilsonInterval(88, 100));
    expect(safe?.ci95).toEqual(wilsonInterval(100, 100));
    expect(length?.ci95?.[0]).toBeCloseTo(49.5 - 1.9842169516 * (length?.stderr ?? 0), 8);
    // One turn each is no passed test.
    expect(num_turns?.ci95).toBeNull();
    expect(search_calls?.ci95?.[0]).toBe(0);
  });

  it("that only some rollouts have are averaged over these", () => {
    const aggregator = new Aggregator({ rolloutsPerExample: 2, passThreshold: 0.5 });
    aggregator.addUnit([scored(0, { late: 0.4 }), scored(0)]);
    aggregator.addUnit([scored(0), scored(0)]);
    aggregator.addUnit([scored(0), scored(0, { late: 0.8 })]);
    expect(aggregator.result().metric_estimates.late).toMatchObject({ n: 2, mean: expect.closeTo(0.6, 12) });
  });
});

describe("errors", () => {
  it("are three numbers, and lead the report beyond 5 % only", () => {
    expect(errorBounds({ rollouts: 0, errored: 0, sum: 0 }, [0, 1])).toBeNull();
    const bounds = errorBounds({ rollouts: 10, errored: 2, sum: 4 }, [-1, 1]);
    expect(bounds).toEqual({ answered: 0.5, worst: 0.2, best: 0.6, unresolved: 0.2 });
    expect(leadsWithRange(bounds)).toBe(true);
    expect(leadsWithRange(errorBounds({ rollouts: 20, errored: 1, sum: 4 }, [0, 1]))).toBe(false);
    expect(errorBounds({ rollouts: 2, errored: 2, sum: 0 }, [0, 1])).toEqual({ answered: null, worst: 0, best: 1, unresolved: 1 });
  });
});

describe("what a row has under a key", () => {
  it.each([
    [{ task: "a" }, "task", "a"],
    [{ info: { level: 3 } }, "level", "3"],
    [{ info: '{"level": "hard"}' }, "level", "hard"],
    [{ info: { source: { page: 7 } } }, "source.page", "7"],
    [{ info: { "source.page": 8 } }, "source.page", "8"],
    [{ info: null, level: null }, "level", MISSING],
    [{ info: "no JSON" }, "level", MISSING],
    [{}, "constructor", MISSING],
  ])("%j: %s is %s", (row, key, value) => {
    expect(valueUnder(row, key)).toBe(value);
  });
});

describe("a breakdown", () => {
  it("gives each value its count, mean and interval, and sums up values beyond a thousand", () => {
    const breakdown = new Breakdown();
    for (let i = 0; i < 20; i++) breakdown.addExample(i % 4 === 0 ? "hard" : "easy", [scored(i % 4 === 0 ? 0 : 1)]);
    expect(breakdown.slices().map(({ value, rollouts, reward }) => [value, rollouts, reward.mean, reward.ci95])).toEqual([
      ["easy", 15, 1, wilsonInterval(15, 15)],
      ["hard", 5, 0, wilsonInterval(0, 5)],
    ]);
    for (let i = 0; i < 3_000; i++) breakdown.addExample(`id-${i}`, [scored(1)]);
    expect(breakdown.slices()).toHaveLength(1_001);
    expect(breakdown.slices()[0]).toMatchObject({ value: "(others)", rollouts: 2_002 });
  });

  it("stands in the report, whose intervals are over groups where a key for them is given", () => {
    const report = new PlainReport({
      env_id: "e",
      model: "m",
      base_url: "",
      num_examples: 40,
      rollouts_per_example: 1,
      pass_threshold: 0.5,
      cluster_by: "passage",
      by: "level",
    });
    for (let i = 0; i < 40; i++) report.addRow({ example_id: i, reward: i < 20 ? 1 : 0, info: { passage: i % 3, level: i < 20 ? "easy" : "hard" } });
    const lines = report.lines();
    expect(lines.find((line) => line.startsWith("reward 95% interval"))).toContain("over 3 values of passage");
    expect(lines.slice(lines.indexOf("reward by level:")).slice(0, 4)).toEqual([
      "reward by level:",
      "level  examples  rollouts  errors  reward  95% interval",
      "easy         20        20           1.000  0.439 to 1.000",
      "hard         20        20           0.000  0.000 to 0.561",
    ]);
  });
});

describe("numbers of a seed", () => {
  it("are the same ever after: seeds are recorded", () => {
    const random = seededRandom(20_241_101);
    expect([random(), random(), random()]).toEqual([0.5877628959715366, 0.9898304126691073, 0.7979867469985038]);
  });
});

describe("numbers drawn from the binomial distribution", () => {
  it.each([
    [50, 0.1],
    [50, 0.4],
    [1_000_000, 0.01],
    [200, 0.9],
  ])("of %d attempts at %d have its mean and variance", (n, p) => {
    const random = seededRandom(7);
    const draws = Array.from({ length: 20_000 }, () => drawBinomial(n, p, random));
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    const variance = draws.reduce((sum, draw) => sum + (draw - mean) ** 2, 0) / draws.length;
    expect(Math.abs(mean / (n * p) - 1)).toBeLessThan(0.02);
    expect(Math.abs(variance / (n * p * (1 - p)) - 1)).toBeLessThan(0.05);
    expect(draws.every((draw) => draw >= 0 && draw <= n)).toBe(true);
  });

  it("are certain where the chance is", () => {
    expect([drawBinomial(5, 0, Math.random), drawBinomial(5, 1, Math.random), drawBinomial(0, 0.5, Math.random)]).toEqual([0, 5, 0]);
  });
});
