import { describe, expect, it } from "vitest";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { runUnit } from "../../../src/environments/unit/run-unit.ts";
import { MIB } from "../../../src/limits.ts";
import type { RolloutInput } from "../../../src/rollouts/types.ts";
import { memoryDatasets } from "../../support/environments/memory-datasets.ts";
import { changing, definition, errorsOf, lying, opened, type Said, withState } from "../../support/walled/lying.ts";
import { EXAMPLE, response, scripted, unitOptions } from "../../support/walled/units.ts";
import { walledBy } from "../../support/walled/walled.ts";

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

  it("that is filled with calls ends all the same, when the time of the unit is over", async () => {
    let clock = 0;
    const { run } = await opened(
      lying((message) => (message.type === "played" ? [] : undefined)),
      { silenceMs: 100_000, now: () => clock, watchMs: 20 },
    );
    const outcome = run({ deadlineMs: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 60));
    clock = 99_000;
    await new Promise((resolve) => setTimeout(resolve, 60));
    clock = 101_000;
    expect(errorsOf(await outcome)).toMatchObject([{ code: "timeout", message: expect.stringMatching(/went on after its time was over/) as string }]);
  });

  it("after it was told to end gives the session up", async () => {
    let silent = true;
    const { run, channels } = await opened(
      changing("played", (message) => (silent ? [] : [message])),
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
