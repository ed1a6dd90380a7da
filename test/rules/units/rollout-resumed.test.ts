import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Environment } from "../../../src/environments/kinds/environment.ts";
import { EnvGroup } from "../../../src/environments/kinds/env-group.ts";
import { listEnvironments } from "../../../src/environments/definition/load.ts";
import { MultiTurnEnv, type MultiTurnOptions } from "../../../src/environments/kinds/multi-turn-env.ts";
import { SandboxEnv } from "../../../src/environments/sandbox/sandbox-env.ts";
import { ScriptedSandbox } from "../../../src/environments/sandbox/scripted-sandbox.ts";
import { tool } from "../../../src/environments/kinds/tool.ts";
import { ToolEnv } from "../../../src/environments/kinds/tool-env.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { openKeptState, StateSnapshot } from "../../../src/rollouts/kept/kept-state.ts";
import { isLeft, isNotResumed, RolloutLeft } from "../../../src/rollouts/kept/left.ts";
import { rowOf } from "../../../src/rollouts/rows/row.ts";
import { nestedTiming } from "../../../src/rollouts/state/time-marks.ts";
import type { Client, Message, ModelRequest, RolloutInput, State } from "../../../src/rollouts/types.ts";
import { testEnvironment } from "../../../src/testing/index.ts";
import { SteppedClock } from "../../support/run/stepped-clock.ts";

/** A model whose answers depend on what it is asked, and take time; everybody who shares `time` sees it pass. */
class Model implements Client {
  readonly type = "scripted";
  readonly requests: ModelRequest[] = [];
  readonly #time: Time;
  readonly #answer: (turn: number) => Partial<Message> | EdgewiseError;
  /** Called when the model is asked, before it answers. */
  meanwhile: (turn: number) => void = () => undefined;

  constructor(time: Time, answer: (turn: number) => Partial<Message> | EdgewiseError) {
    this.#time = time;
    this.#answer = answer;
  }

  async getResponse(request: ModelRequest) {
    this.requests.push(request);
    request.onBegin?.();
    const turn = request.prompt.filter(({ role }) => role === "assistant").length;
    this.#time.pass(100 + turn);
    this.meanwhile(turn);
    request.signal?.throwIfAborted();
    const said = this.#answer(turn);
    if (said instanceof EdgewiseError) throw said;
    const usage = { prompt_tokens: 10 * turn, completion_tokens: turn, total_tokens: 11 * turn, reasoning_tokens: 0 };
    const message = { role: "assistant" as const, content: "", ...(said as object), finish_reason: "stop" as const, is_truncated: false, tokens: null };
    return { id: `r${turn}`, created: 0, model: "m", usage, message };
  }
}

class Time {
  now = 1_000_000;
  pass(ms: number): void {
    this.now += ms;
  }
}

/** Everything that a conversation may keep in its state; the environment itself remembers nothing. */
class Notebook extends ToolEnv {
  setups = 0;
  resumed = 0;
  cleaned = 0;
  readonly #time: Time;
  constructor(time: Time, options: Partial<MultiTurnOptions> = {}) {
    super({
      dataset: [{ question: "Take notes.", answer: "x", info: { level: 1 } }],
      tools: [tool({ name: "note", description: "notes", parameters: z.object({ text: z.string() }), run: ({ text }) => text.length })],
      maxTurns: 8,
      ...options,
    });
    this.#time = time;
    this.onStop("full", (state) => (state.notes as string[]).length >= 6);
    this.onCleanup("count", () => void this.cleaned++);
  }
  override async setupState(state: State): Promise<void> {
    this.setups++;
    Object.assign(state, { notes: [], asked: 0 });
  }
  override async resumeState(): Promise<void> {
    this.resumed++;
  }
  override async envResponse(messages: readonly Message[], state: State): Promise<Message[]> {
    this.#time.pass(7);
    (state.notes as string[]).push(String(messages.length));
    state.asked = Number(state.asked) + 1;
    if (state.info !== undefined) state.info.level = Number(state.info.level) + 1;
    return await super.envResponse(messages, state);
  }
}

const noting = (turn: number): Partial<Message> => ({
  content: `turn ${turn}`,
  tool_calls: turn % 5 === 4 ? [{ id: "b", name: "unknown", arguments: "{" }] : [{ id: "a", name: "note", arguments: `{"text":"${"x".repeat(turn)}"}` }],
});

interface Game {
  readonly name: string;
  readonly make: (time: Time) => Environment;
  readonly answer: (turn: number) => Partial<Message> | EdgewiseError;
}
const wordle = listEnvironments().find(({ id }) => id === "wordle");
if (wordle === undefined) throw new Error("there is no wordle");
const provider = new ScriptedSandbox();
const games: readonly Game[] = [
  { name: "tools and own keys", make: (time) => new Notebook(time), answer: noting },
  {
    name: "an error after some turns",
    make: (time) => new Notebook(time),
    answer: (turn) => (turn === 4 ? new EdgewiseError("bad_request", "no more") : noting(turn)),
  },
  { name: "a game", make: () => testEnvironment(wordle), answer: (turn) => ({ content: `<guess>${["crane", "trace", "nonsense"][turn % 3]}</guess>` }) },
  {
    name: "a sandbox",
    make: () => new SandboxEnv({ sandbox: provider, dataset: [{ question: "q" }], maxTurns: 4 }),
    answer: () => ({ tool_calls: [{ id: "a", name: "bash", arguments: '{"command":"ls"}' }] }),
  },
  { name: "a member of a group", make: (time) => new EnvGroup({ envs: [new Notebook(time)], envNames: ["notes"] }), answer: noting },
];

interface Played {
  readonly row: string;
  readonly timing: unknown;
  readonly calls: number;
}

/**
 * One rollout, left at the moments that `leaves` names (of all that are offered, in order), or cut while the model is asked at the turns in
 * `cuts`; each time it is gone on with an hour later by another instance.
 */
async function play(game: Game, leaves: readonly number[], cuts: readonly number[] = []): Promise<Played> {
  const time = new Time();
  const model = new Model(time, game.answer);
  const cutBefore = new Set<number>();
  let offers = 0;
  let text: string | null = null;
  for (;;) {
    const environment = game.make(time);
    const example = await firstOf(environment);
    const base = { input: example, tools: environment.toolDefs };
    const abort = new AbortController();
    model.meanwhile = (turn) => {
      if (!cuts.includes(turn) || turn === 0 || cutBefore.has(turn)) return;
      cutBefore.add(turn);
      abort.abort(new RolloutLeft());
    };
    const opened = text === null ? null : openKeptState(text, base, model);
    const state = opened?.state ?? environment.initState(example, { client: model, model: "m", sampling_args: {}, now: time.now });
    state.trajectory_id = "t";
    let latest: StateSnapshot | null = null;
    try {
      await environment.rollout(state, {
        signal: abort.signal,
        now: () => time.now,
        onTurn: (at, turn) => {
          latest = new StateSnapshot(at, base, turn);
          return leaves.includes(offers++) ? "leave" : "go-on";
        },
        ...(opened?.turn == null ? {} : { from: opened.turn }),
      });
      await environment.rubric.scoreGroup([state], { now: () => time.now });
      const stateColumns = ["trajectory", "notes", "asked", "board", "info"];
      // Measured by the machine's clock.
      for (const name of Object.keys(state.metrics ?? {})) if (name.endsWith("_time")) Object.assign(state.metrics ?? {}, { [name]: 0 });
      return { row: rowOf(state, { rolloutIndex: 0, stateColumns }).line, timing: durations(state), calls: model.requests.length };
    } catch (thrown) {
      if (!isLeft(thrown)) throw thrown;
      const keeping = (latest as StateSnapshot | null)?.text();
      if (keeping === undefined) text = null;
      else if (keeping.ok) text = keeping.text;
      else throw new Error(keeping.path);
      time.pass(3_600_000);
    }
  }
}

async function firstOf(environment: Environment): Promise<RolloutInput> {
  for await (const example of environment.examples(1)) return example;
  throw new Error("there is no example");
}

/** How long the parts took; when they were differs by the time away. */
function durations(state: State): unknown {
  const { setup, generation, model, env, total, overhead } = nestedTiming(state) as Record<string, { duration: number; spans?: { duration: number }[] }>;
  return {
    setup: setup?.duration,
    generation: generation?.duration,
    model: model?.spans?.map((span) => span.duration),
    env: env?.spans?.map((span) => span.duration),
    total,
    overhead,
  };
}

describe("a rollout that is left between turns and gone on with by another instance", () => {
  it.each(games)("has the row that it would have had, and no call is made twice: $name", { timeout: 60_000 }, async (game) => {
    const whole = await play(game, []);
    expect(whole.calls).toBeGreaterThan(3);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(14), { maxLength: 6 }), async (leaves) => {
        expect(await play(game, leaves)).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  it.each(games)("has it too when it is cut in the middle of calls, of which each is made again: $name", { timeout: 60_000 }, async (game) => {
    const whole = await play(game, []);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { maxLength: 4 }), async (cuts) => {
        const { row, timing, calls } = await play(game, [], cuts);
        const made = cuts.filter((turn) => turn < whole.calls).length;
        expect({ row, timing, calls: calls - made }).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });
});

const context = (time: Time, more: object = {}) => ({ signal: new AbortController().signal, now: () => time.now, ...more });

/** Leaves a rollout of `environment` at the moment number `at`, and opens it again. */
async function leftAt(environment: MultiTurnEnv, time: Time, at: number, client: Client) {
  const example = await firstOf(environment);
  const base = { input: example, tools: environment.toolDefs };
  const state = environment.initState(example, { client, model: "m", sampling_args: {}, now: time.now });
  let snapshot: StateSnapshot | undefined;
  let offers = 0;
  const onTurn = (now: State, turn: ConstructorParameters<typeof StateSnapshot>[2]) => {
    snapshot = new StateSnapshot(now, base, turn);
    return offers++ === at ? ("leave" as const) : ("go-on" as const);
  };
  await expect(environment.rollout(state, context(time, { onTurn }))).rejects.toSatisfy(isLeft);
  const keeping = snapshot?.text();
  if (keeping?.ok !== true) throw new Error("nothing was kept");
  const { turn, state: opened } = openKeptState(keeping.text, base, client);
  if (turn === null) throw new Error("it was kept as generated");
  return { opened, turn };
}

describe("going on with a rollout", () => {
  it("sets nothing up again: resumeState is called in its place, cleanup once at the end, and never where it was left", async () => {
    const time = new Time();
    const [first, second] = [new Notebook(time), new Notebook(time)];
    const model = new Model(time, noting);
    const { opened, turn } = await leftAt(first, time, 3, model);
    await second.rollout(opened, context(time, { from: turn }));
    expect([first.setups, first.resumed, first.cleaned]).toEqual([1, 0, 0]);
    expect([second.setups, second.resumed, second.cleaned]).toEqual([0, 1, 1]);
  });

  it("asks at once what was to be asked, and before that lets the environment speak where it had not", async () => {
    const time = new Time();
    const model = new Model(time, noting);
    for (const [at, said] of [
      [0, 1],
      [1, 1],
    ] as const) {
      const first = new Notebook(time);
      const { opened, turn } = await leftAt(first, time, at, model);
      expect(turn.prompt === null).toBe(at === 0);
      const stop = new AbortController();
      const asked: number[] = [];
      model.meanwhile = (turns) => {
        asked.push(turns);
        stop.abort(new RolloutLeft());
      };
      await expect(new Notebook(time).rollout(opened, { ...context(time, { from: turn }), signal: stop.signal })).rejects.toSatisfy(isLeft);
      model.meanwhile = () => undefined;
      expect(asked).toEqual([1]);
      expect(opened.notes).toHaveLength(said);
    }
  });

  it("has what is left of the time of the rollout, and waiting for its first permit is not its own", async () => {
    const clock = new SteppedClock();
    class Talk extends MultiTurnEnv {
      override envResponse = (): string => "go on";
    }
    const environment = new Talk({ dataset: [{ question: "q" }], timeoutSeconds: 10 });
    let waits = 0;
    const client: Client = {
      type: "slow",
      async getResponse(request) {
        await clock.sleep(waits, request.signal);
        request.onBegin?.();
        await clock.sleep(4_000, request.signal);
        const message = { role: "assistant" as const, content: "x", finish_reason: "stop" as const, is_truncated: false, tokens: null };
        return { id: "r", created: 0, model: "m", usage: null, message };
      },
    };
    const example = await firstOf(environment);
    const base = { input: example, tools: [] };
    const state = environment.initState(example, { client, model: "m", sampling_args: {}, now: clock.now() });
    let snapshot: StateSnapshot | undefined;
    const onTurn = (now: State, turn: ConstructorParameters<typeof StateSnapshot>[2]) => {
      snapshot = new StateSnapshot(now, base, turn);
      return "leave" as const;
    };
    const begun = { signal: new AbortController().signal, now: clock.now, sleep: clock.sleep };
    await expect(clock.through(environment.rollout(state, { ...begun, onTurn }))).rejects.toSatisfy(isLeft);
    const keeping = snapshot?.text();
    if (keeping?.ok !== true) throw new Error("nothing was kept");
    const { state: opened, turn } = openKeptState(keeping.text, base, client);
    waits = 50_000;
    const ended = await clock.through(environment.rollout(opened, { ...begun, ...(turn === null ? {} : { from: turn }) }));
    // 4 s before it was left; afterwards 4 s, then the second call of the second part waits, which is the rollout's own.
    expect(ended).toMatchObject({ stop_condition: "timeout_reached", timed_out: true, error: null });
    expect(ended.timing.generation_ms).toBe(10_000);
    expect(ended.trajectory).toHaveLength(2);
  });

  it("is offered by no environment that says it cannot be, and by no single turn", async () => {
    const time = new Time();
    const model = new Model(time, noting);
    for (const environment of [new Notebook(time, { resumable: false }), new Notebook(time, { maxTurns: 1 })]) {
      const example = await firstOf(environment);
      const state = environment.initState(example, { client: model, model: "m", sampling_args: {}, now: time.now });
      const onTurn = () => {
        throw new Error("it was offered");
      };
      expect(await environment.rollout(state, context(time, { onTurn }))).toMatchObject({ error: null, is_completed: true });
    }
    expect(new EnvGroup({ envs: [new Notebook(time), new Notebook(time, { resumable: false })] }).resumable).toBe(false);
  });

  it("is refused by what resumeState throws, and told from an error of the rollout", async () => {
    const time = new Time();
    const model = new Model(time, noting);
    const { opened, turn } = await leftAt(new Notebook(time), time, 2, model);
    const environment = new (class extends Notebook {
      override async resumeState(): Promise<void> {
        throw new Error("it is gone");
      }
    })(time);
    await expect(environment.rollout(opened, context(time, { from: turn }))).rejects.toSatisfy(isNotResumed);
    expect(opened.error).toBeNull();
  });
});

describe("the sandbox of a rollout that is left", () => {
  const make = (provider: ScriptedSandbox) => new SandboxEnv({ sandbox: provider, dataset: [{ question: "q" }], maxTurns: 3, sleep: async () => undefined });
  const bash = (): Partial<Message> => ({ tool_calls: [{ id: "a", name: "bash", arguments: '{"command":"ls"}' }] });

  it("stays when its executor ends, is used by the next one, and ends with the rollout", async () => {
    const time = new Time();
    const provider = new ScriptedSandbox();
    const model = new Model(time, bash);
    const first = make(provider);
    const { opened, turn } = await leftAt(first, time, 1, model);
    await first.teardown();
    expect(provider.running).toEqual(["sandbox-env-0"]);
    const state = await make(provider).rollout(opened, context(time, { from: turn }));
    expect(state).toMatchObject({ error: null, stop_condition: "max_turns_reached", sandbox_id: "sandbox-env-0" });
    expect(provider.created).toHaveLength(1);
    expect(provider.created[0]?.commands).toEqual(["ls", "ls"]);
    expect(provider.running).toEqual([]);
  });

  it("ends when the rollout is cancelled and nobody goes on with it", async () => {
    const time = new Time();
    const provider = new ScriptedSandbox();
    const model = new Model(time, bash);
    const environment = make(provider);
    const abort = new AbortController();
    model.meanwhile = (turn) => turn === 1 && abort.abort(new Error("the run was deleted"));
    const state = environment.initState(await firstOf(environment), { client: model, model: "m", sampling_args: {}, now: 0 });
    await expect(environment.rollout(state, { signal: abort.signal, now: () => time.now, onTurn: () => "go-on" })).rejects.toThrow("the run was deleted");
    expect(provider.running).toEqual([]);
  });

  it("that has ended meanwhile has the rollout begun anew", async () => {
    const time = new Time();
    const provider = new ScriptedSandbox();
    const { opened, turn } = await leftAt(make(provider), time, 1, new Model(time, bash));
    await provider.delete(provider.running);
    await expect(make(provider).rollout(opened, context(time, { from: turn }))).rejects.toSatisfy(isNotResumed);
  });
});
