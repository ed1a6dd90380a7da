import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Dispatcher } from "../../../durable-objects/dispatcher/dispatcher.ts";
import type { OfferMessage } from "../../../durable-objects/dispatcher/offers.ts";
import { DISPATCHER_NAME } from "../../../durable-objects/stubs.ts";
import { operations } from "../../../src/operations.ts";
import { dispatcher, service, setQueue, setVars, STEADY, until } from "../support/service.ts";

/** More than the one value of before could hold. */
const MANY = 20_000;

const raw = () => service.DISPATCHER.getByName(DISPATCHER_NAME);
const idOf = (index: number): string => index.toString(16).padStart(8, "0");
const offerOf = (index: number, changes: Partial<OfferMessage> = {}): OfferMessage => ({ run: idOf(index), want: 4, weight: 1, seq: 1, ...changes });
const ask = (changes: Partial<Parameters<Dispatcher["next"]>[0]> = {}) => dispatcher().next({ executor: "e", free: 5, serving: [], refused: [], ...changes });

/** Offers of `count` runs, taken by the object itself: as many calls from outside would only test the calls. */
function offerMany(count: number): Promise<void> {
  return runInDurableObject(raw(), async (instance: Dispatcher) => {
    for (let index = 0; index < count; index++) await instance.offer(offerOf(index));
  });
}

/** What one call costs the object; its alarm cannot come between. */
function rowsOf(call: (instance: Dispatcher) => Promise<unknown>): Promise<{ read: number; written: number }> {
  return runInDurableObject(raw(), async (instance: Dispatcher) => {
    const before = operations();
    const work = call(instance);
    const after = operations();
    await work;
    return { read: after.do_rows_read - before.do_rows_read, written: after.do_rows_written - before.do_rows_written };
  });
}

let sent: { run: string }[] = [];
beforeEach(() => {
  setVars(STEADY);
  sent = [];
  setQueue({
    sendBatch: async (messages) => {
      sent.push(...[...messages].map(({ body }) => body as { run: string }));
      return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
    },
  });
});
afterEach(() => reset());

describe("the Dispatcher", () => {
  it(`knows ${MANY} runs, a row for each, and its calls read and write no more rows than with one`, async () => {
    await offerMany(MANY);
    const stored = await runInDurableObject(raw(), (_, { storage }) => ({
      rows: storage.sql.exec<{ count: number }>("SELECT count(*) AS count FROM offers").one().count,
      values: [...storage.kv.list()].length,
    }));
    expect(stored).toEqual({ rows: MANY, values: 0 });
    const request = { executor: "e", free: 5, serving: [], refused: [] };
    // Of the two runs that it names, and no more than the alarm beside.
    const named = await rowsOf((instance) => instance.next(request));
    const offered = await rowsOf((instance) => instance.offer(offerOf(MANY)));
    const full = await rowsOf((instance) => instance.next({ ...request, free: 0, serving: [{ run: idOf(3), requests: 5 }] }));
    expect([named.read, offered.read, full.read]).toEqual([2, 1, 0]);
    expect([named.written <= 3, offered.written <= 2, full.written <= 1]).toEqual([true, true, true]);
  });

  it("goes on where it was after an eviction: what it was told, and who was served", async () => {
    for (let index = 0; index < 5; index++) await dispatcher().offer(offerOf(index, { want: index + 1, seq: 7 }));
    await dispatcher().offer(offerOf(9, { want: 0, seq: 9 }));
    const named = [await ask(), await ask()].flatMap(({ runs }) => runs.map(({ run }) => run));
    expect(named).toEqual([0, 1, 2, 3].map(idOf));
    await evictDurableObject(raw());
    const { runs, wanted } = await ask({ free: 2 });
    expect([runs, wanted]).toEqual([[{ run: idOf(4), want: 5, seq: 7 }], 15]);
    // A withdrawn offer is remembered too.
    await dispatcher().offer(offerOf(9, { want: 3, seq: 8 }));
    expect((await ask({ free: 1 })).wanted).toBe(15);
  });

  it("takes over what the version before has stored as one value", async () => {
    await runInDurableObject(raw(), (_, { storage }) => {
      storage.sql.exec("DROP TABLE offers; DROP TABLE schema_version");
      const standing = { weight: 1, seq: 4, nudged_at: 1, backoff: 2_000, changed_at: Date.now() };
      const offers = {
        aaaaaaaa: { run: "aaaaaaaa", want: 3, executors: 2, served: 9, ...standing },
        bbbbbbbb: { run: "bbbbbbbb", want: 5, served: 8, ...standing },
      };
      storage.kv.put("state", { version: 1, offers });
    });
    await evictDurableObject(raw());
    expect(await ask({ free: 1 })).toMatchObject({ runs: [{ run: "bbbbbbbb", want: 5, seq: 4 }], wanted: 8 });
    expect(await runInDurableObject(raw(), (_, { storage }) => [...storage.kv.list()].length)).toBe(0);
  });

  it("takes over the rows of the version before, which knew no isolates", async () => {
    await dispatcher().offer(offerOf(1, { want: 3, seq: 4 }));
    await runInDurableObject(raw(), (_, { storage }) => {
      storage.sql.exec("ALTER TABLE offers DROP COLUMN wall; UPDATE schema_version SET version = 2");
    });
    await evictDurableObject(raw());
    expect(await ask({ free: 1 })).toMatchObject({ runs: [{ run: idOf(1), want: 3, seq: 4 }], wanted: 3 });
    await dispatcher().offer(offerOf(2, { wall: "w" }));
    await evictDurableObject(raw());
    expect(await ask({ serving: [{ run: idOf(1), requests: 1 }] })).toMatchObject({ runs: [{ run: idOf(2), wall: "w" }] });
  });

  it("starts empty where a version that it does not know has stored something", async () => {
    await dispatcher().offer(offerOf(1));
    await runInDurableObject(raw(), (_, { storage }) => void storage.sql.exec("UPDATE schema_version SET version = 99"));
    await evictDurableObject(raw());
    expect(await ask()).toMatchObject({ runs: [], wanted: 0 });
  });
});

describe("wake-ups", () => {
  it("are sent by the alarm: whoever makes an offer does not wait for a queue", async () => {
    const queue = Promise.withResolvers<void>();
    let asked = 0;
    setQueue({
      sendBatch: async () => {
        asked++;
        await queue.promise;
        return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
      },
    });
    await dispatcher().offer(offerOf(1));
    await until("the wake-up", async () => asked > 0);
    expect(await ask()).toMatchObject({ wanted: 4 });
    queue.resolve();
  });

  it("come again for offers that an instance before this one has sent some for", async () => {
    await dispatcher().offer(offerOf(1));
    await until("the first", async () => sent.length > 0);
    sent = [];
    await evictDurableObject(raw());
    await ask({ free: 0 });
    await until("another", async () => sent.length > 0);
  });
});
