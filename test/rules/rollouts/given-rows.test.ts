import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";
import { freshRow } from "../../../src/environments/unit/run-unit.ts";
import { scoreAgain } from "../../../src/environments/unit/score-again.ts";
import { readForeignRow } from "../../../src/rollouts/rows/foreign-row.ts";
import { rawFields } from "../../../src/rollouts/rows/raw-fields.ts";
import { MAX_RESULT_ROW_BYTES, reservedMetricNames, type RowOptions, rowOf, summariseRow } from "../../../src/rollouts/rows/row.ts";
import { keepState } from "../../../src/rollouts/kept/kept-state.ts";
import { type GivenStateOptions, stateOfGivenRow } from "../../../src/rollouts/state/given-state.ts";
import { TURNS_COLUMN } from "../../../src/rollouts/state/turns-column.ts";
import type { RolloutInput, State } from "../../../src/rollouts/types.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { testData } from "../../support/results/test-data.ts";

const input: RolloutInput = { example_id: 3, prompt: [{ role: "user", content: "2+2?" }], task: "my-env", answer: "4" };

const TIMING =
  '{"start_time": 1777000000.25, "setup": {"start": 1777000000.25, "end": 1777000000.5, "duration": 0.25}, "generation": {"start": 1777000000.5, "end": 1777000002.5, "duration": 2.0}, ' +
  '"scoring": {"start": 1777000002.5, "end": 1777000003.0, "duration": 0.5}, "model": {"spans": [{"start": 1777000000.5, "end": 1777000001.5, "duration": 1.0}], "duration": 1.0}, "env": {"spans": [], "duration": 0.0}, "total": 2.5, "overhead": 0.75}';
/** As verifiers 0.1.14 writes it: nested times, no task, words that no JSON has. */
const NEW =
  '{"example_id": 3, "prompt": [{"role": "user", "content": "2+2?"}], "completion": [{"role": "assistant", "content": "\\u00e9 4"}], "answer": "4", "reward": 0.50, "error": null, ' +
  `"timing": ${TIMING}, "is_completed": true, "is_truncated": true, "stop_condition": "max_turns_reached", "metrics": {"correct": 1e0, "odd": NaN, "num_turns": 1.0}, "tool_defs": [], ` +
  '"token_usage": {"input_tokens": 21.0, "output_tokens": 9.0, "final_output_tokens": 9, "final_input_tokens": 21}, "correct": 1e0, "odd": NaN, "num_turns": 1.0, "difficulty": "easy"}';
const failed = (error: string): string =>
  '{"example_id": 3, "prompt": [{"role": "user", "content": "2+2?"}], "completion": [], "reward": 0.0, ' +
  `"error": {"error": "${error}", "error_chain_repr": "${error}() -> APIConnectionError('Connection error.')", "error_chain_str": "${error} -> APIConnectionError"}, ` +
  `"timing": ${TIMING}, "is_completed": true, "is_truncated": false, "stop_condition": "has_error", "metrics": {}, "tool_defs": null, "error_chain": "${error}()", "long_error_chain": "${error}"}`;

const stateOf = (line: string, options: Partial<GivenStateOptions> = {}, of = input): State =>
  stateOfGivenRow(of, line, { client: null, model: "m", samplingArgs: { temperature: 1 }, ...options });
const written = (state: State, options: Partial<RowOptions> = {}) => rowOf(state, { rolloutIndex: 2, stateColumns: [], ...options });

describe("a row that came with its rollout", () => {
  it("is written as the other library wrote it, with what we add after its keys", () => {
    const { row, line } = written(stateOf(NEW), { envDigest: "v2:a", scoredAnew: true, judges: { requests: 1, input_tokens: 2, output_tokens: 3 } });
    const strict = NEW.replaceAll("NaN", "null");
    expect(line).toBe(
      `${strict.slice(0, -1)}, "rollout_index": 2, "env_digest": "v2:a", "judge_usage": {"requests":1,"input_tokens":2,"output_tokens":3}, "scored_anew": true}`,
    );
    expect(row).toEqual(JSON.parse(line));
  });

  it("is the same in every shape of rows that a run may have", () => {
    const usual = written(stateOf(NEW)).line;
    for (const shape of ["0.1.9", "0.1.13", "0.1.14"] as const) expect(written(stateOf(NEW), { shape }).line).toBe(usual);
  });

  it("says for the run what it says: reward, metrics, tokens, whether it was cut off", () => {
    expect(freshRow(stateOf(NEW), input, 2, { stateColumns: [] }).summary).toEqual({
      reward: 0.5,
      error: null,
      ...{ input_tokens: 21, output_tokens: 9, final_input_tokens: 21, final_output_tokens: 9 },
      truncated: true,
      metrics: { correct: 1, num_turns: 1 },
    });
  });

  it("keeps what is no number among its metrics, and has no score of it", () => {
    const line = NEW.replace('"correct": 1e0, "odd": NaN', '"verdict": "good", "passed": true');
    const { row } = written(stateOf(line));
    expect(row.metrics).toEqual({ verdict: "good", passed: true, num_turns: 1 });
    expect(freshRow(stateOf(line), input, 2, { stateColumns: [] }).summary.metrics).toEqual({ passed: 1, num_turns: 1 });
  });

  it("makes a state with its times in our units, its stop condition and its tokens", () => {
    const state = stateOf(NEW);
    expect(state).toMatchObject({ reward: 0.5, metrics: { correct: 1, num_turns: 1 }, error: null, is_completed: true, is_truncated: true });
    expect(state).toMatchObject({ stop_condition: "max_turns_reached", usage: { input_tokens: 21, output_tokens: 9 }, sampling_args: { temperature: 1 } });
    expect(state.timing).toEqual({ start_time: 1777000000.25, generation_ms: 2_000, scoring_ms: 500, total_ms: 2_500 });
    expect(stateOf(NEW.replace("max_turns_reached", "prompt_too_long")).prompt_too_long).toBe(true);
    expect(stateOf(NEW.replace("max_turns_reached", "timeout_reached")).timed_out).toBe(true);
  });

  it("says what each model call took where the run asks for that, as far as its times go", () => {
    const { row } = written(stateOf(NEW), { stateColumns: [TURNS_COLUMN] });
    expect(row[TURNS_COLUMN]).toEqual([{ seconds: 1, input_tokens: null, output_tokens: null }]);
  });

  it("is of the example that was asked for, whatever it says, and of no other rollout", () => {
    const { row, line } = written(stateOf(NEW.replace('"difficulty"', '"rollout_index": 7, "difficulty"'), {}, { ...input, example_id: 40 }));
    expect(row).toMatchObject({ example_id: 40, rollout_index: 2 });
    expect(line.startsWith('{"example_id": 40, "prompt": ')).toBe(true);
    expect(Object.keys(row).slice(-2)).toEqual(["difficulty", "rollout_index"]);
  });

  it("is one line, for every reader of lines", () => {
    const { line } = written(stateOf(NEW.replace('"easy"', '"a\u2028b"').replaceAll(', "', ',\n "')));
    expect(line).not.toMatch(/[\r\n\u2028]/);
    expect(JSON.parse(line)).toMatchObject({ difficulty: "a\u2028b" });
  });

  it("is refused when it is none, with the field that is wrong", () => {
    expect(() => stateOf("[]")).toThrow(SyntaxError);
    expect(() => stateOf("{")).toThrow(SyntaxError);
    expect(() => stateOf(NEW.replace('"reward": 0.50', '"reward": "much"'))).toThrow(/reward .* no number/);
    expect(() => stateOf(NEW.replace('"completion": [', '"completion": [3, '))).toThrow(/completion .* no message/);
    expect(() => stateOf(NEW.replace('"max_turns_reached"', `"${"x".repeat(2_000)}"`))).toThrow(/stop_condition/);
  });

  it("is kept nowhere in pieces", () => {
    expect(keepState(stateOf(NEW), { input, tools: [] })).toMatchObject({ ok: false });
  });
});

describe("a metric that is called like the reward", () => {
  const own = NEW.replace('"correct": 1e0, "odd": NaN', '"reward": 0.50').replace('"correct": 1e0, "odd": NaN, ', "");

  it("has taken its place in the other library's row, and stays there", () => {
    expect(reservedMetricNames(["reward", "error"], true)).toEqual(["error"]);
    const { row, line } = written(stateOf(own));
    expect(line).toBe(`${own.slice(0, -1)}, "rollout_index": 2}`);
    expect(summariseRow(row)).toMatchObject({ reward: 0.5, metrics: { reward: 0.5, num_turns: 1 } });
  });
});

describe("the error of a given row", () => {
  it.each([
    ["ModelError", "provider_error"],
    ["EmptyModelResponseError", "empty_response"],
    ["SandboxError", "sandbox_error"],
    ["ToolParseError", "tool_parse_error"],
    ["ToolCallError", "tool_call_error"],
    ["KeyError", "environment_error"],
  ])("%s means %s, which its object says last", (name, code) => {
    const state = stateOf(failed(name));
    expect(state.error).toMatchObject({ code, message: expect.stringContaining("APIConnectionError"), chain: [{ name }] });
    const { row, line } = written(state);
    expect(Object.entries(row.error as object)).toEqual([...Object.entries((JSON.parse(failed(name)) as { error: object }).error), ["code", code]]);
    expect(line).toContain(`"error_chain_str": "${name} -> APIConnectionError", "code": "${code}"}`);
    expect(row).toMatchObject({ error_chain: `${name}()`, long_error_chain: name });
    expect(summariseRow(row).error).toBe(code);
  });

  it("of a tool that failed for its sandbox is the sandbox's, as it is of tools here", () => {
    expect(stateOf(failed("ToolCallError").replaceAll("APIConnectionError", "SandboxError")).error).toMatchObject({ code: "sandbox_error" });
  });

  it("means what whoever played it knows better", () => {
    const { row } = written(stateOf(failed("ModelError"), { code: "rate_limited" }));
    expect(summariseRow(row).error).toBe("rate_limited");
    expect(stateOf(NEW, { code: "rate_limited" }).error).toBeNull();
  });

  it("means what was made of it afterwards, in the words of the row", () => {
    const state = stateOf(failed("ModelError"), { code: "auth_failed" });
    if (state.error !== null) state.error = { ...state.error, code: "environment_error" };
    expect(written(state).row.error).toMatchObject({ error: "ModelError", code: "environment_error" });
  });

  it("is that of a scorer where the reward is no number: nothing becomes a score of 0 without a word", () => {
    const state = stateOf(NEW.replace('"reward": 0.50', '"reward": NaN'));
    expect(state.error).toMatchObject({ code: "scorer_error" });
    const { row } = written(state);
    expect(row).toMatchObject({ reward: 0, error: { error: "ScorerError", code: "scorer_error" } });
    expect(row.error_chain).toContain("not a finite number");
  });

  it("that is a text alone gets the form of the others", () => {
    const { row } = written(stateOf(NEW.replace('"error": null', '"error": "boom"')));
    expect(row.error).toMatchObject({ error: "EnvironmentError", code: "environment_error" });
    expect(row.error_chain).toContain("boom");
  });
});

describe("a given row that is too large", () => {
  const huge = "x".repeat(MAX_RESULT_ROW_BYTES);

  it("loses its completion first, and says so", () => {
    const { row, line } = written(stateOf(NEW.replace("\\u00e9 4", huge)));
    expect(row).toMatchObject({ completion: null, answer: "4", difficulty: "easy", reward: 0.5, correct: 1, error: { code: "row_too_large" } });
    expect(line.length).toBeLessThan(3_000);
    expect(Object.keys(row).slice(0, 5)).toEqual(["example_id", "prompt", "completion", "answer", "reward"]);
  });

  it("loses everything else that has no bound where that is not enough, and keeps its scores, times and tokens", () => {
    const { row, line } = written(stateOf(NEW.replace('"easy"', `"${huge}"`)));
    expect(row).toMatchObject({ prompt: null, completion: null, tool_defs: null, difficulty: null, reward: 0.5, correct: 1, num_turns: 1 });
    expect(row).not.toHaveProperty("answer");
    expect(line).toContain(`"timing": ${TIMING}`);
    expect(summariseRow(row)).toMatchObject({ reward: 0.5, input_tokens: 21, error: "row_too_large" });
  });

  it("keeps the beginning of an error that is too long, with its code", () => {
    const { row, line } = written(stateOf(failed("ModelError").replaceAll("Connection error.", huge)));
    expect(line.length).toBeLessThan(20_000);
    expect(row.error).toMatchObject({ error: "ModelError", code: "provider_error" });
  });
});

describe("scores that are made anew of a given row", () => {
  const better = new SingleTurnEnv({ dataset: async function* () {}, rubric: new Rubric([{ name: "correct", fn: () => 0.25 }]) });
  const common = { client: null, model: "m", sampling_args: {}, independent: false, stateColumns: [], signal: new AbortController().signal };

  it("take the place of the old ones, and every other field stays byte for byte", async () => {
    const kept = freshRow(stateOf(NEW.replaceAll(', "odd": NaN', "")), input, 0, { stateColumns: [] });
    const { rows } = await scoreAgain(inProcess(better), input, [kept], { ...common, deadlineMs: null, now: Date.now, sleep });
    const [before, after] = [kept.line, rows[0]?.line ?? ""].map((line) => new Map(rawFields(line)));
    for (const [name, text] of before ?? [])
      if (!["reward", "metrics", "correct", "timing", "num_turns"].includes(name)) expect(after?.get(name), name).toBe(text);
    expect([...(after?.keys() ?? [])]).toEqual([...(before?.keys() ?? [])]);
    expect(JSON.parse(rows[0]?.line ?? "")).toMatchObject({ reward: 0.25, metrics: { correct: 0.25 }, correct: 0.25 });
  });
});

const FOLDER = testData("verifiers-outputs");

describe.runIf(FOLDER !== null)("rows of the Python library", () => {
  it.each(FOLDER === null ? [] : readdirSync(FOLDER))("of %s are written with every byte of theirs, and count as they did", (name) => {
    const lines = readFileSync(join(FOLDER ?? "", name, "results.jsonl"), "utf8")
      .trimEnd()
      .split("\n");
    for (const [index, text] of lines.entries()) {
      const { value } = readForeignRow(text);
      const example_id = Number(value.example_id ?? index);
      const { row, line } = written(stateOf(text, {}, { ...input, example_id }), { rolloutIndex: index });
      const after = new Map(rawFields(line));
      for (const [field, raw] of rawFields(text)) expect(after.get(field), field).toBe(raw);
      expect([...after.keys()].filter((field) => !Object.hasOwn(value, field))).toEqual(
        Object.hasOwn(value, "example_id") ? ["rollout_index"] : ["example_id", "rollout_index"],
      );
      expect(summariseRow(row)).toEqual(summariseRow(value as JsonObject));
    }
  });
});
