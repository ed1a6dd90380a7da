import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isMet, type Measure, median, tableOf } from "../../../bench/measure.ts";
import { COST_HEAD, costRow, difference, dollarsPerMillion, durationDollarsPerMillion, perThousand, workingDollarsPerMillion } from "../../../bench/prices.ts";
import type { Operations } from "../../../src/operations.ts";

const none: Operations = { do_requests: 0, do_rows_read: 0, do_rows_written: 0, queue_operations: 0, r2_class_a: 0, r2_class_b: 0 };

describe("prices", () => {
  it.each([
    ["do_requests", 0.15],
    ["do_rows_read", 0.001],
    ["do_rows_written", 1],
    ["queue_operations", 0.4],
    ["r2_class_a", 4.5],
    ["r2_class_b", 0.36],
  ] as const)("asks per million of %s: %d dollars", (name, dollars) => {
    expect(dollarsPerMillion({ ...none, [name]: 500 }, 500)).toBeCloseTo(dollars, 10);
  });

  it("adds up a run", () => {
    const counted = { do_requests: 100, do_rows_read: 4_000, do_rows_written: 1_500, queue_operations: 30, r2_class_a: 20, r2_class_b: 10 };
    // Per rollout: 0.1, 4, 1.5, 0.03, 0.02, 0.01.
    expect(dollarsPerMillion(counted, 1_000)).toBeCloseTo(0.015 + 0.004 + 1.5 + 0.012 + 0.09 + 0.0036, 10);
  });

  it("counts what happened between two looks, per thousand rollouts", () => {
    const counted = difference({ ...none, r2_class_a: 30 }, { ...none, r2_class_a: 10 });
    expect(perThousand(counted, 4_000).r2_class_a).toBe(5);
  });

  it("charges an object 128 MB for as long as it is in memory", () => {
    // One object for an hour: about 461 GB-s, 0.006 dollars.
    expect(durationDollarsPerMillion(1, 1_000_000 / 3_600)).toBeCloseTo(0.00576, 6);
  });
});

describe("the table of what a run costs", () => {
  const page = readFileSync(new URL("../../../docs/architecture.md", import.meta.url), "utf8");
  const rows =
    page
      .slice(page.indexOf(COST_HEAD) + COST_HEAD.length + 1)
      .split("\n\n")[0]
      ?.split("\n") ?? [];
  const dollarsAt = (seconds: number): number[] => rows.filter((row) => row.startsWith(`| ${seconds} s |`)).map((row) => Number(row.split("|").at(-2)));

  it("has its dollars from its counts and the prices", () => {
    expect(page).toContain(COST_HEAD);
    expect(rows).toHaveLength(20);
    for (const row of rows) {
      const [model = 0, lanes = 0, ...counts] = row
        .split("|")
        .slice(1, -2)
        .map((cell) => Number.parseFloat(cell));
      const [do_requests = 0, do_rows_written = 0, do_rows_read = 0, queue_operations = 0, r2_class_a = 0, r2_class_b = 0] = counts;
      const thousand = { do_requests, do_rows_written, do_rows_read, queue_operations, r2_class_a, r2_class_b };
      expect(row).toBe(costRow({ model_ms: model * 1_000, lanes }, thousand));
    }
  });

  it("has at most 3 dollars for a model of a second, and 5 for one of 30", () => {
    // The last has 500 lanes, and is over after six seconds.
    expect(Math.max(...dollarsAt(1).slice(0, 3))).toBeLessThanOrEqual(3);
    expect(Math.max(...dollarsAt(30))).toBeLessThanOrEqual(5);
  });

  it("charges an object for the time that it works on calls", () => {
    // A million calls of 10 ms are 1,280 GB-s.
    expect(workingDollarsPerMillion({ ...none, do_requests: 1 }, 1)).toBeCloseTo(0.016, 6);
  });
});

describe("measures", () => {
  const measure = (value: number, target?: Measure["target"]): Measure => ({ scenario: "s", name: "n", value, unit: "u", ...(target ? { target } : {}) });

  it("are met at the border, missed beyond it, and neither without a target", () => {
    expect([0.5, 0.49].map((value) => isMet(measure(value, { at_least: 0.5 })))).toEqual([true, false]);
    expect([1.3, 1.31].map((value) => isMet(measure(value, { at_most: 1.3 })))).toEqual([true, false]);
    expect(isMet(measure(1))).toBeNull();
  });

  it("are shown with their verdict", () => {
    const [, , good = "", bad = ""] = tableOf([measure(1234.5, { at_least: 1000 }), measure(0.123456, { at_least: 0.5 })]).split("\n");
    expect(good).toMatch(/1,235 .*>= 1,000 .*met$/);
    expect(bad).toMatch(/0\.1235 .*>= 0\.5 .*MISSED$/);
  });

  it("take the middle of several", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
  });
});
