import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ROLLOUT_ERRORS, type RolloutErrorCode } from "../../../src/errors/codes.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { addUnit, averageReward, emptyTotals, erroredRollouts, removeUnit, type Totals } from "../../../src/metrics/totals.ts";

// Eighths add up without rounding, so that equality is exact in any order.
const eighth = fc.integer({ min: -80, max: 80 }).map((n) => n / 8);
const tokens = fc.nat({ max: 1000 });
/** Up to a thousand dollars. */
const nano = fc.nat({ max: 2 ** 40 });
const plain = fc.record({
  reward: eighth,
  error: fc.option(fc.constantFrom(...(Object.keys(ROLLOUT_ERRORS) as RolloutErrorCode[]))),
  input_tokens: fc.nat({ max: 1000 }),
  output_tokens: fc.nat({ max: 1000 }),
  truncated: fc.boolean(),
  metrics: fc.dictionary(fc.constantFrom("a", "b", "c", "__proto__"), eighth, { noNullPrototype: true }),
});
const more = fc.record(
  {
    cost: fc.record({ input_nano: nano, output_nano: nano }),
    judges: fc.record(
      {
        requests: fc.integer({ min: 1, max: 9 }),
        input_tokens: tokens,
        output_tokens: tokens,
        priced: fc.record({ requests: fc.integer({ min: 1, max: 9 }), input_nano: nano, output_nano: nano }),
      },
      { requiredKeys: ["requests", "input_tokens", "output_tokens"] },
    ),
    other_prompt: fc.constant(true as const),
    cache: fc.record({ calls: fc.integer({ min: 1, max: 9 }), cached: tokens, input_tokens: tokens, output_tokens: tokens }),
  },
  { requiredKeys: [] },
);
const rollout: fc.Arbitrary<RolloutSummary> = fc.tuple(plain, more).map(([one, other]) => ({ ...one, ...other }) as RolloutSummary);
const unit = fc.array(rollout, { minLength: 1, maxLength: 4 });
const totalsOf = (units: readonly (readonly RolloutSummary[])[]): Totals => units.reduce(addUnit, emptyTotals());

describe("running totals", () => {
  it("begin empty", () => {
    const nothing: Totals = {
      rollouts: 0,
      reward_sum: 0,
      reward_sum_without_errors: 0,
      input_tokens: 0,
      output_tokens: 0,
      truncated: 0,
      errors: {},
      metrics: {},
    };
    expect(emptyTotals()).toEqual(nothing);
  });

  it("add up what the rollouts say", () => {
    const ok: RolloutSummary = { reward: 1, error: null, input_tokens: 10, output_tokens: 4, truncated: true, metrics: { correct: 1, turns: 2 } };
    const bad: RolloutSummary = { reward: 0.5, error: "timeout", input_tokens: 7, output_tokens: 0, truncated: false, metrics: { correct: 0 } };
    expect(totalsOf([[ok, bad], [bad]])).toEqual({
      rollouts: 3,
      reward_sum: 2,
      reward_sum_without_errors: 1,
      input_tokens: 24,
      output_tokens: 4,
      truncated: 1,
      errors: { timeout: 2 },
      metrics: { correct: { sum: 1, count: 3 }, turns: { sum: 2, count: 1 } },
    });
    expect(averageReward(totalsOf([[ok, bad], [bad]]))).toBe(2 / 3);
    const lost: RolloutSummary = { ...bad, error: "connection_failed" };
    expect([averageReward(totalsOf([[lost], [lost]])), averageReward(totalsOf([]))]).toEqual([null, null]);
    expect(erroredRollouts(totalsOf([[ok, bad], [bad]]))).toBe(2);
    expect(averageReward(emptyTotals())).toBeNull();
  });

  it("after units were taken out again, are those of the units that stayed", () => {
    fc.assert(
      fc.property(fc.array(unit), fc.array(unit), (staying, leaving) => {
        const all = totalsOf([...staying, ...leaving]);
        expect(leaving.reduce(removeUnit, all)).toEqual(totalsOf(staying));
      }),
    );
  });

  it("leave no rounding behind when the last rollout of a kind goes", () => {
    const tenth = (reward: number): RolloutSummary[] => [{ reward, error: null, input_tokens: 0, output_tokens: 0, truncated: false, metrics: { m: reward } }];
    const totals = removeUnit(removeUnit(totalsOf([tenth(0.1), tenth(0.2)]), tenth(0.1)), tenth(0.2));
    expect(totals).toEqual(emptyTotals());
  });

  it("of a run of before, whose costs nobody knows, say of how many rollouts they are known", () => {
    const old: RolloutSummary = { reward: 1, error: null, input_tokens: 10, output_tokens: 4, truncated: false, metrics: {} };
    // As a version without costs has stored them.
    const stored = JSON.parse(JSON.stringify(totalsOf([[old, old]]))) as Totals;
    expect(stored).not.toHaveProperty("costs");
    const priced = { ...old, cost: { input_nano: 3, output_nano: 5 } };
    const grown = addUnit(stored, [priced]);
    expect([grown.rollouts, grown.costs]).toEqual([3, { rollouts: 1, input_nano: 3, output_nano: 5 }]);
    expect(removeUnit(grown, [priced])).toEqual(stored);
  });

  it("do not change what they were made from", () => {
    fc.assert(
      fc.property(unit, unit, (first, second) => {
        const before = totalsOf([first]);
        const copy = structuredClone(before);
        addUnit(before, second);
        removeUnit(before, first);
        expect(before).toEqual(copy);
      }),
    );
  });
});
