import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Channel } from "../../../src/environment-protocol/channel.ts";
import { openSession } from "../../../src/environment-session/session.ts";
import { defineEnvironment, type LoadContext } from "../../../src/environments/definition/definition.ts";
import type { HostedEnvironment } from "../../../src/environments/hosted/hosted-environment.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { runUnit, type UnitOptions, type UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { MIB } from "../../../src/limits.ts";
import type { Client, RolloutInput } from "../../../src/rollouts/types.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import type { WalledOptions } from "../../../src/walled/walled-environment.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { EXAMPLE, response, scripted, unitOptions } from "../../support/walled/units.ts";
import { type Walled, walledBy } from "../../support/walled/walled.ts";

type Said = Record<string, unknown> & { type: string };

const definition = defineEnvironment({
  id: "hostile",
  version: "1",
  description: "",
  args: z.object({}),
  load: () => new SingleTurnEnv({ dataset: [{ question: "2+2" }], rubric: new Rubric([{ name: "right", fn: () => 1 }]) }),
});

/** An honest session whose words are changed on their way: one message becomes any number of them. */
function lying(
  change: (message: Said, send: (...messages: unknown[]) => void) => readonly unknown[] | undefined,
  hear: (message: Said) => readonly unknown[] | undefined = () => undefined,
) {
  return (channel: Channel): void => {
    const between: Channel = {
      send: (batch) => {
        const changed = (batch as readonly Said[]).flatMap((message) => change(message, (...messages) => channel.send(messages)) ?? [message]);
        if (changed.length > 0) channel.send(changed);
      },
      onBatch: () => undefined,
      onBroken: () => undefined,
      close: () => channel.close(),
    };
    openSession(() => definition, between);
    channel.onBatch = (batch) => {
      const answers = (batch as readonly Said[]).flatMap((message) => hear(message) ?? []);
      if (answers.length > 0) channel.send(answers);
      between.onBatch(batch);
    };
    channel.onBroken = (reason) => between.onBroken(reason);
  };
}

/** Changes messages of one type. */
const changing = (type: string, change: (message: Said) => readonly unknown[]) => lying((message) => (message.type === type ? change(message) : undefined));

interface Opened extends Walled {
  readonly hosted: HostedEnvironment;
  readonly run: (fields?: Partial<UnitOptions>, client?: Client, count?: number) => Promise<UnitOutcome>;
}

async function opened(session: (channel: Channel) => void, patience: WalledOptions = {}, context: Partial<LoadContext> = {}): Promise<Opened> {
  const all = walledBy(definition, session, patience);
  const hosted = await all.offered.load({}, { datasets: memoryDatasets(""), ...context });
  const run: Opened["run"] = (fields = {}, client = scripted(() => response("4")), count = 1) => runUnit(hosted, EXAMPLE, unitOptions(client, count, fields));
  return { ...all, hosted, run };
}

const errorsOf = ({ lines }: UnitOutcome) =>
  lines.map((line) => {
    const { error, reward, example_id, rollout_index } = JSON.parse(line) as {
      error: { code: string; error_chain_repr: string } | null;
      reward: number;
      example_id: number;
      rollout_index: number;
    };
    expect(example_id).toBe(EXAMPLE.example_id);
    return { rollout_index, reward, code: error?.code ?? null, message: error?.error_chain_repr ?? "" };
  });

/** The text of a state with some of it changed. */
function withState(
  message: Said,
  change: (kept: { state: Record<string, unknown>; input: { set: Record<string, unknown> } } & Record<string, unknown>) => void,
): Said {
  const kept = JSON.parse(String(message.text));
  change(kept);
  return { ...message, text: JSON.stringify(kept) };
}

describe("a message that is none ends what is open of its environment, and nothing else", () => {
  const CASES: readonly (readonly [string, unknown, RegExp])[] = [
    ["nothing", null, /it sent object where a message belongs/],
    ["a number", 7, /it sent number/],
    ["a list", [], /it sent a list/],
    ["no type", {}, /a message of the type undefined/],
    ["a type that there is not", { type: "__proto__" }, /"__proto__", which there is not/],
    ["a type of the other side", { type: "play" }, /"play", which there is not/],
    ["a field that is another", { type: "played", unit: "1", fatal: null, aborted: false }, /its message "played" is none: unit/],
    ["a unit that there is not", { type: "played", unit: 99, fatal: null, aborted: false }, /a unit 99, which there is not/],
    [
      "a call for a unit that there is not",
      { type: "call", call: 1, unit: 99, to: null, state: null, watches: false, request: { kind: "response", prompt: [], sampling_args: {}, tools: [] } },
      /for a unit 99/,
    ],
    ["an answer that nobody asked for", { type: "opened", traits: {} }, /"opened" is none: traits/],
    ["an answer of another question", { type: "closed" }, /answered closed, which nobody had asked for/],
    ["examples that nobody asked for", { type: "examples", read: 5, rows: [], done: false, size: null }, /examples that nobody asked for/],
  ];
  it.each(CASES)("%s", async (_, message, said) => {
    let lies = true;
    const { run, channels } = await opened(
      lying((own) => {
        if (!lies || own.type !== "ended") return undefined;
        lies = false;
        return [message];
      }),
    );
    const [error] = errorsOf(await run());
    expect(error).toMatchObject({ code: "environment_error", reward: 0 });
    expect(error?.message).toMatch(said);
    // The next example opens the channel anew.
    expect(errorsOf(await run())).toEqual([{ rollout_index: 0, reward: 1, code: null, message: "" }]);
    expect(channels).toHaveLength(2);
  });

  it("a batch that is none", async () => {
    const { run, channels } = await opened(lying(() => undefined));
    const outcome = run(
      {},
      scripted(() => new Promise(() => undefined)),
    );
    await expect.poll(() => channels[0]?.crossed.toEngine).toBe(2);
    channels[0]?.engine.onBatch("all" as never);
    expect(errorsOf(await outcome)[0]?.message).toMatch(/no batch of messages/);
  });

  it("a number that was given before", async () => {
    const { run } = await opened(changing("call", (message) => [message, message]));
    expect(errorsOf(await run())[0]?.message).toMatch(/gave the number 1 to a second call/);
  });
});

describe("a state that is none is its rollout's error, and no reward of 0", () => {
  const ended = (change: (message: Said) => unknown) => changing("ended", (message) => (message.rollout === 1 ? [change(message)] : [message]));
  const set = (values: Record<string, unknown>) => ended((message) => withState(message, ({ state }) => void Object.assign(state, values)));
  const CASES: readonly (readonly [string, (channel: Channel) => void, RegExp])[] = [
    ["a text that is no JSON", ended((message) => ({ ...message, text: "{" })), /is none/],
    ["JSON that is no state", ended((message) => ({ ...message, text: "[1,2]" })), /is none/],
    ["deep JSON", ended((message) => ({ ...message, text: "[".repeat(200_000) })), /is none/],
    ["another version", ended((message) => withState(message, (kept) => void Object.assign(kept, { v: 9 }))), /is none/],
    ["a text without end", ended((message) => ({ ...message, text: " ".repeat(20 * MIB) })), /more than 3 MiB/],
    ["a reward that is a text", set({ reward: "1" }), /has as reward a string/],
    [
      "a reward without end",
      ended((message) => ({ ...message, text: String(message.text).replace('"reward":1', '"reward":1e999') })),
      /has as reward Infinity/,
    ],
    ["metrics that are texts", set({ metrics: { right: "1" } }), /metrics that are no numbers/],
    ["a metric that overwrites the row", set({ metrics: { example_id: 7 } }), /metric called example_id/],
    ["many metrics", set({ metrics: Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`m${index}`, 1])) }), /too many metrics/],
    ["times that are texts", set({ timing: { generation_ms: "1" } }), /has no times/],
    ["usage that is a text", set({ usage: "many" }), /no tokens/],
    ["an error that is none", set({ error: "bad" }), /an error that is none/],
    ["an error of a code that there is not", set({ error: { code: "bad", message: "m", chain: [] } }), /an error that is none/],
    ["tools that are none", set({ tool_defs: [7] }), /tools that are none/],
    [
      "a model call without its answer",
      ended((message) => withState(message, (kept) => void Object.assign(kept, { steps: [{ step: { a: 1 }, as: [] }] }))),
      /model call without its answer/,
    ],
    ["an example without its messages", ended((message) => withState(message, ({ input }) => void Object.assign(input.set, { prompt: 7 }))), /is none/],
    [
      "a rollout that goes on",
      ended((message) => withState(message, (kept) => void Object.assign(kept, { turn: { prompt: null, elapsed_ms: 1 } }))),
      /not over/,
    ],
    ["a rollout of which nothing is said", changing("ended", (message) => (message.rollout === 1 ? [] : [message])), /not what became of it/],
    ["a rollout that there is not", ended((message) => ({ ...message, rollout: 7 })), /not what became of it/],
  ];
  it.each(CASES)("%s", async (_, session, said) => {
    const { run } = await opened(session);
    const [first, second, third] = errorsOf(await run({}, undefined, 3));
    expect([first, third].map((row) => [row?.reward, row?.code])).toEqual([
      [1, null],
      [1, null],
    ]);
    expect(second).toMatchObject({ rollout_index: 1, code: "environment_error", reward: 0 });
    expect(second?.message).toMatch(said);
  });

  const OWN: readonly (readonly [string, Record<string, Record<string, unknown>>])[] = [
    ["another example", { input: { set: { example_id: 99 }, gone: [] } }],
    ["a client", { state: { client: { type: "own" } } }],
    ["a prototype", JSON.parse('{"state": {"__proto__": {"reward": 5}}}') as Record<string, Record<string, unknown>>],
  ];
  it.each(OWN)("%s of its own changes nothing", async (_, values) => {
    const { hosted } = await opened(
      changing("ended", (message) => [
        withState(message, (kept) => {
          for (const [part, own] of Object.entries(values))
            for (const key of Object.keys(own)) Object.defineProperty(kept[part], key, { value: own[key], enumerable: true, configurable: true });
        }),
      ]),
    );
    const client = scripted(() => response("4"));
    const [state] = (await hosted.play(EXAMPLE, [0], unitOptions(client, 1))).states ?? [];
    expect([state?.example_id, state?.client, state?.reward, Object.keys(state ?? {}).includes("client")]).toEqual([EXAMPLE.example_id, client, 1, false]);
  });

  it("a second word of it is not heard", async () => {
    const { run } = await opened(changing("ended", (message) => [message, withState(message, ({ state }) => void Object.assign(state, { reward: 99 }))]));
    expect(errorsOf(await run())).toMatchObject([{ reward: 1 }]);
  });

  it("words after the end are not heard", async () => {
    const { run, channels } = await opened(
      lying((message, send) => void (message.type === "played" && setTimeout(() => send(message, { ...message, type: "scoring", rollout: null }), 5))),
    );
    expect(errorsOf(await run())).toMatchObject([{ reward: 1 }]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(errorsOf(await run())).toMatchObject([{ reward: 1 }]);
    expect(channels).toHaveLength(1);
  });
});

describe("what is not an environment's to say", () => {
  const failing = (code: string) =>
    changing("ended", (message) => [
      withState(message, ({ state }) => void Object.assign(state, { error: { code, message: "said", chain: [{ name: "ModelError", message: "said" }] } })),
    ]);

  it("is that a run cannot go on", async () => {
    for (const session of [
      changing("played", (message) => [{ ...message, fatal: { code: "auth_failed", message: "401" } }]),
      failing("auth_failed"),
      failing("poisoned"),
    ]) {
      const outcome = await (await opened(session)).run();
      expect(outcome).toMatchObject({ fatal: null, aborted: false });
      expect(errorsOf(outcome)).toMatchObject([{ code: "environment_error", message: expect.stringMatching(/not its to say/) as string }]);
    }
  });

  it("but where a server said it to one of its calls, in the server's words", async () => {
    const { run } = await opened(changing("played", (message) => [{ ...message, fatal: { code: "auth_failed", message: "something else" } }]));
    const outcome = await run(
      {},
      scripted(() => new EdgewiseError("auth_failed", "401 of the server")),
    );
    expect(outcome.fatal).toEqual({ code: "auth_failed", message: "401 of the server" });
  });

  it("is that an example is given up", async () => {
    const { run } = await opened(changing("played", (message) => [{ ...message, aborted: true }]));
    expect(errorsOf(await run())).toMatchObject([{ code: "environment_error", message: expect.stringMatching(/nobody had asked for/) as string }]);
  });

  it("is which model is evaluated, of which example, and with which keys", async () => {
    const client = scripted(() => response("4"));
    const { run } = await opened(
      changing("call", (message) => [
        { ...message, state_values: { example_id: 99, authorization: "x" }, request: { ...(message.request as object), model: "dearer" } },
      ]),
    );
    await run({}, client);
    expect(client.requests.map(({ model, state }) => [model, state.example_id])).toEqual([["m", EXAMPLE.example_id]]);
  });

  it("is what it may call: other models have the host's answer", async () => {
    const { run } = await opened(
      changing("call", (message) => [{ ...message, to: { base_url: "http://10.0.0.1", api_key_var: "OTHER" } }]),
      {},
      {
        client: ({ base_url }) => {
          throw new EdgewiseError("invalid_request", `no key for ${base_url}`);
        },
      },
    );
    expect(errorsOf(await run())[0]?.message).toMatch(/no key for http:\/\/10.0.0.1/);
  });
});

describe("what grows without end", () => {
  it("are calls: a unit has so many at once, and each further one is refused", async () => {
    const client = scripted(() => new Promise(() => undefined));
    let refused = 0;
    const all = walledBy(definition, (channel) => {
      lying((message) => (message.type === "call" ? Array.from({ length: 10_000 }, (_, index) => ({ ...message, call: index + 1 })) : undefined))(channel);
      const inner = channel.onBatch;
      channel.onBatch = (batch) => {
        refused += (batch as Said[]).filter(({ type, error }) => type === "answer" && error !== undefined).length;
        inner(batch);
      };
    });
    const hosted = await all.offered.load({}, { datasets: memoryDatasets("") });
    const end = new AbortController();
    const outcome = runUnit(hosted, EXAMPLE, unitOptions(client, 1, { signal: end.signal }));
    await expect.poll(() => refused).toBe(9_936);
    expect(client.requests).toHaveLength(64);
    end.abort(new Error("enough"));
    expect(await outcome).toMatchObject({ aborted: true });
  });

  it("are requests: one of them, and all that are under way", async () => {
    const prompt = [{ role: "user", content: "x".repeat(15 * MIB) }];
    const big = changing("call", (message) => [{ ...message, request: { kind: "response", prompt: [...prompt, ...prompt], sampling_args: {}, tools: [] } }]);
    expect(errorsOf(await (await opened(big)).run())[0]?.message).toMatch(/at most 16 MiB/);
    const many = changing("call", (message) =>
      Array.from({ length: 6 }, (_, index) => ({ ...message, call: index + 1, request: { kind: "response", prompt, sampling_args: {}, tools: [] } }))
        .reverse()
        .map((each, index) => ({ ...each, call: index + 1 })),
    );
    const client = scripted(() => new Promise(() => undefined));
    const end = new AbortController();
    const { run } = await opened(many);
    const outcome = run({ signal: end.signal }, client);
    await expect.poll(() => client.requests.length).toBe(4);
    end.abort(new Error("enough"));
    await outcome;
  });

  it("are prints", async () => {
    const printed: string[] = [];
    const { run } = await opened(
      changing("ended", (message) => [...Array.from({ length: 10_000 }, () => ({ type: "print", level: "INFO", text: "x" })), message]),
      {},
      { print: (_, text) => void printed.push(text()) },
    );
    expect(errorsOf(await run())[0]?.message).toMatch(/printed more than 2000 times/);
    expect(printed).toHaveLength(2_000);
  });

  it("are examples: only those that are asked for are taken, and a page without any is the end", async () => {
    const row = { example_id: 0, prompt: [], task: "t" };
    const pages = (rows: readonly unknown[]) =>
      lying(
        ({ type }) => (type === "examples" ? [] : undefined),
        ({ type, read }) => (type === "read" || type === "read_next" ? [{ type: "examples", read, rows, done: false, size: null }] : undefined),
      );
    const { hosted } = await opened(pages([row, row, row]));
    const taken: RolloutInput[] = [];
    for await (const example of hosted.examples(7)) taken.push(example);
    expect(taken).toHaveLength(7);
    const { hosted: empty } = await opened(pages([]));
    await expect(Array.fromAsync(empty.examples(-1))).rejects.toThrow(/a page without examples/);
  });

  it.each([
    ["no object", 7, /its message "examples" is none/],
    ["no id", { prompt: [], task: "t" }, /its message "examples" is none/],
    ["a prompt that is none", { example_id: 0, prompt: [{ role: "user", content: 7 }], task: "t" }, /row 0 has a prompt that is none/],
    ["info that is a list", { example_id: 0, prompt: [], task: "t", info: [1] }, /row 0 has no object as info/],
    ["a text of 20 MB", { example_id: 0, prompt: [], task: "t", more: "x".repeat(20 * MIB) }, /row 0 is/],
  ])("examples that are none: %s", async (_, row, said) => {
    const { hosted } = await opened(changing("examples", (message) => [{ ...message, rows: [row] }]));
    await expect(Array.fromAsync(hosted.examples(-1))).rejects.toThrow(said);
  });
});

describe("silence", () => {
  it("is an error of the environment for the unit, after a while in which no model is at work", async () => {
    const { run, channels } = await opened(
      changing("ended", () => []),
      { silenceMs: 150 },
    );
    const dropped = changing("played", () => []);
    expect(errorsOf(await run())[0]?.message).toMatch(/not what became of it/);
    const silent = await opened(dropped, { silenceMs: 150 });
    expect(errorsOf(await silent.run())).toMatchObject([
      { code: "environment_error", message: expect.stringMatching(/nothing was heard of it for 0.2 s/) as string },
    ]);
    expect(channels).toHaveLength(1);
  });

  it("is none while a model answers, or while it waits for its turn to score", async () => {
    const { run } = await opened(
      lying(() => undefined),
      { silenceMs: 100 },
    );
    const slow = scripted(() => new Promise((resolve) => setTimeout(() => resolve(response("4")), 400)));
    expect(errorsOf(await run({}, slow))).toMatchObject([{ code: null }]);
    expect(errorsOf(await run({ scoringTurn: () => new Promise((resolve) => setTimeout(resolve, 400)) }))).toMatchObject([{ code: null }]);
  });

  it("at the beginning refuses the environment, and in its examples fails them", async () => {
    const mute = walledBy(definition, () => undefined, { openingMs: 100 });
    await expect(mute.offered.load({}, { datasets: memoryDatasets("") })).rejects.toThrow(/did not answer within/);
    await expect(mute.offered.check({ env_args: {} }, () => "k")).rejects.toThrow(/did not answer within/);
    const { hosted } = await opened(
      changing("examples", () => []),
      { silenceMs: 100 },
    );
    await expect(Array.fromAsync(hosted.examples(-1))).rejects.toThrow(/gave no examples for/);
  });

  it("after it was told to end gives the session up", async () => {
    const { run, channels } = await opened(
      changing("played", () => []),
      { abortMs: 100 },
    );
    const end = new AbortController();
    const client = scripted(() => new Promise(() => undefined));
    const outcome = run({ signal: end.signal }, client);
    await expect.poll(() => client.requests.length).toBe(1);
    end.abort(new Error("enough"));
    expect(await outcome).toMatchObject({ aborted: true });
    silent = false;
    await run();
    expect(channels).toHaveLength(2);
  });
});

describe("a channel that breaks", () => {
  it("ends its units as errors of what broke, and the next unit opens it anew", async () => {
    const { run, channels } = await opened(lying(() => undefined));
    const client = scripted(() => new Promise(() => undefined));
    const outcome = run({}, client, 2);
    await expect.poll(() => client.requests.length).toBe(2);
    channels[0]?.breaks();
    expect(errorsOf(await outcome).map(({ code, message }) => [code, /isolate of the environment is gone/.test(message)])).toEqual([
      ["sandbox_error", true],
      ["sandbox_error", true],
    ]);
    expect(client.requests.every(({ signal }) => signal?.aborted === true)).toBe(true);
    expect(errorsOf(await run())).toMatchObject([{ code: null }]);
  });

  it("after the end of the run ends them without rows", async () => {
    const { run, channels } = await opened(lying(() => undefined));
    const end = new AbortController();
    const client = scripted(() => new Promise(() => undefined));
    const outcome = run({ signal: end.signal }, client);
    await expect.poll(() => client.requests.length).toBe(1);
    end.abort(new Error("enough"));
    channels[0]?.breaks();
    expect(await outcome).toMatchObject({ aborted: true, lines: [] });
  });
});
