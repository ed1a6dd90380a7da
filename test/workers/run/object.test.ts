import {
  createExecutionContext,
  createMessageBatch,
  createScheduledController,
  evictDurableObject,
  getQueueResult,
  reset,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WakeUp } from "../../../durable-objects/dispatcher/dispatcher-control.ts";
import { PROTOCOL } from "../../../durable-objects/run/protocol.ts";
import { DISPATCHER_NAME } from "../../../durable-objects/stubs.ts";
import { operations } from "../../../src/operations.ts";
import { pokeActiveRuns } from "../../../src/upkeep/watchdog.ts";
import worker from "../../../src/worker.ts";
import { Fleet } from "../support/fleet.ts";
import { NOTHING_NEW } from "../../support/run/resume-request.ts";
import { modelServer } from "../support/model-server.ts";
import { configOf, createRun, expectComplete, newRunId, rowsOf, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { pause, rawRun, registry, restoreClock, run, service, setQueue, setVars, silenceQueue, skip, STEADY, until } from "../support/service.ts";

let fleet: Fleet;
let model: ScriptedModel;

beforeEach(() => {
  setVars(STEADY);
  model = new ScriptedModel();
  fleet = new Fleet({ model });
});
afterEach(async () => {
  await fleet.close();
  restoreClock();
  await reset();
});

const finished = async (changes: Parameters<typeof createRun>[0] = {}) => {
  const config = await createRun({ num_examples: 4, ...changes });
  await fleet.settled(config.run_id);
  return config;
};
const objectsOf = async (prefix: string): Promise<string[]> => (await service.BUCKET.list({ prefix })).objects.map(({ key }) => key);

/** Everything an object may have stored. */
const storageOf = (runId: string): Promise<unknown> =>
  runInDurableObject(rawRun(runId), async (_, { storage }) => ({
    tables: storage.sql.exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\'").toArray(),
    keys: [...(await storage.list()).keys()],
    alarm: await storage.getAlarm(),
  }));
const NOTHING = { tables: [], keys: [], alarm: null };

/** What every method of a Run answers when there is no run. */
async function answersOf(runId: string): Promise<unknown> {
  const id = { protocol: PROTOCOL, ticket: 1, epoch: 1 } as const;
  const vitals = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };
  const pinned = { attempt: 1, chunks: [], count: 1, digest: "", env_digest: "", pass_threshold: 0.5, env_sampling_args: {} };
  const stub = () => run(runId);
  const executing = await Promise.all([
    stub().join({ protocol: PROTOCOL, executor: "e", seq: 1, free: 1, boot: "deployed" }),
    stub().claim({ ...id, seq: 1, free: 1, soon: 0, open: 0, started: [] }),
    stub().commit({ ...id, segment: "1-1-1", units: "[]" }),
    stub().beat({ ...id, started: [], vitals }),
    stub().leave(id),
    stub().prepared({ ...id, ...pinned }),
    stub().inputs(id),
    stub().adopt({ ...id, segment: "1-1-1", units: "[]", part: 0, through: 0 }),
    stub().adopted(id),
    stub().note({ ...id, level: "INFO", message: "" }),
    stub().fail({ ...id, failure: { code: "internal", message: "" } }),
    stub().window(id),
    stub().upload({ ...id, upload_id: "u" }),
    stub().part({ ...id, part: 1, etag: "e" }),
    stub().finalised(id),
  ]);
  const looking = await Promise.all([stub().view(), stub().metadata(), stub().committed(0, 1_000)]);
  const asking = await Promise.all([stub().cancel(), stub().interrupt(), stub().resume(NOTHING_NEW)]);
  return {
    executing: new Set(executing.map(({ kind }) => kind)),
    looking,
    asking: asking.map((answer) => (answer.ok ? "ok" : answer.error.code)),
    events: await stub().events(0, 10),
    poke: await stub().poke(),
    remove: await stub().remove(),
  };
}
const GONE = {
  executing: new Set(["gone"]),
  looking: [null, null, null],
  asking: ["not_found", "not_found", "not_found"],
  events: [],
  poke: undefined,
  remove: { ok: true, value: null },
};

describe("a run that was never created", () => {
  it("answers every call with gone, and writes nothing", async () => {
    const runId = newRunId();
    expect(await answersOf(runId)).toEqual(GONE);
    expect(await storageOf(runId)).toEqual(NOTHING);
    expect(await runDurableObjectAlarm(rawRun(runId))).toBe(false);
  });
});

describe("a run that is deleted", () => {
  it("is gone at once, and leaves nothing, its results in the bucket included", async () => {
    const config = await finished();
    const { run_id } = config;
    expect(await run(run_id).remove()).toEqual({ ok: true, value: null });
    expect(await answersOf(run_id)).toEqual(GONE);
    await until("its storage to be empty", async () => ((await storageOf(run_id)) as typeof NOTHING).tables.length === 0);
    expect(await storageOf(run_id)).toEqual(NOTHING);
    expect(await objectsOf(`runs/${run_id}/`)).toEqual([]);
    expect(await objectsOf("outputs/")).toEqual([]);
    expect((await registry().list({ skip: 0, limit: 10, environment_name: null })).runs).toEqual([]);
    expect(await answersOf(run_id)).toEqual(GONE);
    expect(await storageOf(run_id)).toEqual(NOTHING);
  });

  it("is removed in slices, however many objects it has", async () => {
    const { run_id } = await finished();
    const keys = Array.from({ length: 1_010 }, (_, index) => `runs/${run_id}/segments/9-9-${index}.jsonl`);
    for (let start = 0; start < keys.length; start += 100) await Promise.all(keys.slice(start, start + 100).map((key) => service.BUCKET.put(key, "x")));
    await run(run_id).remove();
    await until("its objects to be gone", async () => (await objectsOf(`runs/${run_id}/`)).length === 0);
    await until("its storage to be empty", async () => ((await storageOf(run_id)) as typeof NOTHING).tables.length === 0);
  });

  it("goes on being removed after an eviction in the middle", async () => {
    const { run_id } = await finished();
    await runInDurableObject(rawRun(run_id), async (instance, state) => {
      await instance.remove();
      await state.storage.deleteAlarm();
    });
    await evictDurableObject(rawRun(run_id));
    expect(await answersOf(run_id)).toEqual(GONE);
    await runInDurableObject(rawRun(run_id), (_, { storage }) => storage.setAlarm(Date.now()));
    await until("its storage to be empty", async () => ((await storageOf(run_id)) as typeof NOTHING).tables.length === 0);
  });

  it("gives its id back: another run under it knows nothing of the first", async () => {
    const first = await finished({ num_examples: 4 });
    await run(first.run_id).remove();
    await until("its storage to be empty", async () => ((await storageOf(first.run_id)) as typeof NOTHING).tables.length === 0);
    const second = await createRun({ run_id: first.run_id, num_examples: 6, model: "second" });
    await fleet.settled(second.run_id);
    await evictDurableObject(rawRun(second.run_id));
    await expectComplete(second);
    expect(await run(second.run_id).metadata()).toMatchObject({ model: "second", num_examples: 6 });
  });

  it("must have ended, or wait for a resume", async () => {
    model.options = { latencyMs: 1_000 };
    const { run_id } = await createRun();
    await until("a model call", async () => model.total > 0);
    expect(await run(run_id).remove()).toMatchObject({ ok: false, error: { code: "run_busy" } });
    await run(run_id).interrupt();
    await until("its open units to end", async () => (await viewOf(run_id)).executors === 0);
    expect(await run(run_id).remove()).toEqual({ ok: true, value: null });
    expect(await run(run_id).view()).toBeNull();
  });
});

describe("a creation that is repeated", () => {
  it("is harmless with the same config, and refused with another", async () => {
    const config = await createRun();
    const again = { config, boot: "deployed", import: null };
    expect(await run(config.run_id).create(again)).toMatchObject({ ok: true, value: { config } });
    expect(await run(config.run_id).create({ ...again, config: configOf({ run_id: config.run_id, model: "other" }) })).toMatchObject({
      ok: false,
      error: { code: "illegal_transition" },
    });
    await fleet.settled(config.run_id);
    await expectComplete(config);
  });
});

describe("the watchdog", () => {
  it("brings back a run whose alarm, offer and message are all lost", async () => {
    // The first message is lost; the Dispatcher forgets; the run's alarm is deleted.
    silenceQueue();
    const config = await createRun();
    await until("the run to be registered", async () => (await registry().turn(10)).includes(config.run_id));
    await runInDurableObject(rawRun(config.run_id), (_, { storage }) => storage.deleteAlarm());
    const dispatcher = service.DISPATCHER.getByName(DISPATCHER_NAME);
    await runInDurableObject(dispatcher, (_, { storage }) => storage.deleteAll());
    await evictDurableObject(dispatcher);
    await fleet.close();
    fleet = new Fleet({ model });
    await worker.scheduled(createScheduledController({ cron: "* * * * *" }), service);
    await fleet.settled(config.run_id);
    await expectComplete(config);
  });

  it("writes nothing where a poke changes nothing, in an object that was evicted too", async () => {
    silenceQueue();
    const config = await createRun();
    await until("the run to be registered", async () => (await registry().turn(10)).includes(config.run_id));
    for (const again of ["at once", "after an eviction"]) {
      // An alarm of the Dispatcher may come between, which sets the next one.
      await until(`a poke without a write, ${again}`, async () => {
        if (again !== "at once") await evictDurableObject(rawRun(config.run_id));
        await viewOf(config.run_id);
        const before = operations();
        await worker.scheduled(createScheduledController({ cron: "* * * * *" }), service);
        // What is said again to Dispatcher and Registry, and that they have it.
        await until("its announcements", async () => operations().do_requests >= before.do_requests + 5);
        await pause(20);
        return operations().do_rows_written === before.do_rows_written;
      });
    }
  });

  it("pokes the next ones each minute where they are more than it can", async () => {
    const ids = Array.from({ length: 5 }, (_, index) => String(index).padStart(8, "0"));
    await registry().reserve({ candidates: ids, count: 5, idempotency_key: null, body_digest: "d", now: Date.now() });
    const poked: string[] = [];
    const RUN = { getByName: (id: string) => ({ poke: async () => void poked.push(id) }) };
    const env = { ...service, RUN } as unknown as typeof service;
    for (let minute = 1; minute <= 3; minute++) {
      await pokeActiveRuns(env, 2);
      expect(poked.length).toBe(2 * minute);
    }
    expect(new Set(poked)).toEqual(new Set(ids));
  });

  it("does nothing to a run that has settled, and to one that waits for its user", async () => {
    const done = await finished();
    const waiting = await createRun({ num_examples: 4, attended: true });
    await run(waiting.run_id).interrupt();
    await until("both to be inactive", async () => (await registry().turn(10)).length === 0);
    const { messages } = fleet;
    const before = [await viewOf(done.run_id), await viewOf(waiting.run_id)];
    await worker.scheduled(createScheduledController({ cron: "* * * * *" }), service);
    expect([await viewOf(done.run_id), await viewOf(waiting.run_id)]).toEqual(before);
    expect(fleet.messages).toBe(messages);
  });
});

const batchOf = (queue: string, bodies: readonly WakeUp[]) =>
  createMessageBatch(
    queue,
    bodies.map((body, index) => ({ id: String(index), timestamp: new Date(), attempts: 1, body })),
  );

describe("the consumer of dead letters", () => {
  it("pokes the run, and neither fails nor repeats a message that makes no sense", async () => {
    silenceQueue();
    const config = await createRun();
    await until("the run to be registered", async () => (await registry().turn(10)).includes(config.run_id));
    await fleet.close();
    fleet = new Fleet({ model });
    const bodies = [config.run_id, "no-run-id", newRunId()].map((id) => ({ protocol: 1, run: id, seq: 1 }) as WakeUp);
    const batch = batchOf("rollouts-dead", bodies);
    await worker.queue(batch, service, createExecutionContext());
    expect(await getQueueResult(batch, createExecutionContext())).toMatchObject({ outcome: "ok", ackAll: true, retryMessages: [] });
    await fleet.settled(config.run_id);
    await expectComplete(config);
  });
});

describe("the consumer of the queue", () => {
  it("ends at once where it is to look again, so that the platform can decide on more, and works the second time", async () => {
    silenceQueue();
    const body: WakeUp = { protocol: 1, run: newRunId(), seq: 1, slice_ms: 1_000, again_ms: 1_000 };
    const delivered = async (attempts: number) => {
      const batch = createMessageBatch("rollouts-1", [{ id: "0", timestamp: new Date(), attempts, body }]);
      const before = operations().do_requests;
      await worker.queue(batch, service, createExecutionContext());
      return { ...(await getQueueResult(batch, createExecutionContext())), asked: operations().do_requests > before };
    };
    expect(await delivered(1)).toMatchObject({ ackAll: false, retryMessages: [{ msgId: "0" }], asked: false });
    expect(await delivered(2)).toMatchObject({ ackAll: true, retryMessages: [], asked: true });
  });

  it("works off a run, and three deliveries of its message do no harm", async () => {
    // Executors of the Worker itself call the platform's `fetch`, as it was when the Worker was loaded.
    await modelServer.play({});
    const waking: WakeUp[] = [];
    setQueue({
      sendBatch: async (messages) => {
        for (const { body } of messages) waking.push(body as WakeUp);
        return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
      },
    });
    const config = await createRun({ num_examples: 10, rollouts_per_example: 2, base_url: modelServer.baseUrl, model: "three-deliveries" });
    const consumers: Promise<void>[] = [];
    await until("the run to settle", async () => {
      for (const body of waking.splice(0)) {
        for (let delivery = 0; delivery < 3; delivery++) {
          const batch = batchOf("rollouts-0", [body]);
          consumers.push(
            worker
              .queue(batch, service, createExecutionContext())
              .then(async () => expect(await getQueueResult(batch, createExecutionContext())).toMatchObject({ ackAll: true })),
          );
        }
      }
      return (await viewOf(config.run_id)).phase === "settled";
    });
    await expectComplete(config);
    expect((await modelServer.stats("three-deliveries")).total).toBe(20);
    expect(consumers.length).toBeGreaterThanOrEqual(3);
    // Executors that find nothing end by themselves.
    await Promise.all(consumers);
  });
});

describe("segments to which no row points", () => {
  it("are swept a day after the run settled, the others stay", async () => {
    const config = await finished();
    const orphan = `runs/${config.run_id}/segments/9-1-1.jsonl`;
    await service.BUCKET.put(orphan, "rows of a zombie\n");
    const kept = (await objectsOf(`runs/${config.run_id}/`)).filter((key) => key !== orphan);
    await runDurableObjectAlarm(rawRun(config.run_id));
    expect(await objectsOf(orphan)).toEqual([orphan]);
    skip(24 * 3_600_000 + 1);
    await runInDurableObject(rawRun(config.run_id), (_, { storage }) => storage.setAlarm(Date.now()));
    await runDurableObjectAlarm(rawRun(config.run_id));
    expect(await objectsOf(`runs/${config.run_id}/`)).toEqual(kept);
    expect(kept.some((key) => key.includes("/segments/"))).toBe(true);
    expect(await rowsOf(config)).toHaveLength(4);
  });
});
