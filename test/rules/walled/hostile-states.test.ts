import { describe, expect, it } from "vitest";
import { MIB } from "../../../src/limits.ts";
import { EXAMPLE, response, scripted, unitOptions } from "../../support/walled/units.ts";
import { changing, errorsOf, lying, opened, type Said, withState } from "../../support/walled/lying.ts";
import type { Channel } from "../../../src/environment-protocol/channel.ts";

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
    [
      "parts with times that are texts",
      ended((message) => withState(message, (kept) => void Object.assign(kept, { marks: { setup: null, scoring: "x", model: [7], env: [] } }))),
      /times of its parts/,
    ],
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
