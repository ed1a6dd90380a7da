/** What is read of vitest's JSON report of one suite. */
export interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  readonly name: string;
  readonly status: string;
  /** Why a file could not be loaded. */
  readonly message?: string;
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string; readonly failureMessages?: readonly string[] | null }[];
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * Counts of one suite. A file that could not be loaded has no tests and counts as one failure, and so does a suite that ended
 * badly without a failed test (no report, no tests, an unhandled error): the line must never look better than the exit code.
 */
export function countsOf(report: VitestReport | null, exitCode: number): Counts {
  if (report === null) return { passed: 0, failed: 1, skipped: 0 };
  const unloaded = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length;
  const failed = report.numFailedTests + unloaded;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** One failure takes no more of the end of a log than this. */
const SHOWN_LINES = 12;

/**
 * What failed, by file and name with the beginning of its message: whoever has only the end of a long log reads it there. Empty when
 * nothing did; a suite that wrote no report is one line.
 */
export function failureLines(suite: string, report: VitestReport | null, exitCode: number): readonly string[] {
  if (report === null) return [`FAILED ${suite}: the suite ended without a report (exit code ${exitCode})`];
  const lines = report.testResults.flatMap((file) => {
    const tests = file.assertionResults.filter(({ status }) => status === "failed");
    if (tests.length === 0) return file.status === "failed" ? [`FAILED ${suite} ${file.name}`, ...indented(file.message)] : [];
    return tests.flatMap(({ fullName, failureMessages }) => [`FAILED ${suite} ${file.name} > ${fullName}`, ...indented(failureMessages?.[0])]);
  });
  return lines.length === 0 && exitCode !== 0 ? [`FAILED ${suite}: no test failed, but the suite ended with exit code ${exitCode}`] : lines;
}

const indented = (message = ""): readonly string[] =>
  message
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, SHOWN_LINES)
    .map((line) => `  ${line}`);

export function summaryLine(counts: readonly Counts[]): string {
  const sum = (key: keyof Counts): number => counts.reduce((total, count) => total + count[key], 0);
  return `${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`;
}
