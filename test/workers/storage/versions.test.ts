import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunHead } from "../../../durable-objects/run/state/head.ts";
import { type ClaimRequest, PROTOCOL } from "../../../durable-objects/run/protocol.ts";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { bootOf } from "../../../src/env.ts";
import { NOTHING_NEW } from "../../support/run/resume-request.ts";
import { createRun } from "../support/runs.ts";
import { rawRun, registry, run, service, setVars, silenceQueue, STEADY, until } from "../support/service.ts";

beforeEach(() => {
  setVars(STEADY);
  silenceQueue();
});
afterEach(() => reset());

const TABLES = ["record", "ticket", "returned", "claim", "done", "suspect", "chunk", "event"];
/** Every row of every table. */
const storedOf = (runId: string): Promise<unknown> =>
  runInDurableObject(rawRun(runId), (_, { storage }) => TABLES.map((table) => storage.sql.exec(`SELECT * FROM ${table}`).toArray()));
const headOf = (runId: string): Promise<RunHead> =>
  runInDurableObject(
    rawRun(runId),
    (_, { storage }) => JSON.parse(String(storage.sql.exec("SELECT value FROM record WHERE key = 'head'").one().value)) as RunHead,
  );

const joining = { executor: "e", free: 8, boot: bootOf(service) } as const;
const SUMMARY = { reward: 1, error: null, input_tokens: 1, output_tokens: 1, truncated: false, metrics: {} };
const app = createApp(portsOf);
const ask = async (method: string, path: string): Promise<Response> =>
  app.request(
    `http://localhost/api/v1${path}`,
    { method, ...(method === "POST" ? { body: "{}", headers: { "content-type": "application/json" } } : {}) },
    { ...service, LOCAL: "1", LOCAL_SECRETS: { TEST_KEY: "sk-secret-of-a-test" } },
  );

/** A run of two units under the grant of an executor that knows no field which was added since the first version. */
async function workedByOneOfBefore() {
  const { run_id } = await createRun({ num_examples: 2 });
  const first = await run(run_id).join({ protocol: PROTOCOL, ...joining, seq: 1 });
  if (first.kind !== "grant") throw new Error(`no grant: ${first.kind}`);
  const preparing = { protocol: PROTOCOL, ticket: first.ticket, epoch: first.epoch } as const;
  const chunks = [{ lo: 0, hi: 2, digest: "c".repeat(64), bytes: 10 }];
  const pinned = { attempt: 1, chunks, count: 2, digest: "d".repeat(64), env_digest: "e".repeat(64), pass_threshold: 0.5, env_sampling_args: {} };
  const task = first.task.kind === "prepare" ? first.task.attempt : 1;
  expect(await run(run_id).prepared({ ...preparing, ...pinned, attempt: task })).toEqual({ kind: "ok" });
  const grant = await run(run_id).join({ protocol: PROTOCOL, ...joining, seq: 2 });
  if (grant.kind !== "grant") throw new Error(`no grant: ${grant.kind}`);
  await until("its announcements to arrive", async () => {
    const { offer, projection } = await headOf(run_id);
    return !offer.due && !projection.due;
  });
  return { run_id, ticket: { protocol: PROTOCOL, ticket: grant.ticket, epoch: grant.epoch } as const };
}
const CLAIM = { seq: 1, free: 2, soon: 0, open: 0, started: [] } as const;
const VITALS = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };
const committing = { segment: "1-2-1", units: JSON.stringify([0, 1].map((unit) => ({ unit, offset: 0, length: 1, rollouts: [SUMMARY] }))) };

describe("messages of another version", () => {
  it("of the one before, without what was added since, are understood", async () => {
    const { run_id, ticket } = await workedByOneOfBefore();
    expect(await run(run_id).claim({ ...ticket, ...CLAIM })).toMatchObject({ kind: "block", lo: 0 });
    expect(await run(run_id).beat({ ...ticket, started: [0], vitals: VITALS })).toEqual({ kind: "continue" });
    expect(await run(run_id).commit({ ...ticket, ...committing })).toMatchObject({ kind: "committed" });
    expect(await run(run_id).leave(ticket)).toEqual({ kind: "ok" });
    expect(await registry().reserve({ candidates: ["0000000a"], idempotency_key: null, body_digest: "", now: 1 })).toMatchObject({ ok: true });
  });

  it("of one that is not known yet get no work, and change nothing", async () => {
    const { run_id, ticket } = await workedByOneOfBefore();
    const later = { ...ticket, protocol: 2 } as unknown as typeof ticket;
    const before = await storedOf(run_id);
    expect(await run(run_id).join({ ...joining, protocol: later.protocol, executor: "later", seq: 1 })).toEqual({ kind: "none" });
    expect(await run(run_id).claim({ ...later, ...CLAIM } satisfies ClaimRequest)).toEqual({ kind: "lost" });
    expect(await run(run_id).beat({ ...later, started: [0], vitals: VITALS })).toEqual({ kind: "lost" });
    expect(await run(run_id).commit({ ...later, ...committing })).toMatchObject({ verdicts: ["stale", "stale"] });
    expect(await storedOf(run_id)).toEqual(before);
  });
});

describe("a run that a later version stored", () => {
  const CHANGES = {
    "its tables": "UPDATE record SET value = '99' WHERE key = 'schema'",
    "its head": "UPDATE record SET value = json_set(value, '$.version', 99) WHERE key = 'head'",
    "its config": "UPDATE record SET value = json_set(value, '$.version', 99) WHERE key = 'config'",
  };
  it.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])("is refused by name at every door, with %s as they are", async (what) => {
    const { run_id, ticket } = await workedByOneOfBefore();
    await runInDurableObject(rawRun(run_id), (_, { storage }) => void storage.sql.exec(CHANGES[what]));
    await evictDurableObject(rawRun(run_id));
    const before = await storedOf(run_id);
    const doors = {
      join: () => run(run_id).join({ protocol: PROTOCOL, ...joining, executor: "other", seq: 1 }),
      claim: () => run(run_id).claim({ ...ticket, ...CLAIM }),
      view: () => run(run_id).view(),
      resume: () => run(run_id).resume(NOTHING_NEW),
      poke: () => run(run_id).poke(),
      remove: () => run(run_id).remove(),
      uploads: () => run(run_id).uploads(),
    };
    for (const [door, call] of Object.entries(doors)) {
      const refusal = await call().then(
        () => "answered",
        (error: unknown) => error,
      );
      expect([door, refusal]).toEqual([door, expect.objectContaining({ code: "stored_version_unknown", hint: expect.stringContaining("newer") })]);
    }
    for (const [method, path] of [
      ["GET", `/evaluations/${run_id}`],
      ["POST", `/evaluations/${run_id}/resume`],
      ["DELETE", `/evaluations/${run_id}`],
    ] as const) {
      const response = await ask(method, path);
      expect([method, response.status, await response.json()]).toEqual([
        method,
        500,
        expect.objectContaining({ code: "stored_version_unknown", hint: expect.stringContaining("newer") }),
      ]);
    }
    expect(await (await ask("GET", "/evaluations/")).json()).toMatchObject({ total: 1, evaluations: [{ evaluation_id: run_id }] });
    expect(await storedOf(run_id)).toEqual(before);
  });
});
