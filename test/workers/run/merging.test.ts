import { reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sweepOrphans } from "../../../durable-objects/run/course/removal.ts";
import { PROTOCOL } from "../../../durable-objects/run/protocol.ts";
import { referencedSegments } from "../../../durable-objects/run/course/referenced.ts";
import { SqlLedger } from "../../../durable-objects/run/state/sql-ledger.ts";
import { outputKey, segmentKey, segmentPrefix } from "../../../r2-layout/keys.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { bootOf } from "../../../src/env.ts";
import { budgetOf, portsOf } from "../../../src/executor/hosting/worker-executor.ts";
import { mergeSegments } from "../../../src/executor/merge.ts";
import { Slice } from "../../../src/executor/slice.ts";
import { operations } from "../../../src/operations.ts";
import { Fleet } from "../support/fleet.ts";
import { viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { rawRun, restoreClock, run, service, setVars, skip, STEADY, STEADY_LAPSE_MS } from "../support/service.ts";
import { storedRun } from "../support/stored-run.ts";

let fleet: Fleet | null = null;
beforeEach(() => setVars(STEADY));
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  restoreClock();
  await reset();
});

/** A batch of events and a bit, of one unit each. */
const UNITS = 1_100;
const lineOf = (unit: number): string => `{"example_id":${unit},"reward":1,"rollout_index":0,"text":"${String(unit % 10).repeat(100)}"}\n`;
/** Segments that are merged: those of a whole batch, less the few log lines among its events. */
const MERGED = 1_000;

/** A run at work, of many small segments. Nobody works for it but whoever the test lets. */
const atWork = (): Promise<RunConfig> => storedRun(UNITS, { lineOf, segmentUnits: 1, events: true, isDone: (unit) => unit < UNITS - 2 });

/** What an executor does about one of its calls: `before` and `after` it loses its power. */
type Death = readonly [method: string, when: "before" | "after"];

/** One executor under a grant to merge; dies as it is told, else works until nothing is left to be merged. */
async function merge(runId: string, executor: string, death?: Death): Promise<void> {
  const boot = bootOf(service);
  const grant = await run(runId).join({ protocol: PROTOCOL, executor, seq: 1, free: 5, boot, checks_code: true, merges: true });
  if (grant.kind !== "grant" || grant.task.kind !== "merge") throw new Error(`nothing to merge: ${JSON.stringify(grant).slice(0, 100)}`);
  const mortal = <T extends object>(target: T): T =>
    new Proxy(target, {
      get:
        (_, method) =>
        async (...args: unknown[]) => {
          const dies = method === death?.[0];
          if (dies && death?.[1] === "before") throw new Error("killed");
          const answer: unknown = await Reflect.apply(Reflect.get(target, method) as () => unknown, target, args);
          if (dies) throw new Error("killed");
          return answer;
        },
    });
  const ports = portsOf(service);
  const slice = new Slice({ ...budgetOf(service), slice: Number.POSITIVE_INFINITY, subrequests: Number.POSITIVE_INFINITY }, () => 0);
  const work = mergeSegments({ ...ports, run: (id) => mortal(ports.run(id)), store: mortal(ports.store) }, grant, new AbortController().signal, slice);
  if (death !== undefined) return expect(work).rejects.toThrow("killed");
  await work;
  await run(runId).leave({ protocol: PROTOCOL, ticket: grant.ticket, epoch: grant.epoch });
}

/** Ends the run, and has its final files written. */
async function finish(runId: string): Promise<void> {
  fleet = new Fleet({ model: new ScriptedModel() });
  await run(runId).cancel();
  await fleet.settled(runId);
}

const movedIn = ({ run_id }: RunConfig): Promise<number> =>
  runInDurableObject(rawRun(run_id), (_, { storage }) => {
    const [table] = storage.sql.exec("SELECT name FROM sqlite_master WHERE name = 'moved'").toArray();
    return table === undefined ? 0 : Number(storage.sql.exec("SELECT count(*) AS count FROM moved").one().count);
  });
async function segmentsOf({ run_id }: RunConfig): Promise<number> {
  let [count, cursor] = [0, undefined as string | undefined];
  do {
    const page: R2Objects = await service.BUCKET.list({ prefix: segmentPrefix(run_id), ...(cursor === undefined ? {} : { cursor }) });
    count += page.objects.length;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return count;
}

async function expectRows({ env_id, model, run_id }: RunConfig): Promise<void> {
  const text = (await (await service.BUCKET.get(outputKey(env_id, model, run_id, "results.jsonl")))?.text()) ?? "";
  const expected = Array.from({ length: UNITS - 2 }, (_, unit) => lineOf(unit)).join("");
  expect([text.length, await sha256Hex(text)]).toEqual([expected.length, await sha256Hex(expected)]);
}

describe("small segments of a run at work", () => {
  it("are merged beside the units: the final file is the same and takes a few reads, and what is left over is swept", async () => {
    const config = await atWork();
    const { run_id: runId } = config;
    await merge(runId, "m");
    expect(await movedIn(config)).toBeGreaterThan(MERGED);
    expect(await viewOf(runId)).toMatchObject({ status: "RUNNING", totals: { rollouts: UNITS - 2 } });
    const before = operations().r2_class_b;
    await finish(runId);
    // One for what was merged, and one for each segment that was not.
    expect(operations().r2_class_b - before).toBeLessThan(UNITS - MERGED + 10);
    await expectRows(config);
    expect(await segmentsOf(config)).toBeGreaterThan(UNITS);

    await runInDurableObject(rawRun(runId), async (_, { storage }) => {
      const ledger = new SqlLedger(storage.sql);
      await sweepOrphans(service.BUCKET, config, ledger.head()?.epoch ?? 0, (after, limit) =>
        referencedSegments(ledger, [], { after, limit }, async () => true),
      );
    });
    expect(await segmentsOf(config)).toBeLessThan(UNITS - MERGED + 10);
    // Every row is still found: by a page, and by a follower from the start.
    const page = await run(runId).samples(500, 3);
    const followed = await run(runId).committed(0, 1_000_000);
    const places = [...(page?.places ?? []), ...(followed?.commits ?? []).flatMap((commit) => commit.places).slice(0, 20)];
    expect(places).toHaveLength(23);
    for (const { unit, segment, offset, length } of places) {
      const range = await service.BUCKET.get(segmentKey(runId, segment), { range: { offset, length } });
      expect(await range?.text()).toBe(lineOf(unit));
    }
  });

  it("are all there, each once, wherever the executor that merges them dies", async () => {
    const config = await atWork();
    const { run_id: runId } = config;
    const deaths: readonly Death[] = [
      ["mergePlan", "after"],
      ["create", "before"],
      ["create", "after"],
      ["merged", "before"],
      ["merged", "after"],
    ];
    for (const [index, death] of deaths.entries()) {
      await merge(runId, `executor-${index}`, death);
      skip(STEADY_LAPSE_MS);
    }
    await merge(runId, "the last");
    expect(await movedIn(config)).toBeGreaterThan(MERGED);
    await finish(runId);
    await expectRows(config);
    expect(await viewOf(runId)).toMatchObject({ status: "CANCELLED", totals: { rollouts: UNITS - 2 }, lapses: deaths.length });
  });
});
