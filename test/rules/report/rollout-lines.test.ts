import { describe, expect, it } from "vitest";
import { ToolMonitor } from "../../../src/environments/kinds/monitors.ts";
import { type RolloutFacts, rolloutLines } from "../../../src/report/rollout-lines.ts";
import { readOutput } from "../../../src/rollouts/rows/output.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { RubricGroup } from "../../../src/rubrics/rubric-group.ts";

const ROW = {
  example_id: 3,
  prompt: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "What is a gnu?" },
  ],
  completion: [
    { role: "assistant", content: "", tool_calls: ['{"id": "c1", "name": "look_up", "arguments": "{\\"word\\": \\"gnu\\"}"}'] },
    { role: "tool", tool_call_id: "c1", content: "an antelope\u001b[2J" },
    { role: "assistant", content: "An antelope.", reasoning_content: "It said so." },
  ],
  answer: "antelope",
  reward: 0.75,
  error: null,
  timing: { generation_ms: 2_000, scoring_ms: 5, total_ms: 2_005, start_time: 0 },
  stop_condition: "no_tools_called",
  is_truncated: true,
  metrics: { named: 1, short: 0.5, num_turns: 2, odd: 7 },
  token_usage: { input_tokens: 30, output_tokens: 9 },
};

const linesOf = (changes: Partial<RolloutFacts> = {}, row: object = {}): string[] =>
  rolloutLines({
    row: readOutput({ ...ROW, ...row }),
    turns: [
      { seconds: 1.5, input_tokens: 10, output_tokens: 4 },
      { seconds: null, input_tokens: null, output_tokens: null },
    ],
    weights: { named: 1, short: -0.5, num_turns: 0, unscored: 2 },
    printed: ["INFO [env] looked up\nRun COMPLETED"],
    limit: 100,
    ...changes,
  });

const titles = (lines: readonly string[]): string[] => lines.flatMap((line) => /^── (.*?) ─+$/.exec(line)?.[1] ?? []);

describe("a rollout, message by message", () => {
  it("has every message in its order, with turns, tool calls, reasoning and what each turn took", () => {
    const lines = linesOf();
    expect(titles(lines)).toEqual([
      "system",
      "user",
      "assistant · turn 1 · 2s · 10 + 4 tokens",
      "tool look_up",
      "assistant · turn 2",
      "end",
      "printed by the environment",
      "scores",
    ]);
    expect(lines).toContain('→ look_up({"word": "gnu"})');
    expect(lines).toContain("It said so.");
    expect(lines).toContain("stop condition: no_tools_called · cut off · 30 + 9 tokens · generation 2s · scoring 5ms");
    expect(lines).toContain("INFO [env] looked up\\nRun COMPLETED");
  });

  it("tells the times of a row that has spans in seconds", () => {
    const timing = { start_time: 0, generation: { start: 1, end: 3, duration: 2 }, scoring: { start: 3, end: 3.005, duration: 0.005 }, total: 2.005 };
    expect(linesOf({}, { timing })).toContain("stop condition: no_tools_called · cut off · 30 + 9 tokens · generation 2s · scoring 5ms");
  });

  it("shows of every function value, weight and what it adds, and does not guess a weight", () => {
    const lines = linesOf();
    const scores = lines.slice(lines.findIndex((line) => line.startsWith("── scores")) + 1).map((line) => line.replace(/ +/g, " "));
    expect(scores).toEqual([
      "named 1 × 1 = 1",
      "short 0.5000 × -0.5000 = -0.2500",
      "unscored no score",
      "odd 7 weight not known",
      "num_turns 2 metric",
      "reward = 0.7500",
      "answer of the example: antelope",
    ]);
  });

  it("cuts long messages, says by how much, and shows them whole where that is asked for", () => {
    const completion = [{ role: "assistant", content: "y".repeat(5_000) }];
    expect(linesOf({}, { completion })).toContain("… 4,900 more characters (--full shows them)");
    expect(linesOf({ limit: null }, { completion })).toContain("y".repeat(5_000));
  });

  it("does nothing to the terminal, and ends with the error", () => {
    const error = {
      error: "ToolError",
      error_chain_repr: "ToolError('a\u001b]0;x\u0007b (my.ts:1:2)')",
      error_chain_str: "ToolError",
      code: "tool_call_error",
    };
    const lines = linesOf({}, { error, completion: [] });
    expect(titles(lines)).toContain("no answer");
    expect(lines.at(-1)).toBe("tool_call_error: ToolError('ab (my.ts:1:2)')");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
    for (const line of [...lines, ...linesOf()]) expect(line).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

describe("the weights of a rubric", () => {
  it("are those of its functions and monitors, without names of which one number says nothing", () => {
    const first = new Rubric([
      function a() {
        return 1;
      },
      { name: "b", fn: () => 1, weight: 0.5 },
    ]);
    const second = new Rubric([
      { name: "b", fn: () => 1 },
      { name: "c", fn: () => 1, weight: 0 },
    ]);
    expect(first.rewardWeights()).toEqual({ a: 1, b: 0.5 });
    expect(new RubricGroup([first, second, new ToolMonitor(() => ["x"])]).rewardWeights()).toEqual({ a: 1, c: 0, total_tool_calls: 0, x_calls: 0 });
  });
});
