import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ValueCounts } from "../../../src/metrics/one-run/value-counts.ts";

const counted = (values: Iterable<number>): ValueCounts => {
  const counts = new ValueCounts();
  for (const value of values) counts.add(value);
  return counts;
};

describe("the bins of values", () => {
  it("are as wide as each other from the least to the greatest, and a border belongs to the bin behind it", () => {
    expect(counted([0, 0.25, 0.25, 0.5, 1]).bins(4)).toEqual([
      [0, 0.25, 1],
      [0.25, 0.5, 2],
      [0.5, 0.75, 1],
      [0.75, 1, 1],
    ]);
  });

  it("of zeros and ones are two, of one value one, and of none none", () => {
    expect(counted([1, 0, 1]).bins(20)).toEqual([
      [0, 0, 1],
      [1, 1, 2],
    ]);
    expect([counted([1]).isZeroOne, counted([1]).bins(20)]).toEqual([
      true,
      [
        [0, 0, 0],
        [1, 1, 1],
      ],
    ]);
    expect([counted([0.5, 0.5]).isZeroOne, counted([0.5, 0.5]).bins(20)]).toEqual([false, [[0.5, 0.5, 2]]]);
    expect([counted([]).isZeroOne, counted([]).range, counted([]).bins(20)]).toEqual([false, null, []]);
  });

  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  it("hold every value once, in the bin that it lies in, whatever the values are", () => {
    fc.assert(
      fc.property(fc.array(finite, { minLength: 1, maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (values, most) => {
        holds(values, most);
      }),
    );
  });

  it("hold every value once where there are more values than are told apart, in bounded memory", () => {
    const seed = fc.record({ at: finite, spread: fc.double({ min: 1e-9, max: 1e9, noNaN: true }), outlier: finite });
    fc.assert(
      fc.property(seed, fc.integer({ min: 1, max: 50 }), ({ at, spread, outlier }, most) => {
        const values = Array.from({ length: 5_000 }, (_, index) => at + spread * ((index * 7_919) % 5_003)).filter(Number.isFinite);
        holds([...values, outlier], most);
      }),
      { numRuns: 60 },
    );
  });
});

/** Bins against the values themselves. */
function holds(values: readonly number[], most: number): void {
  const counts = counted(values);
  const bins = counts.bins(most);
  const [least, greatest] = counts.range ?? [0, 0];
  expect([least, greatest]).toEqual([values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))]);
  expect(bins.reduce((sum, [, , count]) => sum + count, 0)).toBe(values.length);
  if (counts.isZeroOne || least === greatest) return;
  expect(bins.length).toBeLessThanOrEqual(most);
  expect([bins[0]?.[0], bins.at(-1)?.[1]]).toEqual([least, greatest]);
  for (const [at, [lo, hi, count]] of bins.entries()) {
    const isLast = at === bins.length - 1;
    expect(lo).toBeLessThan(hi);
    if (!isLast) expect(bins[at + 1]?.[0]).toBe(hi);
    expect(count).toBe(values.filter((value) => value >= lo && (isLast ? value <= hi : value < hi)).length);
  }
}
