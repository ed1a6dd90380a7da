import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PassTally, passAllK, passAtK, passKs } from "../../../src/metrics/pass-at-k.ts";

function ratesOf(examples: readonly (readonly number[])[], rolloutsPerExample: number, threshold = 0.5) {
  const tally = new PassTally(rolloutsPerExample, threshold);
  for (const rewards of examples) tally.addExample(rewards);
  return tally.result();
}

/** n, c <= n, k <= n. */
const attempts = fc.integer({ min: 1, max: 40 }).chain((n) => fc.tuple(fc.constant(n), fc.nat({ max: n }), fc.integer({ min: 1, max: n })));

describe("estimators", () => {
  it.each([
    [4, 2, 1, 0.5, 0.5],
    [4, 2, 2, 5 / 6, 1 / 6],
    [4, 2, 4, 1, 0],
  ])("of %d attempts with %d passes at k = %d are %d and %d", (n, c, k, atK, allK) => {
    expect([passAtK(n, c, k), passAllK(n, c, k)]).toEqual([atK, allK]);
  });

  // Python: 1 - math.comb(n - c, k) / math.comb(n, k), and math.comb(c, k) / math.comb(n, k).
  it.each([
    [8, 3, 2, 0.6428571428571428, 0.10714285714285714],
    [16, 5, 8, 0.9871794871794872, 0],
    [64, 20, 8, 0.9599579743944171, 2.846030130521775e-5],
    [64, 63, 32, 1, 0.5],
    [64, 59, 16, 1, 0.2245788320616454],
    [239, 168, 8, 0.9999546409835944, 0.05665357177813981],
    [1024, 700, 64, 1, 1.0231370938398231e-11],
  ])("are rounded as Python rounds them: %d attempts, %d passes, k = %d", (n, c, k, atK, allK) => {
    expect([passAtK(n, c, k), passAllK(n, c, k)]).toEqual([atK, allK]);
  });

  it("obey the identities between them", () => {
    fc.assert(
      fc.property(attempts, ([n, c, k]) => {
        expect(passAtK(n, c, 1)).toBeCloseTo(c / n, 14);
        expect(passAllK(n, c, 1)).toBe(c / n);
        expect(passAtK(n, c, k)).toBeCloseTo(1 - passAllK(n, n - c, k), 14);
        expect(passAtK(n, c, n)).toBe(c >= 1 ? 1 : 0);
        expect(passAllK(n, c, n)).toBe(c === n ? 1 : 0);
        if (k < n) {
          expect(passAtK(n, c, k + 1)).toBeGreaterThanOrEqual(passAtK(n, c, k));
          expect(passAllK(n, c, k + 1)).toBeLessThanOrEqual(passAllK(n, c, k));
        }
      }),
    );
  });

  it("agree with the product form, for thousands of attempts too", () => {
    for (const [n, c, k] of [
      [100, 37, 16],
      [4_096, 4_000, 32],
      [4_096, 100, 64],
    ] as const) {
      let product = 1;
      for (let i = 0; i < k; i++) product *= (n - c - i) / (n - i);
      expect(passAtK(n, c, k)).toBeCloseTo(1 - product, 11);
    }
  });
});

describe("k", () => {
  it.each([
    [1, []],
    [2, [1, 2]],
    [3, [1, 2]],
    [8, [1, 2, 4, 8]],
    [16, [1, 2, 4, 8, 16]],
  ])("for %d rollouts per example takes the values %j", (n, ks) => {
    expect(passKs(n)).toEqual(ks);
    const { pass_at_k, pass_all_k } = ratesOf([Array.from({ length: n }, () => 1)], n);
    expect(Object.keys(pass_at_k)).toEqual(ks.map(String));
    expect(Object.keys(pass_all_k)).toEqual(ks.map(String));
  });
});

// Cases of tests/test_save_utils.py.
describe("averages over examples", () => {
  it("leave out incomplete examples", () => {
    expect(
      ratesOf(
        [
          [1, 1, 1, 1],
          [0, 0],
        ],
        4,
      ),
    ).toEqual({ pass_at_k: { "1": 1, "2": 1, "4": 1 }, pass_all_k: { "1": 1, "2": 1, "4": 1 } });
  });
  it("are empty without an example, without a complete one, and for single rollouts", () => {
    for (const rates of [ratesOf([], 4), ratesOf([[1, 0, 1]], 4), ratesOf([[1], [1]], 1)]) expect(rates).toEqual({ pass_at_k: {}, pass_all_k: {} });
  });
  it("take the threshold of the environment", () => {
    const { pass_at_k } = ratesOf([[0.4, 0.6, 0.8, 0.3]], 4, 0.7);
    expect(pass_at_k["1"]).toBeCloseTo(0.25, 14);
    expect(pass_at_k["2"]).toBeCloseTo(0.5, 14);
  });
  it("count a reward at the threshold as a pass", () => {
    expect(ratesOf([[0.49, 0.5, 1, 0]], 4).pass_at_k["1"]).toBe(0.5);
  });
  it("are 1 when all pass and 0 when none does", () => {
    const rates = (value: number) => ({ "1": value, "2": value, "4": value, "8": value });
    expect(ratesOf([Array.from({ length: 8 }, () => 1)], 8)).toEqual({ pass_at_k: rates(1), pass_all_k: rates(1) });
    expect(ratesOf([Array.from({ length: 8 }, () => 0)], 8)).toEqual({ pass_at_k: rates(0), pass_all_k: rates(0) });
  });
  it("are means of the examples' values", () => {
    expect(
      ratesOf(
        [
          [1, 1, 1, 1],
          [0, 0, 0, 0],
        ],
        4,
      ).pass_at_k["1"],
    ).toBe(0.5);
    expect(
      ratesOf(
        [
          [1, 0],
          [1, 0],
        ],
        2,
      ),
    ).toEqual({ pass_at_k: { "1": 0.5, "2": 1 }, pass_all_k: { "1": 0.5, "2": 0 } });
    const { pass_at_k, pass_all_k } = ratesOf([[1, 1, 0, 0]], 4);
    expect([pass_at_k["2"], pass_all_k["2"], pass_all_k["4"]]).toEqual([1 - 1 / 6, 1 / 6, 0]);
  });
});
