import { expect, it } from "vitest";
import { countsOf, failureLines, summaryLine, type VitestReport } from "../../../tools/test-summary.ts";

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
    { name: "a.test.ts", status: "failed", assertionResults: [] },
    { name: "b.test.ts", status: "failed", assertionResults: [{ status: "failed", fullName: "b" }] },
  ];
  expect(countsOf(report({ testResults, numFailedTests: 1 }), 1).failed).toBe(2);
});

it("never looks better than the exit code", () => {
  expect(countsOf(report(), 1).failed).toBe(1);
  expect(countsOf(null, 0).failed).toBe(1);
});

it("names what failed with the beginning of its message, since of a long log mostly the end is seen", () => {
  const failureMessages = ["AssertionError: expected 1 to be 2\n    at there.ts:1:2"];
  const testResults = [
    { name: "a.test.ts", status: "failed", message: "Cannot find module", assertionResults: [] },
    {
      name: "b.test.ts",
      status: "failed",
      assertionResults: [
        { status: "passed", fullName: "is right" },
        { status: "failed", fullName: "is wrong", failureMessages },
      ],
    },
  ];
  expect(failureLines("rules", report({ testResults, numFailedTests: 1 }), 1)).toEqual([
    "FAILED rules a.test.ts",
    "  Cannot find module",
    "FAILED rules b.test.ts > is wrong",
    "  AssertionError: expected 1 to be 2",
    "      at there.ts:1:2",
  ]);
  expect(failureLines("rules", report(), 0)).toEqual([]);
  expect(failureLines("rules", null, 1)[0]).toMatch(/without a report/);
  expect(failureLines("e2e", report(), 3)[0]).toMatch(/exit code 3/);
});
