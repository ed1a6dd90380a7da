import { describe, expect, it } from "vitest";
import { binomialAtMost } from "../../../src/metrics/distributions/binomial.ts";
import { normalQuantile, normalUpperTail } from "../../../src/metrics/distributions/normal.ts";
import { studentTQuantile, studentTTwoSided } from "../../../src/metrics/distributions/student-t.ts";
import { wilsonInterval } from "../../../src/metrics/wilson.ts";

describe("quantile of Student's t", () => {
  // To ten decimals, from the incomplete beta function in 40-digit arithmetic.
  it.each([
    [0.975, 1, 12.7062047362],
    [0.975, 2, 4.3026527297],
    [0.975, 3, 3.1824463053],
    [0.975, 4, 2.7764451052],
    [0.975, 5, 2.5705818356],
    [0.975, 9, 2.2621571628],
    [0.975, 10, 2.228138852],
    [0.975, 29, 2.0452296421],
    [0.975, 30, 2.0422724563],
    [0.975, 49, 2.0095752371],
    [0.975, 99, 1.9842169516],
    [0.975, 100, 1.9839715185],
    [0.975, 1_000, 1.9623390808],
    [0.95, 10, 1.8124611228],
    [0.995, 7, 3.4994832974],
    [0.9, 120, 1.2886462337],
  ])("at %d with %d degrees of freedom is %d", (p, df, expected) => {
    expect(Math.abs(studentTQuantile(p, df) - expected)).toBeLessThan(1e-8);
  });

  it.each([0.6, 0.9, 0.975, 0.9999])("at %d equals the closed forms for one and two degrees of freedom", (p) => {
    const central = 2 * p - 1;
    expect(studentTQuantile(p, 1)).toBeCloseTo(Math.tan((Math.PI * central) / 2), 9);
    expect(studentTQuantile(p, 2)).toBeCloseTo(central * Math.sqrt(2 / (1 - central ** 2)), 9);
  });

  it("approaches the normal quantile from above as its expansion says", () => {
    const z = 1.959963984540054;
    for (const df of [5_000, 49_999, 1_000_000]) {
      const expansion = z + (z ** 3 + z) / (4 * df) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df ** 2);
      expect(Math.abs(studentTQuantile(0.975, df) - expansion)).toBeLessThan(1e-8);
    }
  });

  it("is symmetric about zero", () => {
    expect(studentTQuantile(0.025, 7)).toBeCloseTo(-studentTQuantile(0.975, 7), 12);
    expect(studentTQuantile(0.5, 3)).toBe(0);
  });

  it.each([
    [0, 5],
    [1, 5],
    [Number.NaN, 5],
    [0.9, 0],
    [0.9, -1],
  ])("does not exist at %d with %d degrees of freedom", (p, df) => {
    expect(() => studentTQuantile(p, df)).toThrow(RangeError);
  });
});

describe("p values of Student's t", () => {
  // From the incomplete beta function in 30-digit arithmetic.
  it.each([
    [3, 30, 0.005389964065651946],
    [20, 100, 9.994267861336956e-37],
    [0.01, 5, 0.9924080180425819],
    [12.2, 1_318, 1.636409858150135e-32],
  ])("at %d with %d degrees of freedom is %d", (t, df, expected) => {
    expect(Math.abs(studentTTwoSided(t, df) / expected - 1)).toBeLessThan(1e-12);
    expect(studentTTwoSided(-t, df)).toBe(studentTTwoSided(t, df));
  });

  it("belong to its quantiles, of broken degrees of freedom too", () => {
    for (const df of [0.7, 1, 2.5, 17.3, 99_999])
      for (const p of [0.6, 0.975, 0.9999]) expect(studentTTwoSided(studentTQuantile(p, df), df)).toBeCloseTo(2 * (1 - p), 11);
  });
});

describe("the normal distribution", () => {
  it.each([
    [1.96, 0.02499789514822043],
    [3.49, 0.0002415102735678362],
    [3.51, 0.0002240533469910928],
    [5, 2.866515718791939e-7],
    [20, 2.753624118606233e-89],
  ])("has beyond %d a share of %d", (z, share) => {
    expect(Math.abs(normalUpperTail(z) / share - 1)).toBeLessThan(1e-11);
    expect(normalUpperTail(-z)).toBeCloseTo(1 - share, 14);
    if (share > 1e-15) expect(normalQuantile(share)).toBeCloseTo(-z, 10);
  });
});

describe("the binomial distribution", () => {
  it.each([
    [79, 385, 0.5, 1.240053425072405e-32 / 2],
    [1, 12, 0.5, 13 / 4096],
    [152, 361, 0.5, 0.003150656880360588 / 2],
    [3, 10, 0.2, 0.8791261184],
    [-1, 10, 0.2, 0],
    [10, 10, 0.2, 1],
  ])("has at most %d of %d at %d with chance %d", (k, n, p, chance) => {
    expect(Math.abs(binomialAtMost(k, n, p) - chance)).toBeLessThanOrEqual(1e-12 * chance);
  });
});

describe("Wilson's interval", () => {
  it.each([
    [88, 100, 0.80188, 0.93001],
    [63, 100, 0.53221, 0.71818],
    [742, 1319, 0.53563, 0.5891],
    [453, 500, 0.87724, 0.92857],
    [0, 150, 0, 0.02497],
  ])("of %d in %d is %d to %d", (passes, n, low, high) => {
    const interval = wilsonInterval(passes, n);
    expect(interval[0]).toBeCloseTo(low, 5);
    expect(interval[1]).toBeCloseTo(high, 5);
  });

  it("ends exactly at 0 and 1, and mirrors", () => {
    expect(wilsonInterval(0, 7)[0]).toBe(0);
    expect(wilsonInterval(7, 7)[1]).toBe(1);
    expect(wilsonInterval(7, 7)[0]).toBeCloseTo(1 - wilsonInterval(0, 7)[1], 12);
    expect(wilsonInterval(1, 1)[0]).toBeLessThan(1);
  });
});
