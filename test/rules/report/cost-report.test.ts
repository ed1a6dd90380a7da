import { describe, expect, it } from "vitest";
import { PlainReport } from "../../../src/report/plain-report.ts";
import { costText, dollarsText } from "../../../src/report/text/cost-text.ts";

type Row = Readonly<Record<string, unknown>>;

const USAGE = { token_usage: { input_tokens: 10, output_tokens: 5 } };
const COST = { usage_cost: { input_usd: 0.00012345, output_usd: 0.5, total_usd: 0.50012345 } };

const row = (reward: number, rest: Row): Row => ({
  ...{ example_id: 0, prompt: [], completion: [], reward, error: null, is_completed: true, is_truncated: false, metrics: {} },
  ...rest,
});

function reportOf(...rows: readonly Row[]): string[] {
  const report = new PlainReport({ env_id: "e", model: "m", base_url: "http://a", num_examples: 1, rollouts_per_example: 2, pass_threshold: 0.5 });
  for (const each of rows) report.addRow(each);
  return report.lines();
}

describe("what a run cost, in its report", () => {
  it("stands under Usage in the words and digits of verifiers, and what judges cost apart", () => {
    const judge_usage = { requests: 3, input_tokens: 80, output_tokens: 3, cost: { requests: 2, input_usd: 1, output_usd: 0.234, total_usd: 1.234 } };
    const lines = reportOf(row(1, { ...USAGE, ...COST, judge_usage }), row(0, { ...USAGE, ...COST }));
    const at = lines.indexOf("Usage:");
    const judges = "$1.23 (of 2 of 3 requests; of the others it is unknown)";
    expect(lines.slice(at + 3, at + 5)).toEqual(["cost (all): $1.00", `judges' cost (all): ${judges}`]);
    expect(lines).toContain(`judges: 3 requests, 80 tokens input, 3 output, ${judges}`);
  });

  it("is said to be of a part where it is known of a part, and not said at all where nobody knows it", () => {
    expect(reportOf(row(1, { ...USAGE, ...COST }), row(0, USAGE))).toContain("cost (all): $0.5001 (of 1 of 2 rollouts; of the others it is unknown)");
    expect(reportOf(row(1, USAGE), row(0, USAGE)).join("\n")).not.toMatch(/cost|\$/);
  });

  it("has cents from one dollar on, and else hundredths of one; nothing is nothing", () => {
    expect([0, 0.00004, 0.12345, 0.99994, 1, 12.345, 1_234.5].map(dollarsText)).toEqual([
      ...["$0.0000", "$0.0000", "$0.1235", "$0.9999", "$1.00"],
      ...["$12.35", "$1234.50"],
    ]);
    expect(costText(0, 2, 2, "rollouts")).toBe("$0.0000");
  });
});
