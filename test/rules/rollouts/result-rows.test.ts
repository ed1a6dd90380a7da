import { describe, expect, it } from "vitest";
import { NO_CALLS } from "../../../src/metrics/cache-usage.ts";
import { CacheMeter } from "../../../src/rollouts/state/cache-meter.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { failureOfRollout, namedCause, rolloutFailure } from "../../../src/rollouts/failure.ts";
import { normaliseMessages } from "../../../src/rollouts/messages.ts";
import { MAX_RESULT_ROW_BYTES, reservedMetricNames, rowOf, summariseRow } from "../../../src/rollouts/rows/row.ts";
import { createState } from "../../../src/rollouts/state/state.ts";
import type { RolloutInput, State, TrajectoryStep, Usage } from "../../../src/rollouts/types.ts";
import { finalTokens } from "../../../src/rollouts/state/usage.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";

function finished(input: Partial<RolloutInput>, fields: Partial<State> = {}): State {
  const state = createState({ example_id: 0, prompt: [], task: "my-env", ...input }, { client: null, model: "m", samplingArgs: {}, tools: [], now: 0 });
  return Object.assign(state, { completion: [], is_completed: true, stop_condition: "max_turns_reached", reward: 0, metrics: {} }, fields);
}

const step = (prompt_tokens: number, completion_tokens: number): TrajectoryStep =>
  ({ response: { usage: { prompt_tokens, completion_tokens, total_tokens: 0, reasoning_tokens: 0 } } }) as TrajectoryStep;

const parsed = (state: State, stateColumns: string[] = [], rolloutIndex = 0): JsonObject =>
  JSON.parse(rowOf(state, { rolloutIndex, stateColumns }).line) as JsonObject;
const keys = (row: object): string[] => Object.keys(row);

describe("rows are those of verifiers", () => {
  it("single turn: key by key and in its order, with rollout_index after the metrics", () => {
    const expected =
      '{"example_id": 3, "prompt": [{"role": "system", "content": "Answer in XML."}, {"role": "user", "content": "2+2?"}], "completion": [{"role": "assistant", "content": "<answer>4</answer>"}], "answer": "4", "task": "my-env", "info": {"level": 1}, "reward": 1.0, "error": null, "timing": {"generation_ms": 412.5, "scoring_ms": 0.9, "total_ms": 413.4, "start_time": 1777000000.25}, "is_completed": true, "is_truncated": false, "stop_condition": "max_turns_reached", "metrics": {"correct": 1.0, "length": 18.0, "num_turns": 1.0}, "tool_defs": [], "token_usage": {"input_tokens": 21.0, "output_tokens": 9.0, "final_output_tokens": 9, "final_input_tokens": 21}, "correct": 1.0, "length": 18.0, "num_turns": 1.0, "rollout_index": 2}';
    const prompt = normaliseMessages([
      { role: "system", content: "Answer in XML." },
      { role: "user", content: "2+2?" },
    ]);
    const state = finished(
      { example_id: 3, prompt, answer: "4", info: { level: 1 } },
      {
        completion: [{ role: "assistant", content: "<answer>4</answer>" }],
        reward: 1,
        metrics: { correct: 1, length: 18, num_turns: 1 },
        timing: { generation_ms: 412.5, scoring_ms: 0.9, total_ms: 413.4, start_time: 1777000000.25 },
        usage: { input_tokens: 21, output_tokens: 9 },
        trajectory: [step(21, 9)],
      },
    );
    const row = parsed(state, [], 2);
    // Byte by byte, but for the spaces that Python writes after commas and colons.
    expect(rowOf(state, { rolloutIndex: 2, stateColumns: [] }).line).toBe(expected.replaceAll(', "', ',"').replaceAll('": ', '":').replaceAll("}, {", "},{"));
    expect(row).toEqual(JSON.parse(expected));
    expect(keys(row)).toEqual(keys(JSON.parse(expected)));
    expect(keys(row.token_usage as object)).toEqual(["input_tokens", "output_tokens", "final_output_tokens", "final_input_tokens"]);
  });

  it("tools: calls as JSON texts in Python's form, content null as an empty text, definitions without nulls", () => {
    const tool = { name: "add", description: "Add one.", parameters: { type: "object" }, strict: null };
    const completion = normaliseMessages([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", name: "café 😀", arguments: '{"a":1}' }],
        reasoning_content: "hm",
        thinking_blocks: [{}],
      },
      { role: "tool", tool_call_id: "call_1", content: "2" },
      { role: "assistant", content: "done", reasoning_content: "short thought", tool_calls: null },
    ]);
    const row = parsed(finished({}, { completion, tool_defs: [tool] }));
    expect(row.completion).toEqual([
      {
        role: "assistant",
        content: "",
        tool_calls: ['{"id": "call_1", "name": "caf\\u00e9 \\ud83d\\ude00", "arguments": "{\\"a\\":1}"}'],
        reasoning_content: "hm",
      },
      { role: "tool", content: "2", tool_call_id: "call_1" },
      { role: "assistant", content: "done", reasoning_content: "short thought" },
    ]);
    expect(Object.keys((row.completion as object[])[1] ?? {})).toEqual(["role", "tool_call_id", "content"]);
    expect(row.tool_defs).toEqual([{ name: "add", description: "Add one.", parameters: { type: "object" } }]);
  });

  it("errors: the chain in Python's form, our code last, the two chain keys before the metrics", () => {
    const cause = namedCause("APIConnectionError", "Connection error: 'x'");
    const error = failureOfRollout(new EdgewiseError("connection_failed", "no route", { cause }));
    const row = parsed(finished({}, { error, stop_condition: "has_error", metrics: { ok: 0, num_turns: 0 } }));
    expect(row.error).toEqual({
      error: "ModelError",
      error_chain_repr: `ModelError('no route') -> APIConnectionError("Connection error: 'x'")`,
      error_chain_str: "ModelError -> APIConnectionError",
      code: "connection_failed",
    });
    expect(keys(row.error as object).at(-1)).toBe("code");
    expect(keys(row).slice(-6)).toEqual(["tool_defs", "error_chain", "long_error_chain", "ok", "num_turns", "rollout_index"]);
    expect([row.error_chain, row.long_error_chain]).toEqual([(row.error as JsonObject).error_chain_repr, "ModelError -> APIConnectionError"]);
  });

  it("leaves out what is empty, and token_usage when no call reported any", () => {
    for (const empty of [{}, { answer: "", info: {} }]) {
      const row = parsed(finished(empty));
      for (const key of ["answer", "info", "token_usage", "error_chain"]) expect(row).not.toHaveProperty(key);
    }
    expect(parsed(finished({ answer: "0", info: { a: null } }))).toMatchObject({ answer: "0", info: { a: null } });
  });

  it("rewrites list contents part by part", () => {
    const content = [
      { type: "text", text: "see", cache: true },
      { type: "image_url", image_url: "data:image/png;base64,AA" },
      { type: "image_url", image_url: {} },
      { type: "input_audio", input_audio: { data: "A A\n=", format: " WAV " } },
      { type: "audio", audio: {} },
      { type: "file", id: 7 },
    ];
    const [message] = parsed(finished({ prompt: normaliseMessages([{ role: "user", content, extra: 1, name: "bob" }]) })).prompt as JsonObject[];
    expect(message).toEqual({
      role: "user",
      content: [
        { type: "text", text: "see" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
        { type: "input_audio", input_audio: { data: "AA=", format: "wav" } },
        { type: "text", text: "[audio]" },
        { type: "file", id: 7 },
      ],
      name: "bob",
    });
  });

  it("stands on one line for every line reader, and comes back as it was", () => {
    const text = "a\u2028b\u2029c\u0085d\ne \ud800 😀";
    const { line } = rowOf(finished({ answer: text }), { rolloutIndex: 0, stateColumns: [] });
    expect(line).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
    expect((JSON.parse(line) as JsonObject).answer).toBe(text);
  });
});

describe("state columns", () => {
  it("come last, in the given order; a missing one is null, and none replaces what the row has", () => {
    const state = finished(
      {},
      { metrics: { num_turns: 1 }, board: [[1], { a: null }], when: new Date(0), wrong: new TypeError("bad"), map: new Map([["k", 1]]), error: null },
    );
    const row = parsed(state, ["wrong", "board", "missing", "when", "map", "num_turns", "reward"]);
    expect(keys(row).slice(-7)).toEqual(["num_turns", "rollout_index", "wrong", "board", "missing", "when", "map"]);
    expect(row).toMatchObject({
      board: [[1], { a: null }],
      missing: null,
      when: "1970-01-01T00:00:00.000Z",
      wrong: "TypeError: bad",
      map: { k: 1 },
      num_turns: 1,
      reward: 0,
    });
  });

  it.each([
    ["a function", () => 1, /it holds a function/],
    ["NaN", { deep: [Number.NaN] }, /it holds NaN/],
    ["a BigInt", 1n, /it holds a bigint/],
    ["an object of a class", new Set(), /it holds a Set/],
    [
      "a cycle",
      (() => {
        const a: { a?: unknown } = {};
        a.a = a;
        return a;
      })(),
      /contains itself/,
    ],
  ])("that hold %s are an error that names the column", (_what, value, message) => {
    const row = parsed(finished({}, { bad: value }), ["bad"]);
    expect(row).toMatchObject({ bad: null, error: { code: "environment_error", error_chain_repr: expect.stringMatching(/the state column "bad"/) } });
    expect((row.error as JsonObject).error_chain_repr).toMatch(message);
  });
});

describe("a row that is too large", () => {
  const huge = "x".repeat(MAX_RESULT_ROW_BYTES);

  it("loses its completion, keeps its prompt and its score, and says so", () => {
    const state = finished(
      { prompt: [{ role: "user", content: "q" }] },
      { completion: [{ role: "assistant", content: huge }], reward: 0.5, metrics: { ok: 0.5 } },
    );
    const { line, row } = rowOf(state, { rolloutIndex: 0, stateColumns: [] });
    expect(line.length).toBeLessThan(2_000);
    expect(JSON.parse(line)).toMatchObject({
      completion: null,
      prompt: [{ content: "q" }],
      reward: 0.5,
      ok: 0.5,
      error: { code: "row_too_large", error: "RowTooLargeError" },
    });
    expect(summariseRow(row)).toMatchObject({ error: "row_too_large", reward: 0.5 });
    expect(line).toContain("larger than 1536 KiB and was written without its completion");
  });

  it("loses everything without bound when that is not enough, and keeps an error it had", () => {
    const error = rolloutFailure("rate_limited", "later");
    const row = parsed(finished({ prompt: [{ role: "user", content: huge }], answer: "42" }, { error, board: huge }), ["board"]);
    expect(row).toMatchObject({ prompt: null, completion: null, board: null, error: { code: "rate_limited" } });
    expect(row).not.toHaveProperty("answer");
  });

  it("is measured in bytes, not characters", () => {
    const wide = "€".repeat(MAX_RESULT_ROW_BYTES / 2.5);
    expect(parsed(finished({ answer: "a".repeat(wide.length) }))).toMatchObject({ error: null });
    expect(parsed(finished({ answer: wide }))).toMatchObject({ error: { code: "row_too_large" } });
  });
});

describe("numbers of a row", () => {
  it("are what its summary says, after a round trip through the file", () => {
    const state = finished(
      {},
      {
        reward: 0.25,
        metrics: { a: 1, b: -0.5 },
        is_truncated: true,
        usage: { input_tokens: 450, output_tokens: 75 },
        trajectory: [step(100, 20), step(150, 25), step(200, 30)],
        error: rolloutFailure("empty_response", "nothing"),
      },
    );
    const { row, line } = rowOf(state, { rolloutIndex: 1, stateColumns: [] });
    expect(summariseRow(row)).toEqual(summariseRow(JSON.parse(line) as JsonObject));
    expect(summariseRow(row)).toMatchObject({
      reward: 0.25,
      error: "empty_response",
      input_tokens: 450,
      output_tokens: 75,
      truncated: true,
      metrics: { a: 1, b: -0.5 },
    });
  });

  it("final tokens: fixtures of the reference", () => {
    expect(finalTokens([step(100, 20), step(150, 25), step(200, 30)])).toEqual({ final_input_tokens: 155, final_output_tokens: 75 });
    expect(finalTokens([step(500, 100), step(100, 20)])).toEqual({ final_input_tokens: 0, final_output_tokens: 120 });
    expect(finalTokens([])).toEqual({ final_input_tokens: 0, final_output_tokens: 0 });
  });

  it("metrics may not be called like a standard field", () => {
    expect(reservedMetricNames(["correct", "reward", "error", "num_turns", "rollout_index", "__proto__", "info"])).toEqual([
      "reward",
      "error",
      "rollout_index",
      "__proto__",
      "info",
    ]);
    const standard = keys(
      parsed(finished({ answer: "1", info: { a: 1 } }, { usage: { input_tokens: 1, output_tokens: 1 }, error: rolloutFailure("timeout", "") })),
    );
    expect(reservedMetricNames(standard)).toEqual(standard);
  });
});

describe("how calls were answered", () => {
  it("stands behind what judges took, and comes back in the summary; a run without the cache says nothing of it", () => {
    const cache = { calls: 2, cached: 1, input_tokens: 80, output_tokens: 3, judges: { calls: 1, cached: 1, input_tokens: 5, output_tokens: 1 } };
    const judges = { requests: 1, input_tokens: 5, output_tokens: 1 };
    const options = { rolloutIndex: 1, stateColumns: [] };
    const { row, line } = rowOf(finished({}, { metrics: { ok: 1 } }), { ...options, judges, cache });
    expect(line).toMatch(
      /"judge_usage":\{[^}]*\},"cache_usage":\{"calls":2,"cached":1,"input_tokens":80,"output_tokens":3,"judges":\{"calls":1,"cached":1,"input_tokens":5,"output_tokens":1\}\}\}$/,
    );
    expect(summariseRow(row).cache).toEqual(cache);
    const without = rowOf(finished({}, { metrics: { ok: 1 } }), { ...options, judges });
    expect(line.replace(/,"cache_usage":.*$/, "}")).toBe(without.line);
    expect(reservedMetricNames(["cache_usage"])).toEqual(["cache_usage"]);
  });

  it("is counted for the rollout whose state a call named, else for the one that is written next", () => {
    const meter = new CacheMeter();
    const usage = { prompt_tokens: 10, completion_tokens: 2, reasoning_tokens: 0, total_tokens: 12 };
    const [first, second] = [finished({}), finished({})];
    for (const [state, role] of [
      [first, "model"],
      [second, "model"],
      [second, "judges"],
      [{ example_id: 0 }, "model"],
    ] as const)
      meter.answered(state, role);
    meter.tookKept(first, "model", usage);
    meter.tookKept(second, "judges", usage);
    meter.tookKept({ example_id: 0 }, "model", null);
    expect(meter.take(first)).toEqual({ calls: 2, cached: 2, input_tokens: 10, output_tokens: 2 });
    expect(meter.take(second)).toEqual({ ...NO_CALLS, calls: 1, judges: { calls: 1, cached: 1, input_tokens: 10, output_tokens: 2 } });
  });
});

describe("what judges took", () => {
  it("stands after the number of the attempt, in integers, and comes back in the summary", () => {
    const judges = { requests: 2, input_tokens: 80, output_tokens: 3 };
    const { row, line } = rowOf(finished({}, { metrics: { ok: 1 } }), { rolloutIndex: 1, stateColumns: [], judges });
    expect(line).toMatch(/"rollout_index":1,"judge_usage":\{"requests":2,"input_tokens":80,"output_tokens":3\}\}$/);
    expect(summariseRow(row).judges).toEqual(judges);
    const unasked = rowOf(finished({}), { rolloutIndex: 0, stateColumns: [], judges: { requests: 0, input_tokens: 0, output_tokens: 0 } });
    expect(unasked.row.judge_usage).toBeDefined();
    expect(summariseRow(unasked.row)).not.toHaveProperty("judges");
    expect(reservedMetricNames(["judge_usage"])).toEqual(["judge_usage"]);
  });
});

describe("what answers cost", () => {
  const price = { input_usd_per_mtok: 3, output_usd_per_mtok: 15, cached_input_usd_per_mtok: 0.3 };
  const answered = (usage: Usage | null): TrajectoryStep => ({ response: { usage, message: { content: "x", tool_calls: null } } }) as unknown as TrajectoryStep;
  const tokens = { prompt_tokens: 1_000, completion_tokens: 100, reasoning_tokens: 0, total_tokens: 1_100 };

  it("stands in front of what judges took, as floats, and comes back in the summary to the nano-dollar", () => {
    const judges = { requests: 3, input_tokens: 80, output_tokens: 3, priced: { requests: 2, input_nano: 1_500, output_nano: 0 } };
    const usage = { input_tokens: 1_000, output_tokens: 100, billed: { input_tokens: 1_000, output_tokens: 100, cached_input_tokens: 900 } };
    const { row, line } = rowOf(finished({}, { usage }), { rolloutIndex: 1, stateColumns: [], price, judges });
    // 100 at $3, 900 at $0.30 and 100 at $15 a million.
    expect(line).toContain('"rollout_index":1,"usage_cost":{"input_usd":0.00057,"output_usd":0.0015,"total_usd":0.00207},"judge_usage":');
    expect(line).toMatch(
      /"judge_usage":\{"requests":3,"input_tokens":80,"output_tokens":3,"cost":\{"requests":2,"input_usd":0.0000015,"output_usd":0.0,"total_usd":0.0000015\}\}\}$/,
    );
    expect(summariseRow(JSON.parse(line))).toMatchObject({ cost: { input_nano: 570_000, output_nano: 1_500_000 }, judges });
    expect(row.token_usage).toEqual({ input_tokens: 1_000, output_tokens: 100 });
  });

  it("stands in no row where there is no price: that is the row of before, byte for byte", () => {
    const state = finished({}, { usage: { input_tokens: 1_000, output_tokens: 100, billed: { input_tokens: 1_000, output_tokens: 300 } } });
    const plain = rowOf(finished({}, { usage: { input_tokens: 1_000, output_tokens: 100 } }), { rolloutIndex: 0, stateColumns: [] }).line;
    for (const none of [undefined, null]) expect(rowOf(state, { rolloutIndex: 0, stateColumns: [], price: none }).line).toBe(plain);
    expect(plain).not.toContain("cost");
  });

  it("is nothing where nothing was answered, and unknown where an answer does not say what it took", () => {
    const costOfRow = (more: Partial<State>) => rowOf(finished({}, more), { rolloutIndex: 0, stateColumns: [], price }).row.usage_cost;
    expect(costOfRow({ usage: null, trajectory: [] })).toEqual({ input_usd: 0, output_usd: 0, total_usd: 0 });
    expect(costOfRow({ usage: null, trajectory: [answered(null)] })).toBeUndefined();
    const usage = { input_tokens: 1_000, output_tokens: 100 };
    expect(costOfRow({ usage, trajectory: [answered(tokens), answered(null)] })).toBeUndefined();
    const refused = { response: { usage: null, message: { content: null } } } as unknown as TrajectoryStep;
    expect(costOfRow({ usage, trajectory: [answered(tokens), refused] })).toMatchObject({ total_usd: 0.0045 });
  });

  it("is no name for a metric", () => {
    expect(reservedMetricNames(["usage_cost", "cost"])).toEqual(["usage_cost"]);
  });
});

describe("floats are written as floats", () => {
  const lineOf = (state: State, stateColumns: string[] = [], shape?: "0.1.14"): string => rowOf(state, { rolloutIndex: 0, stateColumns, shape }).line;

  it("in both shapes of the times", () => {
    const timing = { generation_ms: 400, scoring_ms: 0, total_ms: 400, start_time: 1777000000 };
    expect(lineOf(finished({}, { timing }))).toContain('"timing":{"generation_ms":400.0,"scoring_ms":0.0,"total_ms":400.0,"start_time":1777000000.0}');
    const nested = lineOf(finished({}, { timing }), [], "0.1.14");
    expect(nested).toContain('"timing":{"start_time":1777000000.0,"setup":{"start":0.0,"end":0.0,"duration":0.0}');
    expect(nested).toContain('"env":{"spans":[],"duration":0.0},"total":0.4');
  });

  it("in numbers that are state columns, and in the scores of a trajectory, whose tokens are integers", () => {
    const trajectory = [{ reward: 1, advantage: 0, tokens: { prompt_ids: [1, 2], completion_logprobs: [0, -0.5] } }];
    const line = lineOf(finished({}, { advantage: 0, deck: { cards: 52 }, bonus: 2, trajectory: trajectory as unknown as TrajectoryStep[] }), [
      "advantage",
      "bonus",
      "deck",
      "trajectory",
    ]);
    expect(line).toMatch(
      /"rollout_index":0,"advantage":0\.0,"bonus":2\.0,"deck":\{"cards":52\},"trajectory":\[\{"reward":1\.0,"advantage":0\.0,"tokens":\{"prompt_ids":\[1,2\],"completion_logprobs":\[0\.0,-0\.5\]\}\}\]\}$/,
    );
  });

  it("but not in what the data set has, nor in ids", () => {
    const line = lineOf(finished({ example_id: 7, answer: 4, info: { level: 1 } }));
    expect(line).toContain('{"example_id":7,');
    expect(line).toContain('"answer":4,');
    expect(line).toContain('"info":{"level":1}');
  });

  it.each([
    [1e21, "1e+21"],
    [123456789012345680000, "123456789012345680000.0"],
    [-0, "-0.0"],
    [1e-7, "1e-7"],
    [-2, "-2.0"],
  ])("%d as %s, which every reader takes for a float", (reward, text) => {
    expect(lineOf(finished({}, { reward }))).toContain(`"reward":${text},`);
  });
});
