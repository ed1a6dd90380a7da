import { describe, expect, it } from "vitest";
import { PlainReport } from "../../../src/report/plain-report.ts";
import { cachedText } from "../../../src/report/text/cache-text.ts";

function reportOf(...rows: object[]): string[] {
  const report = new PlainReport({ env_id: "e", model: "m", base_url: "http://localhost/v1", num_examples: 2, rollouts_per_example: 1, pass_threshold: 0.5 });
  for (const [example_id, row] of rows.entries()) report.addRow({ example_id, prompt: "q", completion: "a", reward: 1, error: null, metrics: {}, ...row });
  return report.lines(80);
}

describe("a report", () => {
  it("tells how many calls the cache answered, and nothing of that where there is none", () => {
    const cache_usage = { calls: 2000, cached: 1995, input_tokens: 80, output_tokens: 3 };
    expect(reportOf({ cache_usage }, { cache_usage })).toContain("cached: 3,990 of 4,000 calls (160 tokens input, 6 output)");
    const judges = { calls: 1, cached: 0, input_tokens: 0, output_tokens: 0 };
    expect(reportOf({ cache_usage: { ...judges, judges } })).toContain("cached: 0 of 1 call, 0 of 1 call of judges");
    expect(reportOf({ cache_usage: { calls: 0, cached: 0, judges: { ...judges, cached: 1 } } })).toContain(
      "cached: 1 of 1 call of judges (0 tokens input, 0 output)",
    );
    expect(reportOf({}, {}).filter((line) => line.startsWith("cached"))).toEqual([]);
    expect(cachedText({ ...cache_usage, judges })).toBe("1,995 of 2,001 calls");
  });
});
