import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Claim, fill, type WholeClaim, wholeParts } from "../../../durable-objects/limiter/allocation.ts";

const claim = (weight: number, most: number, uses: readonly number[] = [1]): Claim => ({ weight, most, uses });
const whole = (most: number, owed = 0, had = 0): WholeClaim => ({ weight: 1, most, uses: [1], owed, had });

describe("what is shared by weights", () => {
  it("is divided evenly, and what one has no use for goes to the others", () => {
    expect(fill([claim(1, 100), claim(1, 100), claim(1, 1)], [10]).amounts).toEqual([4.5, 4.5, 1]);
  });

  it("goes to each by its weight", () => expect(fill([claim(3, 100), claim(1, 100)], [8]).amounts).toEqual([6, 2]));

  it("keeps to the cap of some, and what is left of the limit goes to others", () => {
    const { amounts, by } = fill([claim(1, 100, [1, 1]), claim(1, 100, [1, 1]), claim(1, 100, [1, 0])], [30, 8]);
    expect(amounts).toEqual([4, 4, 22]);
    expect(by).toEqual([1, 1, 0]);
  });

  it("counts what a unit of each takes", () => {
    expect(fill([claim(1, 100, [10]), claim(1, 100, [1])], [22]).amounts).toEqual([2, 2]);
  });

  it("is all that each can use where no limit is reached", () => {
    expect(fill([claim(1, 3), claim(5, 2)], [100])).toEqual({ amounts: [3, 2], by: [null, null] });
    expect(fill([claim(1, 7, [0])], [0])).toEqual({ amounts: [7], by: [null] });
  });

  it.each([Number.POSITIVE_INFINITY, Number.NaN])("is divided in the end, whatever the numbers: %s", (absurd) => {
    for (const bounds of [[10], [10, 5], [absurd, 5], [absurd]])
      for (const most of [3, absurd]) expect(fill([claim(1, most, [absurd, 1]), claim(1, 5, [1, absurd])], bounds).amounts).toHaveLength(2);
  });

  it("comes to the same under one limit as under two of which one limits nothing", () => {
    const claims = fc.array(
      fc.record({ weight: fc.double({ min: 0.01, max: 100, noNaN: true }), most: fc.double({ min: 0, max: 500, noNaN: true }), use: fc.constantFrom(0, 1, 7) }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(claims, fc.double({ min: 0, max: 900, noNaN: true }), (drawn, limit) => {
        const one = fill(
          drawn.map(({ weight, most, use }) => claim(weight, most, [use])),
          [limit],
        ).amounts;
        const two = fill(
          drawn.map(({ weight, most, use }) => claim(weight, most, [use, use])),
          [limit, 1e9],
        ).amounts;
        for (const [at, amount] of one.entries()) expect(Math.abs(amount - (two[at] ?? 0))).toBeLessThan(1e-3);
      }),
    );
  });

  it("never exceeds a limit, leaves none of it unused that somebody wants, and gives nobody less than a poorer one", () => {
    const claims = fc.array(
      fc.record({
        weight: fc.double({ min: 0.01, max: 100, noNaN: true }),
        most: fc.double({ min: 0, max: 500, noNaN: true }),
        a: fc.boolean(),
        b: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(claims, fc.double({ min: 0, max: 300, noNaN: true }), fc.double({ min: 0, max: 300, noNaN: true }), (drawn, first, second) => {
        const all = drawn.map(({ weight, most, a, b }) => claim(weight, most, [a ? 1 : 0, b ? 1 : 0]));
        const { amounts, by } = fill(all, [first, second]);
        for (const [bound, limit] of [first, second].entries()) {
          const used = all.reduce((sum, { uses }, at) => sum + (uses[bound] ?? 0) * (amounts[at] ?? 0), 0);
          expect(used).toBeLessThanOrEqual(limit + 1e-6);
          if (by.includes(bound)) expect(used).toBeGreaterThan(limit - 1e-6);
        }
        for (const [at, { most, weight }] of all.entries()) {
          const amount = amounts[at] ?? 0;
          expect(amount).toBeLessThanOrEqual(most + 1e-6);
          if (by[at] === null) expect(amount).toBeGreaterThan(most - 1e-6);
          // Who is kept back by a limit has for its weight as much as anybody under that limit.
          else
            for (const [other, { uses, weight: heavy }] of all.entries())
              if ((uses[by[at] ?? 0] ?? 0) > 0) expect(amount / weight).toBeGreaterThan((amounts[other] ?? 0) / heavy - 1e-6);
        }
      }),
    );
  });
});

describe("whole units", () => {
  it("of which there are fewer than claims go to those that were short for longest, and stay with them for a turn", () => {
    expect(wholeParts([whole(5), whole(5), whole(5)], [1]).amounts).toEqual([1, 0, 0]);
    expect(wholeParts([whole(5, -1, 1), whole(5, 0.5), whole(5, 0.4)], [1]).amounts).toEqual([1, 0, 0]);
    expect(wholeParts([whole(5, -2, 1), whole(5, 0.5), whole(5, 0.4)], [1]).amounts).toEqual([0, 1, 0]);
  });

  it("come to the same for all over time", () => {
    const had = [0, 0, 0, 0, 0];
    const owed = [0, 0, 0, 0, 0];
    let last: readonly number[] = had;
    for (let step = 0; step < 4_000; step++) {
      const { amounts, filled } = wholeParts(
        owed.map((each, at) => whole(9, each, last[at])),
        [3],
      );
      expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBe(3);
      for (const at of had.keys()) {
        had[at] = (had[at] ?? 0) + (amounts[at] ?? 0) * 0.05;
        owed[at] = (owed[at] ?? 0) + ((filled.amounts[at] ?? 0) - (amounts[at] ?? 0)) * 0.05;
      }
      last = amounts;
    }
    for (const sum of had) expect(Math.abs(sum - 120)).toBeLessThan(5);
  });

  it("never exceed the limit or a cap", () => {
    const drawn = fc.array(fc.record({ most: fc.integer({ min: 0, max: 20 }), cap: fc.boolean(), owed: fc.double({ min: -10, max: 10, noNaN: true }) }), {
      minLength: 1,
      maxLength: 10,
    });
    fc.assert(
      fc.property(drawn, fc.double({ min: 0, max: 40, noNaN: true }), fc.double({ min: 0, max: 40, noNaN: true }), (claims, limit, cap) => {
        const all = claims.map(({ most, cap: capped, owed }) => ({ weight: 1, most, owed, had: 0, uses: [1, capped ? 1 : 0] }));
        const { amounts } = wholeParts(all, [limit, cap]);
        const sum = (of: (at: number) => boolean): number => amounts.reduce((total, amount, at) => total + (of(at) ? amount : 0), 0);
        expect(sum(() => true)).toBeLessThanOrEqual(limit + 1e-6);
        expect(sum((at) => claims[at]?.cap === true)).toBeLessThanOrEqual(cap + 1e-6);
        for (const [at, amount] of amounts.entries()) expect([Number.isInteger(amount), amount <= (claims[at]?.most ?? 0)]).toEqual([true, true]);
      }),
    );
  });
});
