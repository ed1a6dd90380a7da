import { expect, it } from "vitest";
import { countsOf, summaryLine, type VitestReport } from "../../../tools/test-summary.ts";

const report = (counts: Partial<VitestReport> = {}): VitestReport => ({
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [],
  ...counts,
});

it("sums the suites into one line", () => {
  const counts = [countsOf(report(), 0), countsOf(report({ numFailedTests: 2, numPendingTests: 1, numTodoTests: 1 }), 1)];
  expect(summaryLine(counts)).toBe("6 passed, 2 failed, 2 skipped");
});

it("counts a file that could not be loaded as one failure", () => {
  const testResults = [
    { status: "failed", assertionResults: [] },
    { status: "failed", assertionResults: [{}] },
  ];
  expect(countsOf(report({ testResults, numFailedTests: 1 }), 1).failed).toBe(2);
});

it("never looks better than the exit code", () => {
  expect(countsOf(report(), 1).failed).toBe(1);
  expect(countsOf(null, 0).failed).toBe(1);
});
