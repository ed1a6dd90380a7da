import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TO_ENGINE } from "../../../src/environment-protocol/to-engine.ts";
import { Outbox } from "../../../src/environment-protocol/outbox.ts";
import { readMessage } from "../../../src/walled/read-message.ts";

const numbers = fc.oneof(fc.integer({ min: -1, max: 3 }), fc.constantFrom(null, 1.5, "1", undefined, Number.NaN, {}));
const texts = fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom(null, 7, undefined));
const anything = fc.oneof(fc.anything({ maxDepth: 2 }), fc.constantFrom({}, [], null));
/** One that is right, so that what stands beside it decides: of drawn ones hardly any is. */
const right = fc.constantFrom(
  { kind: "relay", route: "messages", body: {} },
  { kind: "response", prompt: [{ role: "user", content: "q" }], sampling_args: {}, tools: [] },
);
const request = fc.oneof(
  right,
  fc.record({
    kind: fc.constantFrom("response", "scores", "relay", "x"),
    route: fc.oneof(fc.constantFrom("messages", "chat/completions", "models"), anything),
    body: anything,
    prompt: fc.oneof(fc.array(fc.record({ role: fc.constantFrom("user", "bot", 7) })), anything),
    sampling_args: anything,
    tools: anything,
    texts: anything,
  }),
  anything,
);

describe("a message of the environment's side", () => {
  it.each(["call", "generated", "scored", "ended", "played"] as const)("%s that is taken by the quick look is one by its schema", (type) => {
    const message = fc.record({
      type: fc.constant(type),
      unit: numbers,
      call: numbers,
      rollout: numbers,
      state: numbers,
      text: texts,
      row: texts,
      code: texts,
      to: fc.constantFrom(null, undefined, {}, { base_url: "u", api_key_var: "K" }),
      watches: fc.oneof(fc.boolean(), anything),
      fatal: fc.oneof(fc.constantFrom(null, { code: "c", message: "m" }), anything),
      aborted: fc.oneof(fc.boolean(), anything),
      request,
    });
    fc.assert(
      fc.property(message, (raw) => {
        const read = readMessage(raw);
        const parsed = TO_ENGINE[type].safeParse(raw);
        expect(read.ok).toBe(parsed.success);
        if (!read.ok) expect(read.problem.length).toBeLessThan(400);
      }),
      { numRuns: 3_000 },
    );
  });

  it("may be anything at all", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true }), (raw) => {
        readMessage(raw);
      }),
    );
  });
});

describe("an outbox", () => {
  const opened = (waitMs = 5) => {
    const batches: unknown[][] = [];
    return { batches, outbox: new Outbox({ send: (batch) => void batches.push([...batch]), waitMs }) };
  };
  const moment = () => new Promise((resolve) => setTimeout(resolve, 0));

  it("sends what comes in one moment as one batch, in its order", async () => {
    const { batches, outbox } = opened();
    for (let n = 0; n < 3; n++) outbox.put({ n });
    await Promise.resolve().then(() => outbox.put({ n: 3 }));
    await moment();
    outbox.put({ n: 4 });
    await moment();
    expect(batches).toEqual([[{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }], [{ n: 4 }]]);
  });

  it("cuts a batch where its texts are too large for one message", async () => {
    const { batches, outbox } = opened();
    for (let n = 0; n < 5; n++) outbox.put({ n }, 3 * 1024 * 1024);
    await moment();
    expect(batches).toEqual([0, 1, 2, 3, 4].map((n) => [{ n }]));
  });

  it("says the newest of words that can wait, and none that was taken back", async () => {
    const { batches, outbox } = opened();
    for (let n = 0; n < 3; n++) outbox.later("a", () => ({ message: { n }, characters: 0 }));
    outbox.later("b", () => ({ message: { b: 1 }, characters: 0 }));
    outbox.later("c", () => null);
    expect([outbox.unsay("b"), outbox.unsay("b")]).toEqual([true, false]);
    await expect.poll(() => batches).toEqual([[{ n: 2 }]]);
  });

  it("sends nothing once it is closed", async () => {
    const { batches, outbox } = opened();
    outbox.put({ n: 1 });
    outbox.later("a", () => ({ message: { n: 2 }, characters: 0 }));
    outbox.close();
    outbox.put({ n: 3 });
    await new Promise((resolve) => setTimeout(resolve, 15));
    expect(batches).toEqual([]);
  });
});
