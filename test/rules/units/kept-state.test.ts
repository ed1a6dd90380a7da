import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import type { Environment } from "../../../src/environments/kinds/environment.ts";
import { listEnvironments } from "../../../src/environments/definition/load.ts";
import type { OpenEnvConnect } from "../../../src/environments/openenv/openenv-server.ts";
import type { Sandbox } from "../../../src/environments/sandbox/sandbox.ts";
import { SandboxEnv } from "../../../src/environments/sandbox/sandbox-env.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import { tool } from "../../../src/environments/kinds/tool.ts";
import { ToolEnv } from "../../../src/environments/kinds/tool-env.ts";
import { holdKey } from "../../../src/errors/masking.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { MAX_KEPT_STATE_BYTES, MAX_ROW_DEPTH } from "../../../src/limits.ts";
import { CacheMeter } from "../../../src/rollouts/state/cache-meter.ts";
import { JudgeMeter } from "../../../src/rollouts/state/judge-usage.ts";
import { type Keeping, keepState, openKeptState, StateSnapshot } from "../../../src/rollouts/kept/kept-state.ts";
import { rowOf } from "../../../src/rollouts/rows/row.ts";
import { createState } from "../../../src/rollouts/state/state.ts";
import { nestedTiming } from "../../../src/rollouts/state/time-marks.ts";
import type { Client, RolloutInput, State } from "../../../src/rollouts/types.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { scriptedModel, testEnvironment } from "../../../src/testing/index.ts";
import { ScriptedOpenEnv } from "../../support/clients/scripted-openenv.ts";
import { EVALUATION_ROWS } from "../../support/environments/evaluation-rows.ts";
import { type Reply, scriptedClient } from "../../support/clients/scripted-client.ts";

const input: RolloutInput = { example_id: 3, prompt: [{ role: "user", content: "go" }], task: "t", answer: "4", info: { level: 1 }, difficulty: "easy" };
const base = { input, tools: [] };
const fresh = (extra: Record<string, unknown> = {}): State =>
  Object.assign(createState(input, { client: null, model: "m", samplingArgs: { n: 1 }, tools: [], now: 1_000 }), extra);

function textOf(keeping: Keeping): string {
  if (!keeping.ok) throw new Error(`${keeping.path} ${keeping.problem}`);
  return keeping.text;
}
const problemOf = (state: State): string => {
  const keeping = keepState(state, base);
  return keeping.ok ? "none" : `${keeping.path} ${keeping.problem}`;
};

/** A tool environment with everything that a state may hold: own keys, a group function, info that changes, a tool that fails. */
const toolbox = (): Environment =>
  new (class extends ToolEnv {
    override async setupState(state: State): Promise<void> {
      Object.assign(state, { seen: { calls: [], "odd key": null }, __proto_: 1 });
      if (state.info !== undefined) state.info.visits = 1;
    }
    override updateToolArgs(name: string, args: Record<string, unknown>, _: readonly unknown[], state: State): Record<string, unknown> {
      (state.seen as { calls: unknown[] }).calls.push([name, args]);
      return args;
    }
  })({
    dataset: [{ question: "Use the tools.", answer: "7", info: { level: 2 } }],
    tools: [
      tool({ name: "add", description: "adds", parameters: z.object({ x: z.number() }), run: ({ x }) => x + 1 }),
      tool({
        name: "fail",
        description: "fails",
        parameters: z.object({}),
        run: () => {
          throw new Error("it does not work");
        },
      }),
    ],
    rubric: new Rubric([
      { name: "length", fn: ({ completion }) => JSON.stringify(completion).length / 1_000 },
      {
        name: "best",
        fn: groupReward(({ states }) => states.map((state) => state.trajectory.length === Math.max(...states.map((each) => each.trajectory.length)))),
      },
      { name: "steps", weight: 0, fn: ({ state }) => JSON.stringify(state.trajectory).length },
    ]),
  });

const sandboxed = (): Environment =>
  new SandboxEnv({
    sandbox: new ScriptedSandbox(),
    dataset: [{ question: "Look around.", answer: "x" }],
    rubric: new Rubric([{ name: "where", fn: ({ state }) => String(state.sandbox_id).length }]),
  });

const ROWS = [{ question: "What is 3 + 4?", problem: "3+4", answer: "#### 7", mc1_targets: { choices: ["a", "b"], labels: [1, 0] } }];
const TASKS = [{ task_id: "t", instruction: "What is 3 + 4?", verifier: { kind: "in_process", function: "contains", expected: "7" } }];
const FUNCTIONS = [{ task_id: "t", prompt: "def f():\n", test: "pass", entry_point: "f" }];
function datasetOf(id: string): {
  readonly rows?: readonly JsonObject[];
  readonly sandbox?: Sandbox;
  readonly args?: JsonObject;
  readonly openEnv?: OpenEnvConnect;
} {
  const evaluation = EVALUATION_ROWS[id];
  if (id === "openenv")
    return { args: { url: "http://localhost" }, openEnv: () => new ScriptedOpenEnv({ schema: { properties: { guess: { type: "string" } } } }) };
  if (id === "humaneval") return { rows: FUNCTIONS, sandbox: new ScriptedSandbox() };
  if (id === "python-math") return { rows: ROWS, sandbox: new ScriptedSandbox() };
  if (evaluation !== undefined) return { rows: [evaluation] };
  return id === "benchmark" ? { rows: TASKS } : ["gsm8k", "math500", "truthfulqa-mc"].includes(id) ? { rows: ROWS } : {};
}

/** What evaluations by likelihood ask, of a model that finds every text equally likely. */
const { score } = scriptedModel([], (text) => [
  [text.slice(0, 2), null],
  [text.slice(2), -1.5, " and"],
]);
const environments: readonly (readonly [string, () => Environment])[] = [
  ...listEnvironments().map((definition) => [definition.id, () => testEnvironment(definition, datasetOf(definition.id))] as const),
  ["tools, own keys and a group function", toolbox],
  ["a sandbox", sandboxed],
];

/** Anything that a model may answer. */
const reply: fc.Arbitrary<Reply> = fc.record({
  content: fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\\boxed{7}", "<guess>crane</guess>", "#### 7", "<answer>A</answer>")),
  reasoning_content: fc.option(fc.string(), { nil: undefined as unknown as string }),
  tool_calls: fc.option(
    fc.array(
      fc.record({
        id: fc.constantFrom("a", "b"),
        name: fc.constantFrom("add", "fail", "bash", "tool_A", "nothing"),
        arguments: fc.constantFrom('{"x":1}', '{"command":"ls"}', "{", "{}"),
      }),
      { maxLength: 3 },
    ),
    { nil: undefined as unknown as [] },
  ),
  usage: fc.option(fc.record({ prompt_tokens: fc.nat(1_000), completion_tokens: fc.nat(1_000) })),
  finish_reason: fc.constantFrom("stop", "length", "tool_calls", null),
  tokens: fc.option(
    fc.record({
      prompt_ids: fc.array(fc.nat(), { maxLength: 4 }),
      prompt_mask: fc.constant<number[]>([0]),
      completion_ids: fc.array(fc.nat(), { maxLength: 4 }),
      completion_mask: fc.constant<number[]>([1]),
      completion_logprobs: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 }),
    }),
    { nil: undefined as unknown as never },
  ),
}) as unknown as fc.Arbitrary<Reply>;
const script = fc.tuple(
  fc.array(reply, { minLength: 1, maxLength: 5 }),
  fc.constantFrom(null, new EdgewiseError("provider_error", "down"), new EdgewiseError("rate_limited", "slow")),
);

/** A clock that goes on at each look, the same one each time. */
const clock = (from: number): (() => number) => {
  let time = from;
  return () => (time += 3.25);
};

async function generate(environment: Environment, example: RolloutInput, client: Client, now: () => number): Promise<State> {
  const state = environment.initState(example, { client, model: "m", sampling_args: { temperature: 0.5 }, now: now() });
  return await environment.rollout(state, { signal: new AbortController().signal, now });
}

async function rowsOf(environment: Environment, states: readonly State[], meter: JudgeMeter): Promise<unknown[]> {
  await environment.rubric.scoreGroup(states, { now: clock(5_000_000) });
  const stateColumns = ["trajectory", "seen", "board", "sandbox_id", "sandbox_state", "advantage", "edgewise_turns", "info"];
  return states.map((state, rolloutIndex) => [
    rowOf(state, { rolloutIndex, stateColumns, judges: meter.take(state), cache: new CacheMeter().take(state) }).line,
    nestedTiming(state),
  ]);
}

describe("a rollout that is scored from its kept state", () => {
  it.each(environments)("has the row that it would have had: %s", { timeout: 60_000 }, async (_name, make) => {
    const environment = make();
    let example: RolloutInput | null = null;
    for await (const first of environment.examples(1)) example = first;
    const given = { input: example as unknown as RolloutInput, tools: environment.toolDefs };
    await fc.assert(
      fc.asyncProperty(fc.array(script, { minLength: 1, maxLength: 3 }), async (scripts) => {
        const meter = new JudgeMeter();
        meter.open();
        const now = clock(1_000_000);
        const states: State[] = [];
        for (const [replies, error] of scripts) {
          const client = Object.assign(scriptedClient(...replies, ...(error === null ? [] : [error])), { score });
          const state = await generate(environment, given.input, client, now);
          meter.count(state, { prompt_tokens: 3, completion_tokens: 4, reasoning_tokens: 0, total_tokens: 7 });
          new CacheMeter().tookKept(state, "model", null);
          states.push(state);
        }
        const texts = states.map((state) => textOf(keepState(state, given)));
        const usual = await rowsOf(environment, states, meter);
        const opened = texts.map((text) => openKeptState(text, given, null));
        expect(opened.every(({ turn }) => turn === null)).toBe(true);
        expect(
          await rowsOf(
            environment,
            opened.map(({ state }) => state),
            meter,
          ),
        ).toEqual(usual);
      }),
      { numRuns: 25 },
    );
  });

  it("hands the client it is opened with to whoever asks a model, and keeps none", () => {
    const client = scriptedClient("x");
    const text = textOf(keepState(fresh({ client: Object.assign(client, { key: "a very secret key" }) }), base));
    expect(text).not.toContain("very secret");
    expect(openKeptState(text, base, client).state.client).toBe(client);
  });

  it("leaves out the keys that the process holds", () => {
    holdKey("sk-kept-state-1234567890");
    const text = textOf(keepState(fresh({ note: "sk-kept-state-1234567890" }), base));
    expect(text).not.toContain("sk-kept-state-1234567890");
    expect(openKeptState(text, base, null).state.note).toBe("[secret]");
  });
});

describe("a kept state", () => {
  it("has the keys of the state in their order, those taken away too", () => {
    const state = fresh({ b: 1, a: { deep: [null, true, "\u2028\ud800"] } });
    Reflect.deleteProperty(state, "advantage");
    state.info = undefined;
    Object.defineProperty(state, "__proto__", { value: { x: 1 }, enumerable: true, configurable: true, writable: true });
    const { state: opened } = openKeptState(textOf(keepState(state, base)), base, null);
    expect(Object.keys(opened)).toEqual(Object.keys(state));
    expect(JSON.stringify(opened)).toBe(JSON.stringify(state));
    expect(Object.getOwnPropertyDescriptor(opened, "__proto__")?.value).toEqual({ x: 1 });
    expect(opened.input).not.toBe(input);
  });

  it("writes each message once, and one that several calls had is one object again", async () => {
    const environment = toolbox();
    let example = input;
    for await (const first of environment.examples(1)) example = first;
    const given = { input: example, tools: environment.toolDefs };
    const say = (call: number): Reply => ({
      content: `${"word ".repeat(200)}${call}`,
      tool_calls: call < 8 ? [{ id: "a", name: "add", arguments: '{"x":1}' }] : [],
    });
    const state = await generate(environment, example, scriptedClient(...Array.from({ length: 9 }, (_, call) => say(call))), clock(0));
    expect(state.trajectory).toHaveLength(9);
    const text = textOf(keepState(state, given));
    expect(text.split("word word").length - 1).toBeLessThan(9 * 110);
    expect(text.length).toBeLessThan(9 * 1_700 + 1_000);
    const { trajectory, completion } = openKeptState(text, given, null).state;
    expect(trajectory[8]?.prompt[1]).toBe(trajectory[0]?.completion[0]);
    expect(completion?.[0]).toBe(trajectory[0]?.completion[0]);
    expect(JSON.stringify(trajectory)).toBe(JSON.stringify(state.trajectory));
  });

  it("has what the rollout was at that moment, whatever its environment does afterwards", () => {
    const state = fresh({ board: { marks: ["a"] } });
    const snapshot = new StateSnapshot(state, base, { prompt: null, elapsed_ms: 12 });
    (state.board as { marks: string[] }).marks.push("b");
    state.usage = { input_tokens: 1, output_tokens: 1 };
    (state.info as { level: number }).level = 2;
    const { state: opened, turn } = openKeptState(textOf(snapshot.text()), base, null);
    expect([opened.board, opened.usage, opened.info, turn]).toEqual([{ marks: ["a"] }, null, { level: 1 }, { prompt: null, elapsed_ms: 12 }]);
  });

  it("has the prompt of the call that was to be made", () => {
    const state = fresh();
    const prompt = [...state.prompt, { role: "user" as const, content: "and then?" }];
    const { turn } = openKeptState(textOf(new StateSnapshot(state, base, { prompt, elapsed_ms: 1.5 }).text()), base, null);
    expect(turn).toEqual({ prompt, elapsed_ms: 1.5 });
  });

  it.each([
    ["a function", { board: { list: [1, { check: () => 1 }] } }, "state.board.list[1].check is a function"],
    ["an object of a class", { "my key": new Map() }, 'state["my key"] is a Map'],
    ["a date", { when: { at: new Date(0) } }, "state.when.at is a Date"],
    ["undefined in a list", { list: [1, undefined] }, "state.list[1] is undefined"],
    ["a hole in a list", { list: new Array(1) }, "state.list[0] is undefined"],
    ["what is no number", { score: Number.NaN }, "state.score is NaN"],
    ["infinity", { score: [-Infinity] }, "state.score[0] is -Infinity"],
    ["a bigint", { n: 10n }, "state.n is a bigint"],
    ["a symbol", { n: Symbol("x") }, "state.n is a symbol"],
    ["a boxed text", { n: Object("x") as unknown }, "state.n is a String"],
    ["a conversation that is a text", { completion: "x" }, "state.completion is no list of objects"],
  ])("is refused for %s, by its path", (_name, extra, said) => {
    expect(problemOf(fresh(extra))).toBe(said);
  });

  it("is refused for what contains itself, is too deep, cannot be read, or holds a foreign thing in a step", () => {
    const circle: unknown[] = [];
    circle.push({ circle });
    expect(problemOf(fresh({ circle }))).toBe("state.circle[0].circle contains itself");
    let deep: unknown = 0;
    for (let level = 0; level <= MAX_ROW_DEPTH; level++) deep = [deep];
    expect(problemOf(fresh({ deep }))).toContain(`is below ${MAX_ROW_DEPTH} others`);
    const broken = Object.defineProperty({}, "x", {
      enumerable: true,
      get: () => {
        throw new Error("not today");
      },
    });
    expect(problemOf(fresh({ broken }))).toBe("state.broken cannot be read (not today)");
    const step = { prompt: input.prompt, completion: [], extras: { socket: new WebSocket("ws://127.0.0.1:1") } };
    step.extras.socket.onerror = () => undefined;
    expect(problemOf(fresh({ trajectory: [step] }))).toBe("state.trajectory[0].extras.socket is a WebSocket");
    const said = { role: "assistant", content: "x", more: new Uint8Array(1) };
    expect(problemOf(fresh({ trajectory: [{ ...step, extras: {}, completion: [said] }] }))).toBe("state.trajectory: message 2.more is a Uint8Array");
  });

  it("is refused above its bound, before anything of that size is built", () => {
    const large = "x".repeat(MAX_KEPT_STATE_BYTES / 3);
    expect(problemOf(fresh({ a: large, b: large }))).toBe("none");
    expect(problemOf(fresh({ a: large, b: large, c: large }))).toBe("state is larger than 3 MiB");
    let doubled: unknown = ["x"];
    for (let level = 0; level < 60; level++) doubled = [doubled, doubled];
    expect(problemOf(fresh({ doubled }))).toBe("state is larger than 3 MiB");
  });

  it("of another version is refused by name, and damage is told from it", () => {
    const text = textOf(keepState(fresh(), base));
    const open = (changed: string): unknown => {
      try {
        return openKeptState(changed, base, null);
      } catch (thrown) {
        return (thrown as EdgewiseError).code;
      }
    };
    expect(() => openKeptState(text.replace('{"v":1', '{"v":2'), base, null)).toThrow("has version 2; this version knows 1");
    expect(open(text.replace('{"v":1', '{"v":2'))).toBe("stored_version_unknown");
    for (const damage of [
      "",
      "{",
      "null",
      "{}",
      '{"v":1}',
      text.slice(0, -1),
      text.replace('"steps":[]', '"steps":[{"step":{"prompt":[9,9]},"as":["prompt"]}]'),
    ])
      expect(open(damage)).toBe("storage_damaged");
  });
});
