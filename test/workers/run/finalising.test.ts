import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { outputKey, segmentKey } from "../../../r2-layout/keys.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { PART_BYTES } from "../../../src/limits.ts";
import { RowsDigester, statedRowsDigest } from "../../../src/rollouts/rows/rows-digest.ts";
import { operations } from "../../../src/operations.ts";
import { type Call, Fleet, type FleetOptions, NEVER } from "../support/fleet.ts";
import { bootOf } from "../../../src/env.ts";
import { NOTHING_NEW } from "../../support/run/resume-request.ts";
import { viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, service, setVars, skip, STEADY, STEADY_LAPSE_MS, until } from "../support/service.ts";
import { SEGMENT_UNITS, storedRun } from "../support/stored-run.ts";

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  await reset();
});

const open = (options: Partial<FleetOptions> = {}): void => {
  fleet = new Fleet({ model: new ScriptedModel(), ...options });
};
const lineOf = (unit: number, bytes: number): string => `{"example_id":${unit},"reward":1,"rollout_index":0,"text":"${String(unit % 10).repeat(bytes)}"}\n`;

/** A run whose `units` are all done and in R2, with its final files yet to be written. */
async function allDone(units: number, bytes: number, order: { permuted?: true } = {}): Promise<{ config: RunConfig; text: string }> {
  const config = await storedRun(units, { lineOf: (unit) => lineOf(unit, bytes), ...order });
  return { config, text: Array.from({ length: units }, (_, unit) => lineOf(unit, bytes)).join("") };
}

/** Digests, since a difference in 30 MB is of no use on a screen. */
async function expectResults({ env_id, model, run_id }: RunConfig, text: string): Promise<void> {
  const object = await service.BUCKET.get(outputKey(env_id, model, run_id, "results.jsonl"));
  const bytes = new Uint8Array((await object?.arrayBuffer()) ?? new ArrayBuffer(0));
  expect(bytes.byteLength).toBe(text.length);
  expect(await sha256Hex(bytes)).toBe(await sha256Hex(text));
  // Whoever wrote its parts, and however often one of them was cut off.
  const metadata = await service.BUCKET.get(outputKey(env_id, model, run_id, "metadata.json"));
  const digester = new RowsDigester();
  for (let at = 0; at < bytes.byteLength; at += PART_BYTES) await digester.add(bytes.subarray(at, at + PART_BYTES));
  const digest = await digester.result();
  expect(statedRowsDigest(JSON.parse((await metadata?.text()) ?? "{}"))).toEqual(digest);
  expect(statedRowsDigest(await run(run_id).metadata())).toEqual(digest);
}

describe("results.jsonl of fifty thousand rows", () => {
  beforeEach(() => setVars(STEADY));

  it.each([
    ["sorted", {}],
    ["sorted where its examples were permuted", { permuted: true }],
  ] as const)("is written %s, with fewer than a thousand reads", { timeout: 90_000 }, async (_, order) => {
    const { config, text } = await allDone(50_000, 560, order);
    expect(text.length).toBeGreaterThan(3 * PART_BYTES);
    open();
    const before = operations();
    await run(config.run_id).poke();
    await fleet?.settled(config.run_id);
    const reads = operations().r2_class_b - before.r2_class_b;
    const writes = operations().r2_class_a - before.r2_class_a;
    await expectResults(config, text);
    // As many as there are segments, and some twice, where a part ends.
    expect(reads).toBeGreaterThanOrEqual(50_000 / SEGMENT_UNITS);
    expect(reads).toBeLessThan(1_000);
    if ("permuted" in order) expect(reads).toBeLessThan((1.2 * 50_000) / SEGMENT_UNITS);
    expect(writes).toBeLessThan(20);
    expect(await viewOf(config.run_id)).toMatchObject({ status: "COMPLETED", totals: { rollouts: 50_000 } });
  });
});

describe("results.jsonl of several parts", () => {
  const UNITS = 1_300;
  const BYTES = 8_000;
  beforeEach(() => setVars(STEADY));
  afterEach(restoreClock);

  /** The power cut, and the end of the lease. */
  async function die({ by }: Call, runId: string): Promise<never> {
    by.kill();
    await viewOf(runId);
    skip(STEADY_LAPSE_MS);
    await run(runId).poke();
    return NEVER;
  }

  it.each([
    ["in the order of the data set", {}],
    ["permuted", { permuted: true }],
  ] as const)("of examples that were %s, is gone on with wherever its executor dies, before a step or after it when nobody knows", async (_, order) => {
    const { config, text } = await allDone(UNITS, BYTES, order);
    expect(text.length).toBeGreaterThan(PART_BYTES);
    const deaths = [
      ["window", "after"],
      ...("permuted" in order
        ? ([
            ["create", "before"],
            ["create", "after"],
            ["sorted", "before"],
            ["sorted", "after"],
          ] as const)
        : []),
      ["startUpload", "after"],
      ["uploadPart", "before"],
      ["uploadPart", "after"],
      ["part", "after"],
      ["completeUpload", "before"],
      ["completeUpload", "after"],
      ["put", "after"],
      ["finalised", "before"],
    ];
    const deathsInAll = deaths.length;
    const mortal = async (call: Call): Promise<unknown> => {
      const [method, when] = deaths[0] ?? [];
      if (call.method !== method) return call.send();
      deaths.shift();
      if (when === "after") await call.send();
      return die(call, config.run_id);
    };
    open({ onRun: mortal, onStore: mortal });
    await run(config.run_id).poke();
    await fleet?.settled(config.run_id);
    expect(deaths).toEqual([]);
    await expectResults(config, text);
    expect(await viewOf(config.run_id)).toMatchObject({ status: "COMPLETED", lapses: deathsInAll });
  });

  it("is complete though the answer to its completion is lost", async () => {
    let completions = 0;
    const { config, text } = await allDone(UNITS, BYTES);
    open({
      onStore: async (call) => {
        const answer = await call.send();
        if (call.method === "completeUpload" && ++completions === 1) throw new Error("the connection was lost");
        return answer;
      },
    });
    await run(config.run_id).poke();
    await fleet?.settled(config.run_id);
    expect(completions).toBe(2);
    await expectResults(config, text);
  });

  it("does not begin again with a part that is written", async () => {
    const parts: unknown[] = [];
    let deaths = 0;
    const { config, text } = await allDone(UNITS, BYTES);
    open({
      onStore: (call) => {
        if (call.method !== "uploadPart") return call.send();
        const [, , part] = call.args;
        if (part === 2 && deaths < 2) {
          deaths++;
          return die(call, config.run_id);
        }
        parts.push(part);
        return call.send();
      },
    });
    await run(config.run_id).poke();
    await fleet?.settled(config.run_id);
    expect(parts).toEqual([1, 2]);
    await expectResults(config, text);
  });
});

describe("the final files of a large run", () => {
  beforeEach(() => setVars(STEADY));

  it("are written in slices: an executor whose slice is over leaves the rest to the next one, and no part is written twice", async () => {
    const parts: unknown[] = [];
    const { config, text } = await allDone(2_700, 8_000);
    open({
      // Fewer than one part takes.
      budget: { subrequests: 5 },
      onStore: (call) => {
        if (call.method === "uploadPart") parts.push(call.args[2]);
        return call.send();
      },
    });
    await run(config.run_id).poke();
    await fleet?.settled(config.run_id);
    expect(parts).toEqual([1, 2, 3]);
    expect(fleet?.executors.length).toBeGreaterThanOrEqual(3);
    await expectResults(config, text);
  });
});

describe("a storage that takes no results", () => {
  beforeEach(() => setVars(STEADY));
  afterEach(restoreClock);

  it("ends the run FAILED by name after some attempts, and a resume writes them", async () => {
    const { config, text } = await allDone(20, 50);
    let away = true;
    let puts = 0;
    open({
      onStore: (call) => {
        if (!away || call.method !== "put") return call.send();
        puts++;
        throw new Error("put: Unspecified error (0)");
      },
    });
    await until(
      "the run to give up",
      async () => {
        if ((await viewOf(config.run_id)).phase === "settled") return true;
        // The next attempt is due, by the run's clock.
        skip(10_000);
        await run(config.run_id).poke();
        return false;
      },
      60_000,
    );
    const view = await viewOf(config.run_id);
    expect(view).toMatchObject({ status: "FAILED", failure: { code: "storage_unavailable" } });
    expect(view.failure?.message).toMatch(/^Writing the results failed 25 times in a row: put: Unspecified error \(0\)$/);
    expect(puts).toBe(25);
    away = false;
    expect(await run(config.run_id).resume({ ...NOTHING_NEW, boot: bootOf(service) })).toMatchObject({ ok: true });
    await fleet?.settled(config.run_id);
    await expectResults(config, text);
    expect(await viewOf(config.run_id)).toMatchObject({ status: "COMPLETED", failure: null });
  }, 60_000);
});

describe("rows that are gone from storage", () => {
  it("end the run FAILED by their name, instead of being looked for for ever; once they are back a resume writes the files", async () => {
    const { config, text } = await allDone(300, 50);
    const key = segmentKey(config.run_id, "1-1-1");
    const kept = await (await service.BUCKET.get(key))?.arrayBuffer();
    if (kept === undefined) throw new Error("there is no such segment");
    await service.BUCKET.delete(key);
    open();
    await run(config.run_id).poke();
    await fleet?.settled(config.run_id);
    expect(await viewOf(config.run_id)).toMatchObject({ status: "FAILED", failure: { code: "storage_damaged", message: `${key} is missing in storage` } });
    await service.BUCKET.put(key, kept);
    expect(await run(config.run_id).resume({ ...NOTHING_NEW, boot: bootOf(service) })).toMatchObject({ ok: true });
    await fleet?.settled(config.run_id);
    await expectResults(config, text);
    expect(await viewOf(config.run_id)).toMatchObject({ status: "COMPLETED", failure: null });
  });
});
