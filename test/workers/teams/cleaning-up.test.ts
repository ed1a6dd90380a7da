import { reset, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { segmentKey } from "../../../r2-layout/keys.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { NOTHING_NEW } from "../../support/run/resume-request.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectComplete } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { rawRun, registry, restoreClock, run, service, setVars, skip, STEADY, until } from "../support/service.ts";

const DAY_MS = 24 * 3_600_000 + 1;
const bucket = service.BUCKET;
let fleet: Fleet;

beforeEach(() => {
  setVars(STEADY);
  fleet = new Fleet({ model: new ScriptedModel() });
});
afterEach(async () => {
  Object.assign(service, { BUCKET: bucket });
  await fleet.close();
  restoreClock();
  await reset();
});

/** The objects' bucket from here on: `onList` comes before each page of a list, the first one being 1. */
function listing(onList: (page: number) => Promise<void>): void {
  let page = 0;
  const list: R2Bucket["list"] = async (options) => {
    await onList(++page);
    return bucket.list(options);
  };
  Object.assign(service, {
    BUCKET: new Proxy(bucket, {
      get: (target, name) => {
        const value: unknown = name === "list" ? list : Reflect.get(target, name);
        return typeof value === "function" && name !== "list" ? value.bind(target) : value;
      },
    }),
  });
}
const away = (): Promise<void> => Promise.reject(new Error("R2 is away"));

async function finished(examples: number): Promise<RunConfig> {
  const config = await createRun({ num_examples: examples });
  await fleet.settled(config.run_id);
  return config;
}

const keysOf = async (prefix: string): Promise<string[]> => (await bucket.list({ prefix })).objects.map(({ key }) => key);

async function putOrphans({ run_id }: RunConfig, count: number): Promise<void> {
  const keys = Array.from({ length: count }, (_, n) => segmentKey(run_id, `0-1-${n + 1}`));
  for (let at = 0; at < count; at += 100) await Promise.all(keys.slice(at, at + 100).map((key) => bucket.put(key, "rows of a zombie\n")));
}

/** The alarm as it would ring a day after the run settled. */
async function sweep({ run_id }: RunConfig): Promise<boolean> {
  await runInDurableObject(rawRun(run_id), (_, { storage }) => storage.setAlarm(Date.now()));
  return runDurableObjectAlarm(rawRun(run_id));
}

describe("a sweep of segments", () => {
  it("deletes no row of a run that is resumed and commits while it goes on", async () => {
    const config = await finished(4);
    await putOrphans(config, 1_005);
    skip(DAY_MS);
    let grown = false;
    listing(async (page) => {
      if (page !== 2 || grown) return;
      grown = true;
      expect(await run(config.run_id).resume({ ...NOTHING_NEW, num_examples: 9 })).toMatchObject({ ok: true });
      await fleet.settled(config.run_id);
    });
    await sweep(config);
    expect(grown).toBe(true);
    expect(await keysOf(`runs/${config.run_id}/segments/0-1-`)).toEqual([]);
    // Every segment that rows point to is there still: they are read when the files are written again.
    expect(await run(config.run_id).resume({ ...NOTHING_NEW, num_examples: 12 })).toMatchObject({ ok: true });
    await fleet.settled(config.run_id);
    await expectComplete(config, 12);
  });

  it("that fails is tried again for as long as it fails, ever more slowly", async () => {
    const config = await finished(2);
    await putOrphans(config, 3);
    skip(DAY_MS);
    listing(away);
    for (let failures = 0; failures < 12; failures++) {
      expect(await sweep(config)).toBe(true);
      const next = await runInDurableObject(rawRun(config.run_id), (_, { storage }) => storage.getAlarm());
      expect(next).not.toBeNull();
      skip(3_600_000);
    }
    listing(async () => undefined);
    await sweep(config);
    expect(await keysOf(`runs/${config.run_id}/segments/0-1-`)).toEqual([]);
  });
});

describe("the removal of a deleted run", () => {
  const tablesOf = (runId: string): Promise<number> =>
    runInDurableObject(
      rawRun(runId),
      (_, { storage }) => storage.sql.exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'record'").toArray().length,
    );

  it("that fails is tried again for as long as it fails, and leaves nothing", async () => {
    const { run_id } = await finished(2);
    listing(away);
    await run(run_id).remove();
    for (let failures = 0; failures < 12; failures++) {
      await runInDurableObject(rawRun(run_id), (_, { storage }) => storage.setAlarm(Date.now() + 60_000));
      expect(await runDurableObjectAlarm(rawRun(run_id))).toBe(true);
      expect(await runInDurableObject(rawRun(run_id), (_, { storage }) => storage.getAlarm())).not.toBeNull();
    }
    listing(async () => undefined);
    await runDurableObjectAlarm(rawRun(run_id));
    await until("its storage to be empty", async () => (await tablesOf(run_id)) === 0);
    expect(await keysOf(`runs/${run_id}/`)).toEqual([]);
    expect((await registry().list({ skip: 0, limit: 10, environment_name: null })).runs).toEqual([]);
  });

  it("goes on when its alarm was lost and somebody asks for it again, or the watchdog looks", async () => {
    for (const again of ["remove", "poke"] as const) {
      const { run_id } = await finished(2);
      listing(away);
      await run(run_id).remove();
      await runDurableObjectAlarm(rawRun(run_id));
      await runInDurableObject(rawRun(run_id), (_, { storage }) => storage.deleteAlarm());
      listing(async () => undefined);
      await run(run_id)[again]();
      await until("its storage to be empty", async () => (await tablesOf(run_id)) === 0);
    }
  });
});
