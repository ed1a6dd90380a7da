import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isDue, reportedStep } from "../../../src/evaluators/due.ts";

const steps = fc.nat({ max: 1_000_000 });

test("a cadence of zero or less is never due", () => {
  void fc.assert(fc.property(steps, fc.integer({ min: -1_000, max: 0 }), (step, runEvery) => !isDue(step, runEvery)));
  // What is cut to zero counts as zero.
  expect([isDue(0, 0.9), isDue(7, -0.5), isDue(0, Number.NaN)]).toEqual([false, false, false]);
});

test("a step is due when the number it is reported by is a multiple of the cadence", () => {
  void fc.assert(fc.property(steps, fc.integer({ min: 1, max: 5_000 }), (step, runEvery) => isDue(step, runEvery) === (reportedStep(step) % runEvery === 0)));
  expect([48, 49, 50, 98, 99].map((step) => isDue(step, 50))).toEqual([false, true, false, false, true]);
  expect(reportedStep(49)).toBe(50);
});

test("of any cadence's worth of steps in a row exactly one is due", () => {
  void fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 300 }), (first, runEvery) => {
      const due = Array.from({ length: runEvery }, (_, index) => first + index).filter((step) => isDue(step, runEvery));
      return due.length === 1;
    }),
  );
});
