import { describe, expect, it } from "vitest";
import { type SummaryRow, summaryLines } from "../../../../src/cli/eval-run/runs-summary.ts";
import type { Evaluation } from "../../../../src/cli/connection/api-types.ts";
import { textWidth } from "../../../../src/report/text/text-width.ts";

const evaluation = (reward: number | null, done = 200): Evaluation =>
  ({
    metadata: { num_examples: 50 },
    edgewise: { done_rollouts: done, total_rollouts: 200, reward, errors: { timeout: 3 }, tokens: { input: 5_008, output: 1_111 } },
  }) as unknown as Evaluation;

const row = (label: string, changes: Partial<SummaryRow> = {}): SummaryRow => ({
  label,
  status: "COMPLETED",
  evaluation: evaluation(0.79),
  interval: [0.6891, 0.8909],
  seconds: 63,
  folder: `/w/outputs/evals/arithmetic--edgewise--tiny/${label.length.toString(16).padStart(8, "0")}`,
  ...changes,
});
const FAILED = row("arithmetic temperature=1.2", { status: "failed", evaluation: null, interval: null, seconds: null, folder: null });
const linesAt = (width: number, rows: readonly SummaryRow[]): readonly string[] => summaryLines(rows, "/w", width);

describe("the table of several evaluations", () => {
  it("has one line for each where there is room", () => {
    expect(linesAt(200, [row("arithmetic temperature=0"), FAILED])).toEqual([
      "--- Evaluation Summary ---",
      "EVALUATION                  STATUS     REWARD    95% INTERVAL  EXAMPLES  ROLLOUTS  TOKENS IN  TOKENS OUT  ERRORS   TIME  FOLDER",
      "arithmetic temperature=0    COMPLETED   0.790  0.689 to 0.891        50       200      5,008       1,111    1.5%  1m 3s  outputs/evals/arithmetic--edgewise--tiny/00000018",
      "arithmetic temperature=1.2  failed          -               -         -         -          -           -       -      -  -",
    ]);
  });

  it("is readable in 80 columns: reward, interval and errors of each on a line, its folder below", () => {
    const lines = linesAt(80, [row("arithmetic temperature=0"), FAILED]);
    expect(lines).toEqual([
      "--- Evaluation Summary ---",
      "EVALUATION                  REWARD    95% INTERVAL  ROLLOUTS  ERRORS   TIME",
      "arithmetic temperature=0     0.790  0.689 to 0.891       200    1.5%  1m 3s",
      "  COMPLETED  outputs/evals/arithmetic--edgewise--tiny/00000018",
      "arithmetic temperature=1.2       -               -         -       -      -",
      "  failed  -",
    ]);
  });

  it("gives long names lines of their own, and cuts nothing", () => {
    const label = "arithmetic difficulty=hard temperature=0.7 top_p=0.95 seed=12345";
    const lines = linesAt(80, [row(label, { evaluation: evaluation(null, 120), interval: null })]);
    expect(lines.slice(2)).toEqual([
      label,
      "       -             -   120/200    2.5%  1m 3s",
      "  COMPLETED  outputs/evals/arithmetic--edgewise--tiny/00000040",
    ]);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(80);
  });
});
