import { createScheduledController, evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ScheduleFacts } from "../../../durable-objects/schedule/schedule-control.ts";
import { scheduleIndexStub } from "../../../durable-objects/stubs.ts";
import { manifestText } from "../../../r2-layout/folder-manifest.ts";
import { DATASET_PREFIX, datasetKey } from "../../../r2-layout/keys.ts";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { UPLOAD_GRACE_MS } from "../../../src/limits.ts";
import type { ScheduleDefinition } from "../../../src/schedules/definition.ts";
import { newSchedule } from "../../../src/schedules/policy.ts";
import { DEFAULT_TEAM } from "../../../src/teams/team-name.ts";
import { sweepUploads } from "../../../src/upkeep/upload-sweep.ts";
import worker from "../../../src/worker.ts";
import { createRun } from "../support/runs.ts";
import { rawRun, registry, restoreClock, run, service, setVars, silenceQueue, skip, STEADY, until } from "../support/service.ts";

const bucket = service.BUCKET;
const SCHEDULED: ScheduleDefinition = {
  every: "1h",
  time_zone: "UTC",
  overlap: "skip",
  catch_up: "last",
  data: "pinned",
  eval: { env_id: "reverse-text", env_args: { dataset: "acme/rows" } },
};
const DAY_MS = UPLOAD_GRACE_MS + 60_000;

beforeEach(() => {
  setVars(STEADY);
  // Nobody works: these runs are to stay as they are created.
  silenceQueue();
});
afterEach(async () => {
  Object.assign(service, { BUCKET: bucket });
  restoreClock();
  await reset();
});

async function upload(text: string): Promise<string> {
  const digest = await sha256Hex(text);
  await bucket.put(datasetKey(digest), text);
  return digest;
}

async function stored(): Promise<Set<string>> {
  const found = new Set<string>();
  for (let cursor: string | undefined, more = true; more; ) {
    const page = await bucket.list({ prefix: DATASET_PREFIX, ...(cursor === undefined ? {} : { cursor }) });
    for (const { key } of page.objects) found.add(key.slice(DATASET_PREFIX.length));
    cursor = page.truncated ? page.cursor : undefined;
    more = cursor !== undefined;
  }
  return found;
}

/** The bucket from here on, with another `delete`. */
function deleting(remove: (keys: string | string[]) => Promise<void>): void {
  const get = (target: R2Bucket, name: string | symbol): unknown => {
    const value: unknown = Reflect.get(target, name);
    return name === "delete" ? remove : typeof value === "function" ? value.bind(target) : value;
  };
  Object.assign(service, { BUCKET: new Proxy(bucket, { get }) });
}

const app = createApp(portsOf);
const ask = async (method: string, digest: string, body?: string): Promise<number> =>
  (
    await app.request(
      `http://localhost/api/v1/datasets/${digest}`,
      { method, ...(body === undefined ? {} : { body, headers: { "content-length": String(body.length) } }) },
      { ...service, LOCAL: "1", BUCKET: service.BUCKET },
    )
  ).status;

describe("uploads that no run points to", () => {
  it("are deleted after a day, and those that a run may still read are not", async () => {
    const [orphan, data, rows, first, second] = await Promise.all(["orphan", "data", "rows", "first part", "second part"].map(upload));
    const parts = [first, second].map((digest) => ({ digest: digest ?? "", bytes: 1 }));
    const manifest = await upload(manifestText({ parts, held: [[0, 1]] }));
    await bucket.put(`${DATASET_PREFIX}of-somebody`, "no upload");
    const source = { dataset_digest: null, keep_errors: false };
    const config = await createRun({ env_args: { dataset: `sha256:${data}` } });
    await createRun({}, { ...source, results: rows ?? "" });
    await createRun({}, { ...source, results: manifest, in_parts: true });
    const needed = [data, rows, manifest, first, second, "of-somebody"];

    await sweepUploads(service);
    expect(await stored()).toEqual(new Set([...needed, orphan]));
    skip(DAY_MS);
    await worker.scheduled(createScheduledController({ cron: "* * * * *" }), service);
    expect(await stored()).toEqual(new Set(needed));

    await run(config.run_id).interrupt();
    await until("the run to be deleted", async () => (await run(config.run_id).remove()).ok && (await run(config.run_id).view()) === null);
    skip(DAY_MS);
    await sweepUploads(service);
    expect(await stored()).toEqual(new Set(needed.slice(1)));
  });

  it("stay when somebody has just uploaded them, asked for them, or reserved a run that names them", async () => {
    const [asked, again, named, left] = await Promise.all(["asked", "again", "named", "left"].map(upload));
    skip(DAY_MS);
    expect(await ask("HEAD", asked ?? "")).toBe(200);
    expect(await ask("PUT", again ?? "", "again")).toBe(200);
    const reserved = { candidates: ["00000001"], idempotency_key: null, body_digest: "", now: Date.now(), uploads: [named ?? ""] };
    expect(await registry().reserve(reserved)).toMatchObject({ ok: true });
    await sweepUploads(service);
    expect(await stored()).toEqual(new Set([asked, again, named]));
    expect(left).toBeDefined();
    skip(DAY_MS);
    await sweepUploads(service);
    expect(await stored()).toEqual(new Set());
  });

  it("stay when a schedule names them, or is pinned to them, for as long as it is there", async () => {
    const [pinned, named, orphan] = await Promise.all(["pinned", "named", "orphan"].map(upload));
    const schedule = newSchedule("nightly", "id", SCHEDULED, { user: "ada", token: null, owner: false }, 0);
    const definition = { ...SCHEDULED, eval: { ...SCHEDULED.eval, env_args: { dataset: `sha256:${named}` } } };
    const pin = { of: "", digest: "of the inputs", dataset: `sha256:${pinned}` };
    const index = scheduleIndexStub(service, DEFAULT_TEAM);
    // Its data set of the team has other revisions by now, and its first run is deleted.
    for (const [name, changes] of Object.entries({ nightly: { pin }, hourly: { definition } })) {
      await index.reserveSchedule(name);
      const facts: ScheduleFacts = { ...schedule, created_by: "ada", active: null, last: null, missed: null, ...changes, name };
      await index.projectSchedule({ name, version: 1, wake_at: null, facts });
    }
    skip(DAY_MS);
    await sweepUploads(service);
    expect(await stored()).toEqual(new Set([pinned, named]));
    expect(orphan).toBeDefined();
    await index.forgetSchedule({ name: "nightly", deleted: true });
    skip(DAY_MS);
    await sweepUploads(service);
    expect(await stored()).toEqual(new Set([named]));
  });

  it("are found in turns, however many there are, beside runs that are created meanwhile", async () => {
    const orphans = await Promise.all(Array.from({ length: 1_005 }, (_, n) => upload(`orphan ${n}`)));
    const data = await upload("data");
    for (let n = 0; n < 3; n++) await createRun({ env_args: { dataset: `sha256:${data}` } });
    skip(DAY_MS);
    let named = 0;
    const kept: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      await sweepUploads(service, { most: 1 });
      const there = await stored();
      const digest = orphans.find((each) => there.has(each) && !kept.includes(each));
      if (digest === undefined || (await ask("HEAD", digest)) !== 200) continue;
      kept.push(digest);
      named++;
    }
    await sweepUploads(service);
    expect(named).toBeGreaterThan(1);
    expect(await stored()).toEqual(new Set([data, ...kept]));
  });

  it("are gone, or stay, for whoever asks while they are deleted", async () => {
    const digest = await upload("orphan");
    skip(DAY_MS);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = false;
    deleting(async (keys) => {
      begun = true;
      await held;
      await bucket.delete(keys);
    });
    const sweep = sweepUploads(service);
    await until("the deletion to begin", async () => begun);
    const put = ask("PUT", digest, "orphan");
    release();
    expect(await put).toBe(201);
    await sweep;
    expect(await stored()).toEqual(new Set([digest]));
  });

  it("are deleted a minute later where storage was away", async () => {
    await upload("orphan");
    skip(DAY_MS);
    deleting(() => Promise.reject(new Error("R2 is away")));
    await sweepUploads(service);
    expect((await stored()).size).toBe(1);
    Object.assign(service, { BUCKET: bucket });
    await sweepUploads(service);
    expect((await stored()).size).toBe(0);
  });

  it("stay while there is a run that cannot be asked", async () => {
    const orphan = await upload("orphan");
    const config = await createRun();
    await runInDurableObject(rawRun(config.run_id), (_, { storage }) => void storage.sql.exec("UPDATE record SET value = '99' WHERE key = 'schema'"));
    await evictDurableObject(rawRun(config.run_id));
    skip(DAY_MS);
    for (let minute = 0; minute < 12; minute++) {
      await sweepUploads(service);
      skip(60_000);
    }
    expect(await stored()).toEqual(new Set([orphan]));
    await runInDurableObject(rawRun(config.run_id), (_, { storage }) => void storage.sql.exec("UPDATE record SET value = '1' WHERE key = 'schema'"));
    await evictDurableObject(rawRun(config.run_id));
    skip(DAY_MS);
    await sweepUploads(service);
    expect(await stored()).toEqual(new Set());
  });
});
