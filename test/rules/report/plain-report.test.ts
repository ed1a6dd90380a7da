import { groupingProblem } from "../../../src/metrics/grouping.ts";
import { describe, expect, it } from "vitest";
import { PlainReport, type ReportHeader, SHOWN_TASKS } from "../../../src/report/plain-report.ts";
import { SHOWN_EXAMPLES, SHOWN_ROLLOUTS } from "../../../src/report/statistics/series.ts";
import { textWidth } from "../../../src/report/text/text-width.ts";

type Row = Record<string, unknown>;

const HEADER: ReportHeader = {
  env_id: "test-env",
  model: "test-model",
  base_url: "http://localhost:8000/v1",
  num_examples: 3,
  rollouts_per_example: 2,
  pass_threshold: 0.5,
  verbose: true,
};

const row = (example_id: number, reward: number, rest: Row = {}): Row => ({
  example_id,
  prompt: [{ role: "user", content: `q${example_id}` }],
  completion: [{ role: "assistant", content: `a${example_id}` }],
  task: "test-env",
  reward,
  error: null,
  timing: { generation_ms: 1_500, scoring_ms: 2, total_ms: 1_502, start_time: 0 },
  is_completed: true,
  is_truncated: false,
  stop_condition: "max_turns_reached",
  metrics: {},
  ...rest,
});

function reportOf(rows: readonly Row[], header: Partial<ReportHeader> = {}, width = 80): string[] {
  const report = new PlainReport({ ...HEADER, ...header });
  for (const entry of rows) report.addRow(entry);
  return report.lines(width);
}
/** From the first line that equals `start` on. */
const from = (lines: readonly string[], start: string): string[] => lines.slice(lines.indexOf(start));

const CUT_OFF = /^cut off at the token limit or the end of the context: (.*)$/;
const cutOffLine = (rows: readonly Row[]): string | null => reportOf(rows).flatMap((line) => CUT_OFF.exec(line)?.[1] ?? [])[0] ?? null;

const failure = {
  error: "ModelError",
  error_chain_repr: "ModelError() -> RateLimitError('slow down')",
  error_chain_str: "ModelError -> RateLimitError",
  code: "rate_limited",
};

describe("the report at the end of a run", () => {
  it("says what share of the answers was cut off when that is more than half", () => {
    const cut = (count: number): Row[] => Array.from({ length: 4 }, (_, i) => row(i >> 1, 1, { is_truncated: i < count }));
    expect(cutOffLine(cut(2))).toBeNull();
    expect(cutOffLine(cut(3))).toBe("0.750 (3 of 4); the reward is mostly that of answers without an end");
  });

  it("tells prompts that the model takes not at all from answers that were cut off", () => {
    const rows = Array.from({ length: 4 }, (_, i) => row(i >> 1, 0, { is_truncated: true, ...(i < 3 ? { stop_condition: "prompt_too_long" } : {}) }));
    expect(cutOffLine(rows)).toBeNull();
    expect(reportOf(rows)).toContain("prompts too long for the model: 0.750 (3 of 4); these rollouts ended there");
  });

  it("reads as the reference's, and ends in a summary of what it lacks", () => {
    const rows = [
      row(0, 1, { metrics: { correct: 1, num_turns: 1 }, token_usage: { input_tokens: 10, output_tokens: 4 } }),
      row(0, 0, { metrics: { correct: 0, num_turns: 1 }, token_usage: { input_tokens: 6, output_tokens: 2 }, is_truncated: true }),
      row(1, 1, { metrics: { correct: 1, num_turns: 1 } }),
      row(1, 0, {
        metrics: { correct: 0, num_turns: 0 },
        error: failure,
        stop_condition: "has_error",
        timing: { generation_ms: 20, scoring_ms: 0, total_ms: 20, start_time: 0 },
      }),
      row(2, 1 / 3, { metrics: { correct: 0, num_turns: 2 } }),
      row(2, 1, { metrics: { correct: 1, num_turns: 1 } }),
    ];
    expect(reportOf(rows, {}, 60)).toEqual([
      "--- Evaluation ---",
      "Environment: test-env",
      "Model: test-model",
      "Provider: http://localhost:8000/v1",
      "Examples: 3",
      "Rollouts per example: 2",
      "--- Example ---",
      "┌────────────────────────┬────────────────────────┬────────┐",
      "│ Prompt                 │ Completion             │ Reward │",
      "├────────────────────────┼────────────────────────┼────────┤",
      "│ user: q0               │ assistant: a0          │   1.00 │",
      "└────────────────────────┴────────────────────────┴────────┘",
      "--- All ---",
      "Rewards:",
      "reward: 0.556 to 0.722, as 16.7 % of the rollouts have no score (0.667 over the others)",
      "reward: avg - 0.556, std - 0.458",
      "r1: [1.0, 1.0, 0.333]",
      "r2: [0.0, 0.0, 1.0]",
      "pass@k: 1=0.500, 2=1.000",
      "pass^k: 1=0.500, 2=0.000",
      "correct: avg - 0.500, std - 0.500",
      "r1: [1.0, 1.0, 0.0]",
      "r2: [0.0, 0.0, 1.0]",
      "num_turns: avg - 1.000, std - 0.577",
      "r1: [1.0, 1.0, 2.0]",
      "r2: [1.0, 0.0, 1.0]",
      "Info:",
      "is_truncated: avg - 0.167, std - 0.373",
      "stop_conditions: max_turns_reached: 0.833, has_error: 0.167",
      "errors: avg - 0.167, std - 0.373",
      " - ModelError -> RateLimitError: 1.000",
      "Timing:",
      "generation: min - 20ms, mean - 1s, max - 2s",
      "scoring: min - 0ms, mean - 2ms, max - 2ms",
      "total: min - 20ms, mean - 1s, max - 2s",
      "Usage:",
      "input_tokens (avg): 8.000",
      "output_tokens (avg): 3.000",
      "Summary:",
      "rollouts: 6",
      "errored rollouts: 0.167 (1 of 6)",
      " - rate_limited: 0.167 (1 of 6)",
      "reward without errored rollouts: 0.667",
      "reward 95% interval: 0.317 to 0.795 (over 3 examples, standard error 0.056)",
      "pass@k 95% intervals: 2: 0.439 to 1.000",
      "pass^k 95% intervals: 2: 0.000 to 0.561",
      "metrics with 95% intervals:",
      " - correct: 0.500 (0.125 to 0.875)",
      " - num_turns: 1.000 (0.000 to 2.242)",
      "tokens: 16 input, 6 output",
      "reward distribution:",
      "0.000 to 0.125 █████████████ 2",
      "0.125 to 0.250 0",
      "0.250 to 0.375 ███████ 1",
      "0.375 to 0.500 0",
      "0.500 to 0.625 0",
      "0.625 to 0.750 0",
      "0.750 to 0.875 0",
      "0.875 to 1.000 ████████████████████ 3",
      "of the examples' means:",
      "0.500 to 0.521 ████████████████████ 2",
      "0.521 to 0.542 0",
      "0.542 to 0.562 0",
      "0.562 to 0.583 0",
      "0.583 to 0.604 0",
      "0.604 to 0.625 0",
      "0.625 to 0.646 0",
      "0.646 to 0.667 ██████████ 1",
    ]);
  });

  it("leaves the example out where that is asked for, and words the settings it is given", () => {
    const report = new PlainReport({ ...HEADER, settings: ["sampling: temperature=0.5"] });
    report.addRow(row(0, 1));
    const [whole, short] = [report.lines(80), report.lines(80, true)];
    expect(whole).toContain("--- Example ---");
    expect(short.join("\n")).not.toMatch(/Example ---|│/);
    expect(short.length).toBeGreaterThan(10);
    expect(short[short.indexOf("Summary:") + 1]).toBe("sampling: temperature=0.5");
  });

  it("lists values attempt by attempt only where they say something, or where all is asked for", () => {
    const rows = [
      row(0, 1, { metrics: { correct: 1, num_turns: 1, length: 7 } }),
      row(0, 0, { metrics: { correct: 0, num_turns: 1, length: 3 } }),
      row(1, 1, { metrics: { correct: 1, num_turns: 1, length: 4 } }),
      row(1, 1, { metrics: { correct: 1, num_turns: 1, length: 5 } }),
    ];
    const listsOf = (verbose: boolean): string[] => reportOf(rows, { verbose }).filter((line) => /^r\d+: /.test(line));
    expect(listsOf(false)).toEqual(["r1: [1.0, 1.0]", "r2: [0.0, 1.0]", "r1: [7.0, 4.0]", "r2: [3.0, 5.0]"]);
    expect(listsOf(true)).toHaveLength(8);
    expect(reportOf([row(0, 1), row(1, 1)], { verbose: false, rollouts_per_example: 1 }).filter((line) => line.startsWith("r1"))).toEqual([]);
  });

  it("says how long it took, where that is known", () => {
    expect(reportOf([row(0, 1)], { seconds: 63 })).toContain("time: 1m 3s");
    expect(reportOf([row(0, 1)], { seconds: null }).join("\n")).not.toContain("time:");
  });

  // Cases of tests/test_eval_utils.py.
  it.each([
    [1, [[0.1], [0.2], [0.3]], ["r1: [0.1, 0.2, 0.3]"]],
    [
      2,
      [
        [0.1, 0.2],
        [0.3, 0.4],
        [0.5, 0.6],
      ],
      ["r1: [0.1, 0.3, 0.5]", "r2: [0.2, 0.4, 0.6]"],
    ],
    [
      3,
      [
        [0.1, 0.2, 0.3],
        [0.4, 0.5, 0.6],
      ],
      ["r1: [0.1, 0.4]", "r2: [0.2, 0.5]", "r3: [0.3, 0.6]"],
    ],
  ])("lists the rewards by rollout for %d rollouts per example", (rollouts_per_example, rewards, expected) => {
    const rows = rewards.flatMap((unit, id) => unit.map((reward) => row(id, reward)));
    expect(from(reportOf(rows, { rollouts_per_example }), "Rewards:").slice(2, 2 + expected.length)).toEqual(expected);
  });

  it("does not break on no rows", () => {
    expect(reportOf([]).slice(-2)).toEqual(["Rollouts per example: 2", "No rollout has finished."]);
  });

  it("keeps the columns of examples aligned when a metric or a rollout is missing", () => {
    const lines = reportOf([
      row(0, 1, { metrics: { early: 1 } }),
      row(0, 0),
      row(1, 1, { metrics: { late: 7 } }),
      row(2, 0.5, { metrics: { late: 8 } }),
      row(2, 1, { metrics: { late: 9 } }),
    ]);
    expect(lines).toEqual(
      expect.arrayContaining([
        "r1: [1.0, 1.0, 0.5]",
        "r2: [0.0, -, 1.0]",
        "early: avg - 1.000, std - 0.000",
        "r1: [1.0, -, -]",
        "late: avg - 8.000, std - 0.816",
        "r1: [-, 7.0, 8.0]",
        "r2: [-, -, 9.0]",
      ]),
    );
    expect(lines).toContain("rollouts: 5 of 6");
    expect(lines).toContain("pass@k: 1=0.750, 2=1.000");
  });

  it("puts a rollout where its own index says", () => {
    const lines = reportOf([row(0, 0.25, { rollout_index: 1 }), row(1, 0.5, { rollout_index: 0 }), row(1, 0.75, { rollout_index: 1 })]);
    expect(lines).toEqual(expect.arrayContaining(["r1: [-, 0.5]", "r2: [0.25, 0.75]"]));
  });

  it("does not break on rows of older files, without timing, metrics, task or example", () => {
    const lines = reportOf([{ reward: 1 }, { reward: 0 }, { reward: 1 }, { reward: 1 }]);
    expect(lines).toEqual(expect.arrayContaining(["reward: avg - 0.750, std - 0.433", "r1: [1.0, 1.0]", "r2: [0.0, 1.0]", "stop_conditions: None: 1.000"]));
    expect(lines).not.toContain("Timing:");
    expect(lines).not.toContain("Usage:");
  });

  it("repeats its blocks per task when there are several, first seen first", () => {
    const lines = reportOf([row(0, 1, { task: "b" }), row(1, 0, { task: "a" }), row(2, 0.5, { task: "b" })], { rollouts_per_example: 1 });
    const b = lines.indexOf("--- b ---");
    const a = lines.indexOf("--- a ---");
    expect(lines[b - 1]).toBe("");
    expect(lines.slice(b + 1, b + 4)).toEqual(["Rewards:", "reward: avg - 0.750, std - 0.250", "r1: [1.0, 0.5]"]);
    expect(lines.slice(a + 1, a + 4)).toEqual(["Rewards:", "reward: avg - 0.000, std - 0.000", "r1: [0.0]"]);
    expect(a).toBeGreaterThan(b);
    expect(lines.filter((line) => line === "Timing:")).toHaveLength(3);
    expect(reportOf([row(0, 1, { task: "b" })]).some((line) => line === "--- b ---")).toBe(false);
    const routes = ["b", ["a", "inner"], "b", null];
    const newer = reportOf(
      routes.map((env_id, id) => row(id, 1, { task: undefined, info: { env_id } })),
      { rollouts_per_example: 1 },
    );
    expect(newer.filter((line) => /^--- (b|a.inner|default) ---$/.test(line))).toEqual(["--- b ---", "--- a/inner ---", "--- default ---"]);
  });

  it("says why there is no interval", () => {
    expect(reportOf([row(0, 1), row(0, 0)])).toContain("reward 95% interval: unknown (fewer than two examples)");
    expect(reportOf([row(0, 0.3), row(1, 0.3)])).toContain("reward 95% interval: unknown (all examples have the same mean reward)");
    expect(reportOf([row(0, 1), row(1, 1)], { rollouts_per_example: 1 })).toContain("reward 95% interval: 0.342 to 1.000 (over 2 examples)");
  });

  it("lists error codes from the most frequent on", () => {
    const failed = (code: string): Row => ({ error: { ...failure, code } });
    const lines = from(
      reportOf([row(0, 0, failed("timeout")), row(0, 0, failed("rate_limited")), row(1, 0, failed("rate_limited")), row(1, 0, failed("rate_limited"))]),
      "Summary:",
    );
    expect(lines.slice(1, 6)).toEqual([
      "rollouts: 4 of 6",
      "errored rollouts: 1.000 (4 of 4)",
      " - rate_limited: 0.750 (3 of 4)",
      " - timeout: 0.250 (1 of 4)",
      "reward: none (every rollout ended in an error)",
    ]);
  });

  it("has no score, rate or interval where nothing was scored, but what reward functions gave beside one that failed", () => {
    const failed = (code: string): Row => ({ error: { ...failure, code }, metrics: { own: 0.5 } });
    for (const code of ["connection_failed", "scorer_error"]) {
      const lines = reportOf([row(0, 0, failed(code)), row(0, 0, failed(code)), row(1, 0, failed(code)), row(1, 0, failed(code))]);
      expect(lines.filter((line) => line.startsWith("reward: "))).toEqual(Array(2).fill("reward: none (every rollout ended in an error)"));
      expect(lines.filter((line) => /interval|pass|distribution/.test(line))).toEqual([]);
      expect(lines.some((line) => line.startsWith("own: avg"))).toBe(code === "scorer_error");
    }
  });

  it("has none either of a part of the run in which nothing was scored", () => {
    const failed = { error: { ...failure, code: "connection_failed" } };
    const level = (name: string) => ({ info: { level: name } });
    const lines = reportOf([...[0, 1, 2].map((id) => row(id, 0, { ...failed, ...level("hard") })), ...[3, 4, 5].map((id) => row(id, 1, level("easy")))], {
      rollouts_per_example: 1,
      num_examples: 6,
      by: "level",
    });
    expect(lines.slice(lines.indexOf("reward by level:") + 2).slice(0, 2)).toEqual([
      "easy          3         3           1.000  0.439 to 1.000",
      "hard          3         3       3    none  -",
    ]);
  });

  it("stays short for a run of any size", () => {
    const report = new PlainReport({ ...HEADER, rollouts_per_example: 40, num_examples: 500 });
    for (let id = 0; id < 500; id++)
      for (let i = 0; i < 40; i++) report.addRow(row(id, 1, { task: `t${id % 100}`, stop_condition: `s${id}`, metrics: { m: i } }));
    const lines = report.lines();
    expect(lines.length).toBeLessThan((SHOWN_TASKS + 1) * (2 * SHOWN_ROLLOUTS + 20) + 40);
    const first = lines.find((line) => line.startsWith("r1: ")) ?? "";
    expect(first.split(", ")).toHaveLength(SHOWN_EXAMPLES);
    expect(first.endsWith("1.0 … (500 values)]")).toBe(true);
    expect(lines).toContain(`… (${40 - SHOWN_ROLLOUTS} more rollouts per example)`);
    expect(lines).toContain("… (16000 of 20000 rows belong to further tasks)");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2_000);
  });
});

describe("the example of a report", () => {
  const tableOf = (entry: Row, width = 80): string[] => {
    const lines = reportOf([entry], {}, width);
    return lines.slice(lines.indexOf("--- Example ---") + 1, lines.indexOf("--- All ---"));
  };

  it.each([20, 40, 61, 80, 120, 400])("fits a terminal of %d columns", (width) => {
    const lines = tableOf(
      row(0, -12.5, { prompt: [{ role: "user", content: "漢字 and a word_that_is_longer_than_any_cell_of_the_table_could_ever_be ".repeat(400) }] }),
      width,
    );
    const expected = Math.min(160, Math.max(40, width));
    for (const line of lines) expect(textWidth(line)).toBe(expected);
    expect(lines.length).toBeLessThan(30);
  });

  it("shows both ends of what is too long, and the error after the completion", () => {
    const completion = [{ role: "assistant", content: `start ${"word ".repeat(100_000)} end` }];
    const text = tableOf(row(0, 0, { completion, error: failure }), 160).join("\n");
    expect(text).toContain("start");
    expect(text).toContain("end");
    expect(text).toMatch(/… \d+ lines …/);
    expect(text).toContain("error: ModelError() -> RateLimitError('slow down')");
  });

  it("shows turns, reasoning, tool calls and parts", () => {
    const completion = [
      { role: "assistant", content: "", reasoning_content: "let me see", tool_calls: ['{"id": "c1", "name": "add", "arguments": "{}"}'] },
      {
        role: "tool",
        tool_call_id: "c1",
        content: [
          { type: "text", text: "two" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
    ];
    const text = tableOf(row(0, 0, { prompt: "plain text", completion }), 160).join("\n");
    for (const part of ["plain text", "[reasoning]", "let me see", "[tool call]", '"name": "add"', "tool: two [image_url]"]) expect(text).toContain(part);
    expect(text).not.toContain("base64");
  });

  it("does not let a model write to the terminal", () => {
    const lines = tableOf(row(0, 0, { completion: [{ role: "assistant", content: "a\u001b[2Jb\u001b]0;pwned\u0007c\u0007" }] }));
    expect(lines.join("")).toContain("assistant: abc");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  it("does not break on a row without prompt and completion", () => {
    expect(tableOf(row(0, 0, { prompt: null, completion: null }))).toHaveLength(5);
  });

  it("gives no pass@k and no interval where attempts are not grouped as they were made, and says why", () => {
    const rows = [0, 1, 2].flatMap((id) => [row(id, 1), row(id, 0)]);
    const text = reportOf(rows, { grouping_problem: groupingProblem(3) }).join("\n");
    expect(text).not.toMatch(/pass[@^]k:/);
    expect(text).toContain(
      "reward 95% interval: none (3 rollouts have other prompts than the first of their example, so attempts are not grouped as they were made",
    );
    expect(reportOf(rows).join("\n")).toMatch(/pass@k: 1=0\.500/);
  });

  it("tells what judges took apart from the model's tokens", () => {
    const judge_usage = { requests: 1200, input_tokens: 80, output_tokens: 3 };
    expect(reportOf([row(0, 1, { judge_usage }), row(0, 0)])).toContain("judges: 1,200 requests, 80 tokens input, 3 output");
    expect(reportOf([row(0, 1), row(0, 0)]).filter((line) => line.startsWith("judges"))).toEqual([]);
  });

  it("keeps the interval within what rewards can be", () => {
    const rows = [0, 1, 2].flatMap((id) => [row(id, 1), row(id, id === 2 ? 0.5 : 1)]);
    const interval = (header: Partial<ReportHeader>): string => reportOf(rows, header).find((line) => line.startsWith("reward 95% interval")) ?? "";
    expect(interval({})).toMatch(/^reward 95% interval: 0\.\d+ to 1\.000 \(over 3 examples/);
    expect(interval({ reward_range: [0, 1.1] })).toMatch(/ to 1\.100 /);
  });
});
