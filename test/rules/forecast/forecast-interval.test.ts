import { describe, expect, it } from "vitest";
import type { RolloutFigures } from "../../../src/forecast/figures.ts";
import { LEAST_EXAMPLES, predictedSum, sumOf } from "../../../src/forecast/predicted-sum.ts";
import { forecastRun } from "../../../src/forecast/run-forecast.ts";
import { seededRandom } from "../../../src/seeded-random.ts";
import { COSTS } from "../../simulation/forecasting/costs.ts";

const RUNS = 400;
const PACE = { concurrent: 32, requests_per_minute: null, tokens_per_minute: null };

/** Shares of runs in which the time is held where that is less than 0.9. */
const LEAST_TIME: Readonly<Record<string, number>> = { "log-normal, very heavy (spread 1.6)": 0.68, "one in ten ten times as dear": 0.75 };

/** One call that cost so much, and took as many seconds. */
const rollout = (cost: number): RolloutFigures => ({
  ...{ calls: 1, input_tokens: 100, output_tokens: Math.round(cost), judge_calls: 0, judge_input_tokens: 0, judge_output_tokens: 0 },
  seconds: cost,
  cost_usd: cost,
  paid_usd: cost,
});

/** Shares of runs in which the interval held, and how far its upper end was above what was real, in half of them and in 95 of 100. */
function played(name: string, pilot: number, total: number, rollouts: number) {
  const draw = COSTS[name];
  if (draw === undefined) throw new RangeError(name);
  const random = seededRandom(pilot * 1000 + total);
  let [held, heldTime] = [0, 0];
  const above: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const examples = Array.from({ length: total }, () => Array.from({ length: rollouts }, () => rollout(draw(random))));
    const forecast = forecastRun({ examples: examples.slice(0, pilot), own: true, total, rollouts, pace: PACE });
    if (forecast === null || forecast.cost_usd === null || forecast.seconds === null) throw new Error("no forecast");
    const real = sumOf(examples.flat().map(({ cost_usd }) => cost_usd ?? 0));
    const took = endOf(examples.slice(pilot).flatMap((each) => each.map(({ seconds }) => seconds ?? 0)));
    if (real >= forecast.cost_usd.low && real <= forecast.cost_usd.high) held += 1;
    if (took >= forecast.seconds.low && took <= forecast.seconds.high) heldTime += 1;
    above.push(forecast.cost_usd.high / real);
  }
  above.sort((a, b) => a - b);
  const at = (share: number): number => above[Math.floor(share * RUNS)] ?? Number.NaN;
  return { held: held / RUNS, heldTime: heldTime / RUNS, half: at(0.5), most: at(0.95) };
}

/** When the last rollout ends, each begun as soon as one of the lanes is free. */
function endOf(seconds: readonly number[]): number {
  const lanes = new Array<number>(Math.min(PACE.concurrent, seconds.length)).fill(0);
  for (const each of seconds) {
    const free = lanes.indexOf(Math.min(...lanes));
    lanes[free] = (lanes[free] ?? 0) + each;
  }
  return Math.max(...lanes);
}

describe.each(Object.keys(COSTS))("a run whose examples cost: %s", (name) => {
  it.each([
    [10, 20, 1],
    [10, 300, 1],
    [10, 100, 3],
    [20, 200, 1],
    [50, 300, 1],
  ])(
    "costs what was forecast after %i of %i examples with %i rollouts in at least 90 of 100 runs, within an interval that says something, and takes the time that was",
    (pilot, total, rollouts) => {
      const { held, heldTime, half, most } = played(name, pilot, total, rollouts);
      expect(held).toBeGreaterThanOrEqual(0.9);
      // Where the longest of those to come decides, the longest so far says little.
      expect(heldTime).toBeGreaterThanOrEqual(LEAST_TIME[name] ?? 0.9);
      // An upper end that says nothing would hold always.
      expect(half).toBeLessThan(pilot === 10 ? 4 : 2.6);
      expect(most).toBeLessThan(name.includes("very heavy") ? 14 : pilot === 10 ? 10 : 6);
    },
  );
});

describe("a sum that is predicted", () => {
  it("has no width where all examples are alike, and holds the sum as it is added up", () => {
    const values = Array.from({ length: 10 }, () => 0.1);
    const { expected, low, high } = predictedSum(values, 7);
    expect(expected).toBeCloseTo(0.7, 12);
    expect(high - low).toBeLessThan(1e-8);
    expect(sumOf(Array.from({ length: 7 }, () => 0.1))).toBeGreaterThanOrEqual(low);
    expect(sumOf(Array.from({ length: 7 }, () => 0.1))).toBeLessThanOrEqual(high);
    expect(predictedSum([3, 3, 3, 3, 3], 4)).toEqual({ expected: 12, low: 12, high: 12 });
    expect(predictedSum([0, 0, 0, 0, 0], 5)).toEqual({ expected: 0, low: 0, high: 0 });
    expect(predictedSum(values, 0)).toEqual({ expected: 0, low: 0, high: 0 });
  });

  it("is never below zero, and refuses fewer examples than say how much they differ", () => {
    expect(predictedSum([0, 0, 0, 0, 100], 3).low).toBeGreaterThan(0);
    expect(() => predictedSum(new Array<number>(LEAST_EXAMPLES - 1).fill(1), 3)).toThrow("at least 5 examples");
  });
});

describe("what a whole run takes", () => {
  const examples = [1, 2, 3, 4, 5, 6].map((cost) => [rollout(cost), rollout(cost)]);

  it("begins with what its own first examples took", () => {
    const forecast = forecastRun({ examples, own: true, total: 12, rollouts: 2, pace: PACE });
    expect(forecast?.cost_usd).toMatchObject({ spent: 42, expected: 84 });
    expect(forecast?.cost_usd?.low).toBeGreaterThan(42);
    expect(forecast?.calls).toMatchObject({ spent: 12, expected: 24 });
    const whole = forecastRun({ examples, own: true, total: 6, rollouts: 2, pace: PACE });
    expect(whole?.cost_usd).toEqual({ spent: 42, expected: 42, low: 42, high: 42 });
    expect(whole?.seconds).toEqual({ expected: 0, low: 0, high: 0 });
  });

  it("has nothing spent by runs before it, whose examples had another number of rollouts", () => {
    const forecast = forecastRun({ examples, own: false, total: 12, rollouts: 4, pace: PACE });
    expect(forecast?.cost_usd).toMatchObject({ spent: 0, expected: 168 });
    expect(forecast?.calls.expected).toBe(48);
  });

  it("costs nobody knows what where the price of one rollout is not known, and is not said from too few examples", () => {
    const unpriced = [...examples.slice(1), [rollout(1), { ...rollout(1), cost_usd: null }]];
    expect(forecastRun({ examples: unpriced, own: true, total: 12, rollouts: 2, pace: PACE })).toMatchObject({ cost_usd: null, calls: { expected: 24 } });
    expect(forecastRun({ examples: examples.slice(2), own: true, total: 12, rollouts: 2, pace: PACE })).toBe(null);
  });

  it("counts as spent what was paid, and the others as if all were sent, where a cache answered some", () => {
    const cached = examples.map((each) => each.map((one) => ({ ...one, paid_usd: 0 })));
    expect(forecastRun({ examples: cached, own: true, total: 12, rollouts: 2, pace: PACE })?.cost_usd).toMatchObject({ spent: 0, expected: 42 });
  });

  it("takes nobody knows how long where a provider answers when it likes, or did in the runs that it is from", () => {
    const batched = examples.map((each) => each.map((one) => ({ ...one, seconds: null })));
    expect(forecastRun({ examples: batched, own: false, total: 12, rollouts: 2, pace: PACE })).toMatchObject({ seconds: null, calls: { expected: 24 } });
    const priced = forecastRun({ examples, own: false, total: 12, rollouts: 2, pace: null });
    expect(priced).toMatchObject({
      seconds: null,
      cost_usd: { expected: forecastRun({ examples, own: false, total: 12, rollouts: 2, pace: PACE })?.cost_usd?.expected },
    });
    expect(forecastRun({ examples, own: true, total: examples.length, rollouts: 2, pace: null })).toMatchObject({ seconds: { expected: 0, high: 0 } });
  });

  it("is done no sooner than the limits of its endpoint allow", () => {
    const slow = forecastRun({ examples, own: true, total: 606, rollouts: 2, pace: { ...PACE, requests_per_minute: 60 } });
    // 1,200 calls are to come, of which one a second is taken.
    expect(slow?.seconds?.expected).toBe(1200);
    const tokens = forecastRun({ examples, own: true, total: 606, rollouts: 2, pace: { ...PACE, tokens_per_minute: 1000 } });
    expect(tokens?.seconds?.low).toBeGreaterThan(7000);
    const alone = forecastRun({ examples, own: true, total: 606, rollouts: 2, pace: { ...PACE, concurrent: 1 } });
    expect(alone?.seconds?.expected).toBeGreaterThanOrEqual(600 * 7);
  });
});
