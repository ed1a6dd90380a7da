import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RunConfig } from "../../../../src/config/plan/run-config.ts";
import { Endpoints } from "../../../../src/executor/endpoints/endpoints.ts";
import type { ExecutorPorts, ExecutorStore } from "../../../../src/executor/ports.ts";
import { Slice } from "../../../../src/executor/slice.ts";
import { MAX_CACHED_ANSWER_BYTES } from "../../../../src/limits.ts";
import { nameRollout } from "../../../../src/rollouts/state/asked-questions.ts";
import type { ModelRequest, ModelResponse } from "../../../../src/rollouts/types.ts";
import { ask, completion } from "../../../support/clients/scripted-endpoint.ts";
import { clientPortsOfExecutor, grantFor } from "../../../support/run/executor-ports.ts";
import { MemoryDesks } from "../../../support/run/memory-desks.ts";

const unlimited = Number.POSITIVE_INFINITY;
const never = new Promise<never>(() => undefined);
const CACHE = { mode: "read-write", days: 30 } as const;

let desks: MemoryDesks;
let objects: Map<string, Uint8Array>;
/** What was sent to the model: its prompts. */
let sent: string[];
let said: (prompt: string) => Promise<Response> | Response;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  desks = new MemoryDesks();
  objects = new Map();
  sent = [];
  said = () => Response.json(completion(`answer ${sent.length}`));
});
afterEach(() => void vi.useRealTimers());

const store = {
  readAll: async (key: string) => objects.get(key) ?? null,
  put: async (key: string, bytes: Uint8Array) => void objects.set(key, bytes),
} as Partial<ExecutorStore> as ExecutorStore;

function executor(id: string, changes: Partial<ExecutorPorts> = {}, connections: number | null = null) {
  const ports = clientPortsOfExecutor({
    ...{ id, boot: "b", runtime: "r", answers: desks.of, store },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, ms);
        signal?.addEventListener("abort", () => {
          clearTimeout(timer);
          reject(signal.reason);
        });
      }),
    fetch: async (_url, init) => {
      const { messages } = JSON.parse(String(init?.body)) as { messages: { content: string }[] };
      const prompt = messages.at(-1)?.content ?? "";
      sent.push(prompt);
      const off = new Promise<never>((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
      return await Promise.race([said(prompt), off]);
    },
    ...changes,
  });
  const budget = {
    ...{ requests: 8, connections, margin: 0, poll: 0, slice: unlimited, wanted: unlimited, wall: unlimited, rollouts: unlimited, held: 0 },
    ...{ subrequests: unlimited, outage: 0, firstAnswer: 0, storm: 0, keepTurns: 10_000, unitDeadline: null },
  };
  const endpoints = new Endpoints(ports, new Slice(budget, Date.now), budget);
  const told: string[] = [];
  const notes = {
    answered: 0,
    retry: () => undefined,
    info: () => undefined,
    warning: (kind: string, message: string) => void told.push(`${kind}: ${message}`),
  };
  const open = async (config: Partial<RunConfig> = {}) => (await endpoints.open(grantFor({ cache: CACHE, model: "m", ...config }, 500), notes)).clientOf(0);
  return { endpoints, notes, told, open };
}

const request = (prompt: string, rollout = 0, fields: Partial<ModelRequest> = {}): ModelRequest => {
  const state = { example_id: 1, trajectory: [] };
  nameRollout(state, rollout);
  return ask({ prompt: [{ role: "user", content: prompt }], state, model: "m", ...fields });
};
/** Of the machine, whatever the test makes of time. */
const later = globalThis.setTimeout;
/** Digests are made beside the loop, by threads that may have to wait for a core: now and then time passes for them too. */
const beside = (turns: number): Promise<unknown> => new Promise((resolve) => (turns % 20 === 0 ? later(resolve, 1) : setImmediate(resolve)));
/** What `work` comes to, with timers that are due as soon as nothing else is. */
async function soon<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = work.finally(() => (isOver = true));
  over.catch(() => undefined);
  for (let turns = 0; turns < 100_000 && !isOver; turns++) {
    await vi.advanceTimersByTimeAsync(1);
    await beside(turns);
  }
  expect(isOver).toBe(true);
  return await over;
}
/** Waits until that is so. */
async function comes(isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < 100_000 && !isSo(); turns++) {
    await vi.advanceTimersByTimeAsync(1);
    await beside(turns);
  }
  expect(isSo()).toBe(true);
}
const text = ({ message, cached }: ModelResponse): readonly [unknown, boolean] => [message.content, cached === true];

describe("an executor that keeps answers", () => {
  it("asks once for each attempt, and marks what it did not send", async () => {
    const { open, notes } = executor("x");
    const client = await open();
    expect(text(await soon(client.getResponse(request("a"))))).toEqual(["answer 1", false]);
    expect(text(await soon(client.getResponse(request("a"))))).toEqual(["answer 1", true]);
    expect(text(await soon(client.getResponse(request("a", 1))))).toEqual(["answer 2", false]);
    const again = request("a");
    expect(text(await soon(client.getResponse(again)))).toEqual(["answer 1", true]);
    expect(text(await soon(client.getResponse(again)))).toEqual(["answer 3", false]);
    expect([sent.length, notes.answered]).toEqual([3, 3]);
  });

  it("says what many want in few calls", async () => {
    const client = await executor("x").open();
    await soon(Promise.all(Array.from({ length: 400 }, (_, n) => client.getResponse(request(`p${n}`)))));
    expect(sent).toHaveLength(400);
    // Two for each desk, of wants and of answers, and a few that were cut in two by the turns of the loop.
    expect(desks.said.length).toBeLessThan(200);
    expect(new Set(desks.said.map(({ desk }) => desk)).size).toBe(16);
    const before = desks.said.length;
    await soon(Promise.all(Array.from({ length: 400 }, (_, n) => client.getResponse(request(`p${n}`)))));
    expect(sent).toHaveLength(400);
    expect(desks.said.length - before).toBeLessThan(100);
  });

  it("asks nobody and names nothing where its run has no cache", async () => {
    const client = await executor("x").open({ cache: undefined as never });
    await soon(client.getResponse(request("a")));
    expect([desks.said, objects.size]).toEqual([[], 0]);
  });

  it("sends what is of no rollout", async () => {
    const client = await executor("x").open();
    for (let n = 0; n < 2; n++) await soon(client.getResponse(request("a", 0, { state: {} })));
    expect([sent.length, desks.said.length]).toEqual([2, 0]);
  });

  it("claims and keeps nothing where it only reads", async () => {
    const client = await executor("x").open({ cache: { mode: "read", days: 1 } });
    await soon(client.getResponse(request("a")));
    expect(desks.said.map(({ request: { claims, done } }) => [claims, done])).toEqual([[false, []]]);
    expect([sent.length, objects.size, desks.claims.size]).toEqual([1, 0, 0]);
  });

  it("takes no permit and no connection for an answer that is kept, beyond that of reading it", async () => {
    const client = await executor("x").open();
    await soon(client.getResponse(request("a")));
    said = () => never;
    const other = executor("y", {}, 2);
    const busy = await other.open();
    const off = new AbortController();
    void busy.getResponse(request("b", 0, { signal: off.signal })).catch(() => undefined);
    expect(text(await soon(busy.getResponse(request("a"))))).toEqual(["answer 1", true]);
    off.abort();
  });

  it("keeps no answer above the limit, and asks for it again", async () => {
    const client = await executor("x").open();
    // What stands around an answer is of the same length each time.
    await soon(client.getResponse(request("small")));
    const [small = new Uint8Array()] = objects.values();
    const most = MAX_CACHED_ANSWER_BYTES - small.byteLength + "answer 1".length;
    said = () => Response.json(completion("x".repeat(most)));
    await soon(client.getResponse(request("fits")));
    expect([...objects.values()].map(({ byteLength }) => byteLength)).toEqual([small.byteLength, MAX_CACHED_ANSWER_BYTES]);
    said = () => Response.json(completion("x".repeat(most + 1)));
    for (let n = 0; n < 2; n++) await soon(client.getResponse(request("does not")));
    await comes(() => desks.claims.size === 0);
    expect([sent.length, objects.size]).toEqual([4, 2]);
  });

  it("asks anew for an object that is gone, or that cannot be read", async () => {
    const client = await executor("x").open();
    await soon(client.getResponse(request("a")));
    const [key = ""] = objects.keys();
    for (const damaged of [null, "{", '{"v":2,"stored_at":1,"expires_at":9e15,"answer":{}}', '{"v":1,"stored_at":1,"expires_at":2,"answer":{}}']) {
      if (damaged === null) objects.delete(key);
      else objects.set(key, new TextEncoder().encode(damaged));
      const before = sent.length;
      expect(text(await soon(client.getResponse(request("a"))))[1]).toBe(false);
      expect(text(await soon(client.getResponse(request("a"))))[1]).toBe(true);
      expect(sent.length).toBe(before + 1);
    }
  });

  it("keeps requests that are passed on, answers in pieces as they came", async () => {
    const client = await executor("x").open();
    const events = `data: ${JSON.stringify({ id: "s", model: "m", choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
    said = () => new Response(events, { headers: { "content-type": "text/event-stream" } });
    const relayed = () => {
      const { state } = request("a");
      const body = { messages: [{ role: "user", content: "a" }], stream: true };
      return soon(client.relay?.({ route: "chat/completions", body, model: "m", state, signal: null }) ?? never);
    };
    const first = await relayed();
    expect(first).toMatchObject({ status: 200, text: events });
    expect(await relayed()).toMatchObject({ status: 200, content_type: first.content_type, text: events });
    expect(sent).toHaveLength(1);
  });
});

describe("two executors", () => {
  it("ask once what both want; the other takes it", async () => {
    const clients = await Promise.all(["x", "y"].map((id) => executor(id).open()));
    const answers = await soon(Promise.all(clients.map((client) => client.getResponse(request("a")))));
    expect(sent).toEqual(["a"]);
    expect(answers.map(text).sort()).toEqual([
      ["answer 1", false],
      ["answer 1", true],
    ]);
  });

  it("ask again what one of them gave up or was refused", async () => {
    const [x, y] = await Promise.all(["x", "y"].map((id) => executor(id).open()));
    let refuse: (response: Response) => void = () => undefined;
    said = () => new Promise((resolve) => (refuse = resolve));
    const first = x?.getResponse(request("a")) ?? never;
    const failed = expect(first).rejects.toThrow();
    await comes(() => sent.length === 1);
    const second = y?.getResponse(request("a")) ?? never;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent).toHaveLength(1);
    said = () => Response.json(completion("fine"));
    refuse(Response.json({ error: { message: "no" } }, { status: 400 }));
    await failed;
    expect(text(await soon(second))).toEqual(["fine", false]);
  });

  it("ask themselves when another has not answered for ten minutes", async () => {
    const [x, y] = await Promise.all(["x", "y"].map((id) => executor(id).open()));
    said = () => never;
    void x?.getResponse(request("a"));
    await comes(() => sent.length === 1);
    said = () => Response.json(completion("fine"));
    const second = y?.getResponse(request("a")) ?? never;
    let over = false;
    void second.then(() => (over = true));
    for (let minutes = 0; minutes < 11; minutes++) {
      expect([minutes, over]).toEqual([minutes, false]);
      for (let n = 0; n < 60 && !over; n++) {
        await vi.advanceTimersByTimeAsync(1_000);
        await beside(n);
      }
      if (over) break;
    }
    expect(text(await soon(second))).toEqual(["fine", false]);
  });
});

describe("a request that is called off", () => {
  it("leaves no claim: before the desk has answered, while it waits, and while the model is asked", async () => {
    const client = await executor("x").open();
    const reason = new Error("off");
    // While the model is asked.
    said = () => never;
    const off = new AbortController();
    const asked = expect(client.getResponse(request("a", 0, { signal: off.signal }))).rejects.toBe(reason);
    await comes(() => desks.claims.size === 1);
    // While another waits for it.
    const waits = new AbortController();
    const waiting = expect((await executor("y").open()).getResponse(request("a", 0, { signal: waits.signal }))).rejects.toBe(reason);
    await comes(() => desks.said.some(({ request: { party } }) => party.executor === "y") === true);
    waits.abort(reason);
    await soon(waiting);
    off.abort(reason);
    await soon(asked);
    await comes(() => desks.claims.size === 0);
    // Before the desk has answered.
    const early = new AbortController();
    const asking = expect(client.getResponse(request("b", 0, { signal: early.signal }))).rejects.toBe(reason);
    await comes(() => desks.claims.size === 1);
    early.abort(reason);
    await soon(asking);
    await comes(() => desks.claims.size === 0);
  });
});

describe("answers that cannot be had", () => {
  it("are asked for, and it is said once to each run: a desk that fails, hangs, or is of another version", async () => {
    for (const [instead, words] of [
      [() => Promise.reject(new Error("the desk is away")), "the desk is away"],
      [() => never, "no answer"],
      [async () => ({ kind: "refused", message: "of another version" }) as const, "of another version"],
    ] as const) {
      desks.instead = instead;
      const { open, told } = executor("x");
      const client = await open();
      const before = sent.length;
      for (let n = 0; n < 5; n++) expect(text(await soon(client.getResponse(request(`p${n}`))))[1]).toBe(false);
      expect([sent.length - before, objects.size]).toEqual([5, 0]);
      expect(new Set(told)).toEqual(new Set([expect.stringContaining(words)]));
    }
  });

  it("are had again once the desk answers", async () => {
    desks.instead = () => Promise.reject(new Error("away"));
    const client = await executor("x").open();
    await soon(client.getResponse(request("a")));
    desks.instead = null;
    await vi.advanceTimersByTimeAsync(10_000);
    await soon(client.getResponse(request("a")));
    expect(text(await soon(client.getResponse(request("a"))))[1]).toBe(true);
    expect(sent).toHaveLength(2);
  });

  it("are not waited for where storage hangs", async () => {
    const hangs = { readAll: () => never, put: () => never } as Partial<ExecutorStore> as ExecutorStore;
    const { open, told } = executor("x", { store: hangs });
    const client = await open();
    for (let n = 0; n < 3; n++) await soon(client.getResponse(request(`p${n}`)));
    await comes(() => desks.claims.size === 0);
    expect([sent.length, desks.kept.size]).toEqual([3, 0]);
    expect(told).toEqual([expect.stringContaining("storage did not answer")]);
  });

  it("are none in a deployment without desks, which is said", async () => {
    const { open, told } = executor("x", { answers: () => null });
    await soon((await open()).getResponse(request("a")));
    expect([sent.length, told.length]).toEqual([1, 1]);
    expect(told[0]).toContain("wrangler.toml");
  });
});
