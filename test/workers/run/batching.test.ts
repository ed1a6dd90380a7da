import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BatchOutcome } from "../../../durable-objects/run/batching/batching-protocol.ts";
import { sweepJobs } from "../../../durable-objects/run/batching/sweeping.ts";
import { type Grant, PROTOCOL } from "../../../durable-objects/run/protocol.ts";
import { SqlLedger } from "../../../durable-objects/run/state/sql-ledger.ts";
import { answerIndexKey, answersKey, jobsPrefix, requestsKey } from "../../../r2-layout/keys.ts";
import { bootOf } from "../../../src/env.ts";
import { createRun, viewOf } from "../support/runs.ts";
import { rawRun, restoreClock, run, service, setVars, silenceQueue, STEADY, until } from "../support/service.ts";

beforeEach(() => {
  setVars({ ...STEADY, BATCH_LOOK_MS: "300" });
  silenceQueue();
});
afterEach(async () => {
  setVars({ BATCH_LOOK_MS: "5000" });
  restoreClock();
  await reset();
});

const idOf = ({ ticket, epoch }: Grant) => ({ protocol: PROTOCOL, ticket, epoch }) as const;

async function join(runId: string, seq: number): Promise<Grant> {
  const asked = { protocol: PROTOCOL, executor: "e", seq, free: 4, boot: bootOf(service), checks_code: true, batches: true } as const;
  const grant = await run(runId).join(asked);
  if (grant.kind !== "grant") throw new Error(`no grant: ${grant.kind}`);
  return grant;
}

/** Four units pinned, and a grant to carry their batch. */
async function carrying(): Promise<{ readonly runId: string; readonly grant: Grant }> {
  const { run_id: runId } = await createRun({ num_examples: 4, batch: true });
  const preparing = await join(runId, 1);
  const chunks = [{ lo: 0, hi: 4, digest: "d".repeat(64), bytes: 40 }];
  const pinned = { attempt: 1, chunks, count: 4, digest: "of 4", env_digest: "e", pass_threshold: 0.5, env_sampling_args: {} };
  expect(await run(runId).prepared({ ...idOf(preparing), ...pinned })).toEqual({ kind: "ok" });
  const grant = await join(runId, 2);
  expect(grant.task).toEqual({ kind: "batch" });
  return { runId, grant };
}

const UNITS = [{ lo: 0, hi: 4 }] as const;
const WROTE = { kind: "wrote", job: 1, place: 0, object: "1-1-2-1", bytes: 40, requests: 4, units: UNITS, ready: [], bound: null } as const;
/** What becomes of a job that goes well, each with the step that asks for it. */
const COURSE: readonly (readonly [plan: string, outcome: BatchOutcome])[] = [
  ["write", WROTE],
  ["upload", { kind: "uploaded", job: 1, file_id: "file-1" }],
  ["create", { kind: "creating", job: 1 }],
  ["create", { kind: "submitted", job: 1, batch_id: "batch-1", expires_at: null }],
  ["look", { kind: "seen", job: 1, state: "ended", counts: { answered: 4, failed: 0 } }],
  ["collect", { kind: "collected", job: 1, index: "1-1-2-2", counts: { answered: 4, failed: 0 }, lost: {}, ready: UNITS, again: [] }],
];

describe("the Run of a run in batches", () => {
  it("knows every step after an eviction, and takes what is told twice once", async () => {
    const { runId, grant } = await carrying();
    for (const [kind, outcome] of COURSE) {
      const plan = await until(`the step ${kind}`, async () => {
        const next = await run(runId).batchPlan({ ...idOf(grant), left_ms: 60_000 });
        return next.kind === "wait" ? null : next;
      });
      expect(plan.kind).toBe(kind);
      await run(runId).batchTold({ ...idOf(grant), outcome });
      await evictDurableObject(rawRun(runId));
      await run(runId).batchTold({ ...idOf(grant), outcome });
    }
    const { batch, units } = await viewOf(runId);
    expect(batch).toMatchObject({
      unasked: 0,
      requests: 4,
      answered: 4,
      failed: 0,
      lost: {},
      look_at: null,
      closing: null,
      jobs: [{ job: 1, state: "collected" }],
    });
    expect(units).toMatchObject({ total: 4, done: 0, open: 0, pending: 4 });
    await run(runId).leave(idOf(grant));
    const worker = await join(runId, 3);
    const block = await run(runId).claim({ ...idOf(worker), seq: 1, free: 4, soon: 0, open: 0, started: [] });
    expect(block).toMatchObject({ kind: "block", lo: 0, hi: 4, jobs: [{ job: 1, index: "1-1-2-2" }] });
  });

  it("has somebody look by its own alarm, with nobody asking", async () => {
    const { runId, grant } = await carrying();
    for (const [, outcome] of COURSE.slice(0, 4)) await run(runId).batchTold({ ...idOf(grant), outcome });
    await run(runId).leave(idOf(grant));
    const wanted = (): Promise<number> => runInDurableObject(rawRun(runId), (_, { storage }) => new SqlLedger(storage.sql).head()?.offer.want ?? 0);
    expect((await viewOf(runId)).batch?.look_at).toBeGreaterThan(0);
    await evictDurableObject(rawRun(runId));
    await until("the look to be offered", async () => (await wanted()) === 1);
    expect((await viewOf(runId)).batch?.look_at).toBe(0);
  });
});

describe("the sweep of a run in batches", () => {
  it("leaves what its jobs need, and what a grant after it began writes", async () => {
    const { runId, grant } = await carrying();
    const config = grant.config;
    const keys = [
      requestsKey(runId, "1-1-2-1"),
      requestsKey(runId, "2-1-3-1"),
      answersKey(runId, "1-1-2-2", 0),
      answersKey(runId, "1-1-2-9", 0),
      answerIndexKey(runId, "1-1-2-2"),
      answerIndexKey(runId, "1-1-9-1"),
    ];
    for (const key of keys) await service.BUCKET.put(key, "x");
    await sweepJobs(service.BUCKET, config, 3, new Set(["2-1-3-1", "1-1-2-2"]));
    const left = (await service.BUCKET.list({ prefix: jobsPrefix(runId) })).objects.map(({ key }) => key);
    expect(left.sort()).toEqual([keys[1], keys[2], keys[4], keys[5]].map(String).sort());
  });
});
