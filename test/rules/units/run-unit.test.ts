import { describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { EnvironmentOptions } from "../../../src/environments/kinds/environment.ts";
import { loadEnvironment } from "../../../src/environments/definition/load.ts";
import { summariseRow } from "../../../src/rollouts/rows/row.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { Client, ModelResponse, RolloutInput, State } from "../../../src/rollouts/types.ts";
import { ROLLOUT_ERRORS, type RolloutErrorCode } from "../../../src/errors/codes.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { errorLines, runUnit, type UnitOptions, type UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { completion, cutMidBody, json, neverAnswers, refuses, says, scriptedEndpoint, testClient } from "../../support/clients/scripted-endpoint.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";

const input: RolloutInput = { example_id: 4, prompt: [{ role: "user", content: "2+2" }], task: "t", answer: "4" };

const correct = {
  name: "correct",
  fn: ({ completion, answer }: { completion: readonly { content: unknown }[]; answer: unknown }) => completion[0]?.content === answer,
};

function environment(options: Partial<EnvironmentOptions> = {}): SingleTurnEnv {
  return new SingleTurnEnv({ dataset: async function* () {}, rubric: new Rubric([correct]), ...options });
}

function response(content: string): ModelResponse {
  const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6, reasoning_tokens: 0 };
  return { id: "r", created: 0, model: "m", usage, message: { role: "assistant", content, finish_reason: "stop", is_truncated: false, tokens: null } };
}

type Answer = string | Error | Promise<never>;

/** Call number n (from 0) gets `answer(n)`; an error is thrown, a promise is waited for. */
function clientOf(answer: (call: number) => Answer): Client & { calls: number } {
  return {
    type: "scripted",
    calls: 0,
    async getResponse({ signal, onBegin }) {
      onBegin?.();
      const given = answer(this.calls++);
      signal?.throwIfAborted();
      if (given instanceof Error) throw given;
      if (typeof given === "string") return response(given);
      return await Promise.race([given, new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))]);
    },
  };
}

const refused = (code: RolloutErrorCode): EdgewiseError => new EdgewiseError(code, `refused: ${code}`, { hint: "do this" });
const never = new Promise<never>(() => undefined);

function options(client: Client, fields: Partial<UnitOptions> = {}): UnitOptions {
  return {
    unit: 0,
    rollouts: [0],
    kept: [],
    rolloutsPerExample: 1,
    client,
    model: "m",
    sampling_args: { max_tokens: null },
    maxRetries: 0,
    independent: false,
    stateColumns: [],
    signal: new AbortController().signal,
    deadlineMs: null,
    now: Date.now,
    sleep: () => Promise.resolve(),
    random: () => 0.5,
    ...fields,
  };
}

const rowsOf = ({ lines }: Pick<UnitOutcome, "lines">): JsonObject[] => lines.map((line) => JSON.parse(line) as JsonObject);
const all = (count: number): Pick<UnitOptions, "rollouts" | "rolloutsPerExample"> => ({
  rollouts: Array.from({ length: count }, (_, index) => index),
  rolloutsPerExample: count,
});

describe("a unit", () => {
  it("ends in one row per rollout, in rollout order, with summaries that say what the rows say", async () => {
    const client = clientOf((call) => (call % 2 === 0 ? "4" : "5"));
    const outcome = await runUnit(inProcess(environment()), input, options(client, { ...all(3), unit: 9 }));
    expect(outcome).toMatchObject({ fatal: null, aborted: false, firstErrors: [] });
    expect(rowsOf(outcome).map(({ rollout_index, reward, example_id }) => [rollout_index, reward, example_id])).toEqual([
      [0, 1, 4],
      [1, 0, 4],
      [2, 1, 4],
    ]);
    expect(outcome.summaries).toEqual(rowsOf(outcome).map((row) => summariseRow(row)));
    expect(outcome.summaries[0]).toMatchObject({
      reward: 1,
      error: null,
      input_tokens: 5,
      output_tokens: 1,
      truncated: false,
      metrics: { correct: 1, num_turns: 1 },
    });
  });

  it("that is done again in part keeps the other rows to the letter", async () => {
    const kept = { index: 1, line: '{"kept":  true}', summary: { reward: 0.5, error: null, input_tokens: 0, output_tokens: 0, truncated: false, metrics: {} } };
    const client = clientOf(() => "4");
    const outcome = await runUnit(inProcess(environment()), input, options(client, { rollouts: [0, 2], rolloutsPerExample: 3, kept: [kept] }));
    expect(client.calls).toBe(2);
    expect([outcome.lines[1], outcome.summaries[1]]).toEqual([kept.line, kept.summary]);
    expect([0, 2].map((at) => (JSON.parse(outcome.lines[at] ?? "") as JsonObject).rollout_index)).toEqual([0, 2]);
  });

  it("whose rollouts are judged together runs all of them again, and cannot be scored one by one", async () => {
    const rank = { name: "rank", fn: groupReward(({ states }) => states.map((_, index) => index)) };
    const judged = environment({ rubric: new Rubric([rank]) });
    const client = clientOf(() => "4");
    const kept = { index: 0, line: "{}", summary: { reward: 0, error: null, input_tokens: 0, output_tokens: 0, truncated: false, metrics: {} } };
    const outcome = await runUnit(inProcess(judged), input, options(client, { rollouts: [1], rolloutsPerExample: 2, kept: [kept] }));
    expect([client.calls, rowsOf(outcome).map(({ reward }) => reward)]).toEqual([2, [0, 1]]);
    expect(await runUnit(inProcess(judged), input, options(client, { independent: true }))).toMatchObject({ fatal: { code: "environment_failed" }, lines: [] });
    expect(client.calls).toBe(2);
  });

  it("scored one by one scores a rollout while others still run", async () => {
    const scored: number[] = [];
    const gate = Promise.withResolvers<void>();
    const noted = new Rubric([{ name: "noted", fn: ({ completion }) => scored.push(Number(completion[0]?.content)) }]);
    const client: Client = {
      type: "scripted",
      getResponse: async () => {
        if (scored.length === 0 && first) {
          first = false;
          return response("1");
        }
        await gate.promise;
        return response("2");
      },
    };
    let first = true;
    const done = runUnit(inProcess(environment({ rubric: noted })), input, options(client, { ...all(2), independent: true }));
    await vi.waitFor(() => expect(scored).toEqual([1]), 20_000);
    gate.resolve();
    expect(rowsOf(await done).map(({ noted }) => noted)).toEqual([1, 2]);
  });
});

describe("rollout retries", () => {
  const retryable = (Object.keys(ROLLOUT_ERRORS) as RolloutErrorCode[]).filter((code) => !ROLLOUT_ERRORS[code].fatal);

  it.each(retryable)("of %s are what the catalogue says", async (code) => {
    const client = clientOf((call) => (call < 2 ? refused(code) : "4"));
    const outcome = await runUnit(inProcess(environment()), input, options(client, { maxRetries: 2 }));
    expect(client.calls).toBe(ROLLOUT_ERRORS[code].rollout ? 3 : 1);
    expect(outcome.summaries[0]?.error).toBe(ROLLOUT_ERRORS[code].rollout ? null : code);
    expect(outcome.firstErrors).toEqual(ROLLOUT_ERRORS[code].rollout ? [] : [{ code, message: `refused: ${code}`, hint: "do this" }]);
  });

  it("wait longer each time, run only the rollout that failed, and end with the last error", async () => {
    const waits: number[] = [];
    const client = clientOf((call) => (call === 0 ? "4" : refused("empty_response")));
    const outcome = await runUnit(inProcess(environment()), input, options(client, { ...all(2), maxRetries: 3, sleep: async (ms) => void waits.push(ms) }));
    expect(waits).toEqual([1_500, 2_500, 4_500]);
    expect(client.calls).toBe(5);
    expect(outcome.summaries.map(({ error }) => error)).toEqual([null, "empty_response"]);
    expect(rowsOf(outcome)[1]).toMatchObject({ stop_condition: "has_error", completion: [], reward: 0, num_turns: 0 });
  });

  it("are none by default", async () => {
    const client = clientOf(() => refused("rate_limited"));
    await runUnit(inProcess(environment()), input, options(client));
    expect(client.calls).toBe(1);
  });
});

describe("a refusal for good", () => {
  it("ends the unit without rows, and what is still open of it", async () => {
    const client = clientOf((call) => (call === 1 ? refused("auth_failed") : never));
    const outcome = await runUnit(inProcess(environment()), input, options(client, { ...all(3), maxRetries: 5 }));
    expect(outcome).toEqual({
      lines: [],
      summaries: [],
      firstErrors: [],
      aborted: false,
      fatal: { code: "auth_failed", message: "refused: auth_failed", hint: "do this" },
    });
    expect(client.calls).toBe(3);
  });
});

describe("an abort", () => {
  it("leaves no rows, at once, whether the model or the environment is at work", async () => {
    for (const broken of [environment(), environment({ rubric: new Rubric([{ name: "endless", fn: () => never }]) })]) {
      const controller = new AbortController();
      const client = clientOf(() => (broken.metricNames().includes("endless") ? "4" : never));
      const outcome = runUnit(inProcess(broken), input, options(client, { signal: controller.signal }));
      await vi.waitFor(() => expect(client.calls).toBe(1), 20_000);
      controller.abort(new Error("fenced"));
      // What is at work never ends.
      expect(await outcome).toEqual({ lines: [], summaries: [], firstErrors: [], aborted: true, fatal: null });
    }
  });

  it("before the unit runs nothing", async () => {
    const client = clientOf(() => "4");
    expect((await runUnit(inProcess(environment()), input, options(client, { signal: AbortSignal.abort() }))).aborted).toBe(true);
    expect(client.calls).toBe(0);
  });

  it("does not wait for an environment that does not listen", async () => {
    class Deaf extends SingleTurnEnv {
      override async setupState(): Promise<void> {
        await never;
      }
    }
    const controller = new AbortController();
    const outcome = runUnit(
      inProcess(new Deaf({ dataset: async function* () {} })),
      input,
      options(
        clientOf(() => "4"),
        { signal: controller.signal },
      ),
    );
    controller.abort();
    expect((await outcome).aborted).toBe(true);
  });
});

describe("the deadline of a unit", () => {
  it("makes timeout rows of what is not done, and scores the rest", async () => {
    const client = clientOf((call) => (call === 0 ? "4" : never));
    const outcome = await runUnit(inProcess(environment()), input, options(client, { ...all(2), deadlineMs: 50, sleep, maxRetries: 3 }));
    expect(outcome.summaries.map(({ error, reward }) => [error, reward])).toEqual([
      [null, 1],
      ["timeout", 0],
    ]);
    expect(rowsOf(outcome)[1]).toMatchObject({ error: { error: "TimeoutError", code: "timeout" }, stop_condition: "has_error", prompt: [{ content: "2+2" }] });
    expect(outcome.aborted).toBe(false);
  });

  it("keeps the error of an attempt that was waiting for its retry", async () => {
    const client = clientOf(() => refused("rate_limited"));
    const outcome = await runUnit(inProcess(environment()), input, options(client, { deadlineMs: 50, sleep, maxRetries: 3 }));
    expect(outcome.summaries[0]?.error).toBe("rate_limited");
  });

  it("leaves no timer behind", async () => {
    const timers: (AbortSignal | null | undefined)[] = [];
    const slow = (_ms: number, signal?: AbortSignal | null): Promise<void> => {
      timers.push(signal);
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    };
    await runUnit(
      inProcess(environment()),
      input,
      options(
        clientOf(() => "4"),
        { deadlineMs: 60_000, sleep: slow },
      ),
    );
    expect(timers.map((signal) => signal?.aborted)).toEqual([true, true]);
  });
});

describe("what an environment does wrong", () => {
  it("is in the row: its code, its scorer, its columns, a state that is no JSON", async () => {
    class Broken extends SingleTurnEnv {
      override async setupState(state: State): Promise<void> {
        if (state.example_id === 1) throw new TypeError("oops");
        if (state.example_id === 2) state.info = { big: 1n as unknown as number };
        state.board = () => 1;
      }
    }
    const broken = new Broken({ dataset: async function* () {}, rubric: new Rubric([correct]) });
    const run = async (example_id: number, stateColumns: string[] = []) =>
      rowsOf(
        await runUnit(
          inProcess(broken),
          { ...input, example_id },
          options(
            clientOf(() => "4"),
            { stateColumns },
          ),
        ),
      )[0];
    expect(await run(1)).toMatchObject({ error: { code: "environment_error", error_chain_str: "EnvironmentError -> TypeError" }, reward: 0 });
    expect(await run(2)).toMatchObject({
      error: { code: "environment_error", error_chain_repr: expect.stringContaining("cannot be written as JSON") },
      prompt: [{ content: "2+2" }],
    });
    expect(await run(3, ["board"])).toMatchObject({ error: { code: "environment_error" }, board: null, reward: 1 });
    expect(await run(4)).toMatchObject({ error: null, reward: 1 });
  });

  it("in a scorer is scorer_error with the rest of the reward, told once per unit", async () => {
    const failing = environment({
      rubric: new Rubric([
        correct,
        {
          name: "judge",
          fn: () => {
            throw new Error("judge down");
          },
        },
      ]),
    });
    const outcome = await runUnit(
      inProcess(failing),
      input,
      options(
        clientOf(() => "4"),
        all(2),
      ),
    );
    expect(outcome.firstErrors).toEqual([{ code: "scorer_error", message: "judge: judge down" }]);
    const [row] = rowsOf(outcome);
    expect(row).toMatchObject({ reward: 1, metrics: { correct: 1, num_turns: 1 }, error: { code: "scorer_error" } });
    expect(row).not.toHaveProperty("judge");
  });

  it("does not reach the input that other rollouts share", async () => {
    class Greedy extends SingleTurnEnv {
      override async setupState(state: State): Promise<void> {
        state.prompt.push({ role: "user", content: "more" });
        state.answer = "changed";
      }
    }
    const before = structuredClone(input);
    await runUnit(
      inProcess(new Greedy({ dataset: async function* () {} })),
      input,
      options(
        clientOf(() => "4"),
        all(2),
      ),
    );
    expect(input).toEqual(before);
  });
});

describe("units that are not run", () => {
  it("get rows that say why", () => {
    const { lines, summaries } = errorLines(environment(), input, {
      rolloutsPerExample: 2,
      code: "poisoned",
      message: "killed its executor three times",
      model: "m",
      sampling_args: {},
      stateColumns: ["board"],
      now: Date.now,
    });
    expect(lines.map((line) => JSON.parse(line) as JsonObject)).toMatchObject([
      { example_id: 4, rollout_index: 0, completion: [], reward: 0, metrics: {}, error: { error: "PoisonedUnitError", code: "poisoned" }, board: null },
      { rollout_index: 1 },
    ]);
    expect(summaries.map(({ error }) => error)).toEqual(["poisoned", "poisoned"]);
  });

  it("keep the rows that they have", () => {
    const common = { rolloutsPerExample: 2, message: "killed", model: "m", sampling_args: {}, stateColumns: [], now: Date.now };
    const before = errorLines(environment(), input, { ...common, code: "environment_error" });
    const kept = [{ index: 1, line: before.lines[1] ?? "", summary: before.summaries[1] as RolloutSummary }];
    const { lines, summaries } = errorLines(environment(), input, { ...common, code: "poisoned", kept });
    expect(summaries.map(({ error }) => error)).toEqual(["poisoned", "environment_error"]);
    expect(lines[1]).toBe(before.lines[1]);
  });
});

describe("against a model server", () => {
  it.each([
    ["a 429 with Retry-After, then an answer", [refuses(429, {}, { "retry-after-ms": "50" }), says("4")], null],
    ["a 500, then an answer", [refuses(500), says("4")], null],
    ["malformed JSON, then an answer", [json(200, "{"), says("4")], null],
    ["an empty choice list, then an answer", [json(200, { choices: [] }), says("4")], null],
    ["a socket closed mid-body, then an answer", [cutMidBody, says("4")], null],
    ["always malformed JSON", [json(200, "{")], "malformed_response"],
    ["always an empty choice list", [json(200, { choices: [] })], "invalid_response"],
    ["always an empty answer", [json(200, completion(null))], "empty_response"],
    ["always 500", [refuses(500)], "provider_error"],
    ["always cut", [cutMidBody], "connection_cut"],
    ["never an answer", [neverAnswers], "request_timeout"],
    ["a prompt too long", [refuses(400, { message: "context length exceeded" })], null],
  ])("%s", async (_what, plays, code) => {
    await using server = await scriptedEndpoint(...plays);
    const { client, gate } = testClient(server.url, { ports: { maxRequestRetries: 1, timeouts: plays.includes(neverAnswers) ? { request_ms: 150 } : {} } });
    const reverse = await loadEnvironment("reverse-text", {}, { datasets: memoryDatasets() });
    const [example] = await Array.fromAsync(reverse.examples(1));
    if (example === undefined) throw new Error("no example");
    const outcome = await runUnit(inProcess(reverse), example, options(client, { maxRetries: 1 }));
    expect([outcome.summaries[0]?.error, outcome.fatal, gate.inFlight]).toEqual([code, null, 0]);
    expect(rowsOf(outcome)[0]).toMatchObject({ example_id: 0, task: "reverse-text", error: code === null ? null : { code } });
  });
});
