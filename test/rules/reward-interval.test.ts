import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RewardSpread, type RewardUncertainty } from "../../src/metrics/interval.ts";
import { studentTQuantile } from "../../src/metrics/student-t.ts";
import { wilsonInterval } from "../../src/metrics/wilson.ts";

function uncertaintyOf(examples: readonly (readonly number[])[]): RewardUncertainty {
  const spread = new RewardSpread();
  for (const rewards of examples) spread.addExample(rewards);
  return spread.result();
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe("the interval of the mean reward", () => {
  it("is Student's t over example means", () => {
    // Means 0.5, 1, 0; s = 0.5, standard error 0.5 / sqrt(3).
    const { n_clusters, reward_stderr, reward_ci95 } = uncertaintyOf([
      [0, 1],
      [1, 1],
      [0, 0],
    ]);
    expect(n_clusters).toBe(3);
    expect(reward_stderr).toBeCloseTo(0.5 / Math.sqrt(3), 14);
    expect(reward_ci95?.[0]).toBeCloseTo(0.5 - (4.3026527297 * 0.5) / Math.sqrt(3), 9);
    expect(reward_ci95?.[1]).toBeCloseTo(0.5 + (4.3026527297 * 0.5) / Math.sqrt(3), 9);
  });

  it("does not shrink when every attempt is repeated: attempts at one example are not independent", () => {
    const examples = [[0.2], [0.9], [0.4], [1.3]];
    const once = uncertaintyOf(examples);
    const often = uncertaintyOf(examples.map(([reward]) => times(10, reward ?? 0)));
    expect(often.reward_stderr).toBeCloseTo(once.reward_stderr ?? 0, 12);
    expect(often.reward_ci95?.[0]).toBeCloseTo(once.reward_ci95?.[0] ?? 0, 12);
  });

  it("is Wilson's for single rollouts that pass or fail", () => {
    const { reward_stderr, reward_ci95 } = uncertaintyOf([...times(63, [1]), ...times(37, [0])]);
    expect(reward_ci95).toEqual(wilsonInterval(63, 100));
    expect(reward_stderr).toBeCloseTo(Math.sqrt((0.63 * 0.37) / 99), 12);
  });

  it("is Student's as soon as one reward is graded or one example has two rollouts", () => {
    const t = studentTQuantile(0.975, 2);
    for (const examples of [
      [[1], [0], [0.5]],
      [
        [1, 1],
        [0, 0],
        [1, 0],
      ],
    ]) {
      const { reward_ci95, reward_stderr } = uncertaintyOf(examples);
      expect(reward_ci95?.[0]).toBeCloseTo(0.5 - t * (reward_stderr ?? 0), 12);
    }
  });

  it.each([
    ["no example", []],
    ["one example", [[1, 0, 1]]],
    ["one example and one without rollouts", [[1, 0, 1], []]],
  ])("is unknown with %s", (_, examples) => {
    expect(uncertaintyOf(examples)).toMatchObject({ reward_stderr: null, reward_ci95: null });
  });

  it.each([
    ["graded rewards that are all equal", times(5, [0.3])],
    [
      "graded rewards that are equal but for rounding",
      [
        [0.1, 0.2],
        [0.15, 0.15],
        [0.3, 0],
      ],
    ],
    ["pass rates that are all equal", times(5, [1, 0])],
    ["rewards that are all 2", times(5, [2])],
  ])("is unknown for %s: zero width would claim certainty", (_, examples) => {
    expect(uncertaintyOf(examples)).toMatchObject({ reward_stderr: null, reward_ci95: null });
  });

  it("takes attempts that all pass, or all fail, for one observation per example", () => {
    expect(uncertaintyOf(times(6, [1, 1, 1]))).toEqual({ n_clusters: 6, reward_stderr: null, reward_ci95: wilsonInterval(6, 6) });
    expect(uncertaintyOf(times(6, [0, 0, 0]))).toEqual({ n_clusters: 6, reward_stderr: null, reward_ci95: wilsonInterval(0, 6) });
  });

  it("never has zero width, and holds the mean", () => {
    const reward = fc.oneof(fc.constantFrom(0, 1, 0.5), fc.double({ min: -3, max: 3, noNaN: true }));
    fc.assert(
      fc.property(fc.array(fc.array(reward, { minLength: 1, maxLength: 4 }), { maxLength: 12 }), (examples) => {
        const { n_clusters, reward_ci95, reward_stderr } = uncertaintyOf(examples);
        expect(n_clusters).toBe(examples.length);
        expect(reward_stderr === null || reward_stderr > 0).toBe(true);
        if (reward_ci95 === null) return;
        const mean =
          examples.map((rewards) => rewards.reduce((sum, value) => sum + value, 0) / rewards.length).reduce((sum, value) => sum + value, 0) / examples.length;
        expect(reward_ci95[0]).toBeLessThan(reward_ci95[1]);
        expect(reward_ci95[0]).toBeLessThanOrEqual(mean + 1e-9);
        expect(reward_ci95[1]).toBeGreaterThanOrEqual(mean - 1e-9);
      }),
    );
  });
});
