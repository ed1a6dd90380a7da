import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RewardRange, RewardSpread, type RewardUncertainty, sumOfRanges } from "../../../src/metrics/interval.ts";
import { studentTQuantile } from "../../../src/metrics/distributions/student-t.ts";
import { wilsonInterval } from "../../../src/metrics/wilson.ts";

function uncertaintyOf(examples: readonly (readonly number[])[], range?: RewardRange): RewardUncertainty {
  const spread = new RewardSpread(range);
  for (const rewards of examples) spread.addExample(rewards);
  return spread.result();
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe("the interval of the mean reward", () => {
  it("has no end that is no number, whatever finite numbers it is of", () => {
    const spread = new RewardSpread(null);
    for (const value of [-1e300, 1e300, 0]) spread.addExample([value]);
    expect(spread.estimate()).toMatchObject({ n: 3, stderr: null, ci95: null });
    expect(uncertaintyOf([[-1e300], [1e300], [0]])).toMatchObject({ reward_stderr: null, reward_ci95: [-1e300, 1e300] });
  });

  it("is Student's t over example means", () => {
    // Means 0.5, 1, 0; s = 0.5, standard error 0.5 / sqrt(3).
    const { n_clusters, reward_stderr, reward_ci95 } = uncertaintyOf(
      [
        [0, 1],
        [1, 1],
        [0, 0],
      ],
      [-2, 3],
    );
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
      const { reward_ci95, reward_stderr } = uncertaintyOf(examples, [-2, 2]);
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
    ["rewards that are all 2", times(5, [2])],
  ])("is unknown for %s: zero width would claim certainty", (_, examples) => {
    expect(uncertaintyOf(examples)).toMatchObject({ reward_stderr: null, reward_ci95: null });
  });

  it("takes attempts that all pass, or all fail, for one observation per example", () => {
    expect(uncertaintyOf(times(6, [1, 1, 1]))).toEqual({ n_clusters: 6, reward_stderr: null, reward_ci95: wilsonInterval(6, 6) });
    expect(uncertaintyOf(times(6, [0, 0, 0]))).toEqual({ n_clusters: 6, reward_stderr: null, reward_ci95: wilsonInterval(0, 6) });
  });

  it("takes pass rates that are all equal for one observation per example too", () => {
    expect(uncertaintyOf(times(5, [1, 0]))).toEqual({ n_clusters: 5, reward_stderr: null, reward_ci95: wilsonInterval(2.5, 5) });
  });

  it("stays within 0 and 1 for rewards that pass or fail, attempts of an example differing", () => {
    const { reward_ci95 } = uncertaintyOf([...times(9, [1, 1, 1, 1]), [1, 1, 0, 0]]);
    expect(reward_ci95?.[0]).toBeCloseTo(0.95 - studentTQuantile(0.975, 9) * 0.05, 12);
    expect(reward_ci95?.[1]).toBe(1);
    expect(uncertaintyOf([...times(9, [0, 0]), [1, 0]]).reward_ci95?.[0]).toBe(0);
  });

  it("stays within a range that is declared, and within 0 and 1 where none is", () => {
    const graded = [[0.9], [1], [0.95], [0.2]];
    expect(uncertaintyOf(graded).reward_ci95?.[1]).toBe(1);
    expect(uncertaintyOf(graded, [0, 1.2]).reward_ci95?.[1]).toBe(1.2);
    expect(uncertaintyOf(graded, [-1, 2]).reward_ci95?.[1]).toBeGreaterThan(1.2);
  });

  it("is widened by rewards outside of the range, and goes no further than they do", () => {
    expect(uncertaintyOf([[1.2], [1.2], [1.2], [0]]).reward_ci95?.[1]).toBe(1.2);
    expect(uncertaintyOf([[-0.5], [-0.5], [-0.5], [1]]).reward_ci95?.[0]).toBe(-0.5);
  });

  it("is Wilson's between the ends of any range", () => {
    const [low, high] = wilsonInterval(3, 10);
    const { reward_ci95 } = uncertaintyOf([...times(3, [2]), ...times(7, [-1])], [-1, 2]);
    expect(reward_ci95?.[0]).toBeCloseTo(-1 + 3 * low, 12);
    expect(reward_ci95?.[1]).toBeCloseTo(-1 + 3 * high, 12);
    expect(uncertaintyOf(times(6, [-1]), [-1, 2]).reward_ci95?.[0]).toBe(-1);
    // 0 is no end of this range: nothing is known of the spread.
    expect(uncertaintyOf(times(6, [0]), [-1, 2]).reward_ci95).toBeNull();
  });

  it("refuses what is no range, and to be merged with one of another", () => {
    expect(() => new RewardSpread([1, 0])).toThrow(RangeError);
    expect(() => new RewardSpread([0, Number.NaN])).toThrow(RangeError);
    expect(() => new RewardSpread([0, 2]).merge(new RewardSpread())).toThrow(RangeError);
    expect(
      sumOfRanges([
        [0, 0.7],
        [0, 0.2],
        [-0.5, 0],
        [0, 0.1],
      ]),
    ).toEqual([-0.5, 1]);
  });

  it("never has zero width, holds the mean, and never leaves the possible", () => {
    const reward = fc.oneof(fc.constantFrom(0, 1, 0.5), fc.double({ min: -3, max: 3, noNaN: true }));
    fc.assert(
      fc.property(
        fc.array(fc.array(reward, { minLength: 1, maxLength: 4 }), { maxLength: 12 }),
        fc.constantFrom<RewardRange>([0, 1], [-3, 3], [0, 0.5]),
        (examples, range) => {
          const { n_clusters, reward_ci95, reward_stderr } = uncertaintyOf(examples, range);
          expect(n_clusters).toBe(examples.length);
          expect(reward_stderr === null || reward_stderr > 0).toBe(true);
          if (reward_ci95 === null) return;
          const mean =
            examples.map((rewards) => rewards.reduce((sum, value) => sum + value, 0) / rewards.length).reduce((sum, value) => sum + value, 0) / examples.length;
          expect(reward_ci95[0]).toBeLessThan(reward_ci95[1]);
          // Rewards that are all 0 or 1 pass or fail, whatever the range.
          const seen = [...examples.flat(), ...range, 1];
          expect(reward_ci95[0]).toBeGreaterThanOrEqual(Math.min(...seen));
          expect(reward_ci95[1]).toBeLessThanOrEqual(Math.max(...seen) + 1e-12);
          expect(reward_ci95[0]).toBeLessThanOrEqual(mean + 1e-9);
          expect(reward_ci95[1]).toBeGreaterThanOrEqual(mean - 1e-9);
        },
      ),
    );
  });
});
