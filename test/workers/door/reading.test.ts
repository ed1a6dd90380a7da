import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunProjection } from "../../../durable-objects/registry/registry-control.ts";
import { RegistryStore } from "../../../durable-objects/registry/registry-store.ts";
import { TeamBudget } from "../../../durable-objects/registry/team-budget.ts";
import { PROTOCOL } from "../../../durable-objects/run/protocol.ts";
import { segmentKey, segmentName } from "../../../r2-layout/keys.ts";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { bootOf, type Env } from "../../../src/env.ts";
import { operations } from "../../../src/operations.ts";
import { REGISTRY_NAME } from "../../../durable-objects/stubs.ts";
import { Fleet } from "../support/fleet.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { rawRun, run, service, setVars, STEADY } from "../support/service.ts";
import { storedRun } from "../support/stored-run.ts";

const app = createApp(portsOf);
const local = { ...service, LOCAL: "1", BOOT_ID: "boot" } as Env;
const get = async (path: string): Promise<Response> => app.request(`http://localhost${path}`, {}, local);
const json = async <T = Record<string, unknown>>(path: string): Promise<T> => (await get(`/api/v1${path}`)).json();

interface Page {
  readonly samples: readonly { readonly example_id: number; readonly rollout_index: number; readonly text: string }[];
  readonly total: number;
  readonly has_more: boolean;
}
const namesOf = ({ samples }: Page): string[] => samples.map(({ example_id, rollout_index }) => `${example_id}/${rollout_index}`);

/** What `work` cost, in rows of SQLite and operations of R2. */
async function costOf<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly rows: number; readonly reads: number }> {
  const before = operations();
  const value = await work();
  const after = operations();
  return { value, rows: after.do_rows_read - before.do_rows_read, reads: after.r2_class_b - before.r2_class_b };
}

beforeEach(() => setVars(STEADY));
afterEach(() => reset());

const line = (unit: number, rollout: number, text = "x".repeat(300)): string => `${JSON.stringify({ example_id: unit, rollout_index: rollout, text })}\n`;

describe("paging through fifty thousand rows", { timeout: 90_000 }, () => {
  const LAST = 500;
  const page = (id: string, number: number) => costOf(() => json<Page>(`/evaluations/${id}/samples?page=${number}&limit=100`));

  it("costs the same on every page of a complete run", async () => {
    const { run_id } = await storedRun(50_000, { lineOf: line });
    const first = await page(run_id, 1);
    const last = await page(run_id, LAST);
    expect(first.value).toMatchObject({ total: 50_000, has_more: true });
    expect(last.value).toMatchObject({ total: 50_000, has_more: false });
    expect(namesOf(last.value)).toEqual(Array.from({ length: 100 }, (_, index) => `${49_900 + index}/0`));
    expect(first.rows).toBeLessThan(150);
    expect(last.rows).toBeLessThanOrEqual(first.rows + 10);
    expect(first.reads).toBeLessThan(10);
    expect(last.reads).toBeLessThanOrEqual(first.reads + 2);
  });

  it("costs the same on every page of a settled run whose examples were permuted, and is in the order of the data set", async () => {
    const { run_id } = await storedRun(12_000, { lineOf: line, permuted: true });
    const fleet = new Fleet({ model: new ScriptedModel() });
    try {
      await run(run_id).poke();
      await fleet.settled(run_id, 60_000);
    } finally {
      await fleet.close();
    }
    const woken = await page(run_id, 1);
    const [first, middle, last] = [await page(run_id, 1), await page(run_id, 61), await page(run_id, 120)];
    for (const [each, from] of [
      [first, 0],
      [middle, 6_000],
      [last, 11_900],
    ] as const) {
      expect(namesOf(each.value)).toEqual(Array.from({ length: 100 }, (_, index) => `${from + index}/0`));
      expect(each.value).toMatchObject({ total: 12_000, has_more: from < 11_900 });
      // Blocks of 16 around a hundred units, and as many entries of the list by which they are asked for.
      expect(each.rows).toBeLessThan(300);
      expect(each.reads).toBeLessThanOrEqual(3);
    }
    // The first look sums sizes up: a row read for each unit, whichever page it is for.
    expect(woken.rows).toBeLessThan(12_500);
  });

  it("costs no more on the last page of a running one than on the first, also by an object that has just woken up", async () => {
    // Every seventh unit is still open, and the last tenth too.
    const isDone = (unit: number): boolean => unit % 7 !== 0 && unit < 45_000;
    const { run_id } = await storedRun(50_000, { lineOf: line, isDone });
    const done = Array.from({ length: 50_000 }, (_, unit) => unit).filter(isDone);
    const pages = Math.ceil(done.length / 100);
    for (const [number, fresh] of [
      [1, true],
      [pages, true],
      [1, false],
      [pages, false],
    ] as const) {
      if (fresh) await evictDurableObject(rawRun(run_id));
      const { value, rows, reads } = await page(run_id, number);
      expect(namesOf(value)).toEqual(done.slice((number - 1) * 100, number * 100).map((unit) => `${unit}/0`));
      expect(value).toMatchObject({ total: done.length, has_more: number < pages });
      // Woken up it counts once, whichever page is asked for; afterwards a page is its own block.
      expect(rows).toBeLessThan(fresh ? done.length + 1_200 : 1_200);
      expect(reads).toBeLessThan(10);
    }
  });
});

/** Hands out the next unit and commits three rows for it, as an executor does. */
async function commitNext(runId: string, text: string): Promise<void> {
  const grant = await run(runId).join({ protocol: PROTOCOL, executor: "e", seq: 1, free: 8, boot: bootOf(service) });
  if (grant.kind !== "grant") throw new Error(`no grant: ${grant.kind}`);
  const ticket = { protocol: PROTOCOL, ticket: grant.ticket, epoch: grant.epoch } as const;
  const block = await run(runId).claim({ ...ticket, seq: 1, free: 1, soon: 0, open: 0, started: [] });
  if (block.kind !== "block") throw new Error(`no block: ${block.kind}`);
  const rows = [0, 1, 2].map((rollout) => line(block.lo, rollout, text)).join("");
  const segment = segmentName(grant.ticket, grant.epoch, 99_999);
  await service.BUCKET.put(segmentKey(runId, segment), rows);
  const rollouts = [0, 1, 2].map(() => ({ reward: 1, error: null, input_tokens: 1, output_tokens: 1, truncated: false, metrics: {} }));
  const answer = await run(runId).commit({ ...ticket, segment, units: JSON.stringify([{ unit: block.lo, offset: 0, length: rows.length, rollouts }]) });
  expect(answer).toMatchObject({ verdicts: ["accepted"] });
}

describe("samples of a run that goes on", () => {
  it("follow its commits: what was open comes in between", async () => {
    const { run_id } = await storedRun(6, { lineOf: line, rollouts: 3, isDone: (unit) => unit !== 2 && unit !== 5 });
    const all = (units: readonly number[]): string[] => units.flatMap((unit) => [0, 1, 2].map((rollout) => `${unit}/${rollout}`));
    expect(namesOf(await json<Page>(`/evaluations/${run_id}/samples?limit=100`))).toEqual(all([0, 1, 3, 4]));
    expect(namesOf(await json<Page>(`/evaluations/${run_id}/samples?limit=4&page=2`))).toEqual(all([0, 1, 3, 4]).slice(4, 8));
    await commitNext(run_id, "later");
    const page = await json<Page>(`/evaluations/${run_id}/samples?limit=100`);
    expect(namesOf(page)).toEqual(all([0, 1, 2, 3, 4]));
    expect(page.samples.filter(({ text }) => text === "later")).toHaveLength(3);
    expect(page.total).toBe(15);
  });

  it("are whole, whatever a model has written", async () => {
    const nasty = [
      '</script><script>alert(1)</script>"\\',
      "\u0000\u001b[2J\u009b\u202e\u2028",
      "[/red] :smile: 50%| \\[x]",
      "\ud83d\ude00".repeat(10),
      "é\n\r\n\t",
    ];
    const ascii = (unit: number, text: string): string =>
      line(unit, 0, text).replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
    const big = "<b>".repeat(500_000);
    const { run_id } = await storedRun(12, { lineOf: (unit) => ascii(unit, nasty[unit] ?? big) });
    const { samples } = await json<Page>(`/evaluations/${run_id}/samples`);
    expect(samples.map(({ text }) => text === big || nasty.indexOf(text))).toEqual([0, 1, 2, 3, 4, ...Array.from({ length: 7 }, () => true)]);
  });
});

describe("listing a thousand runs", () => {
  it("reads on the last page less than twice what it reads on the first, with a filter too", async () => {
    const projection = (index: number): RunProjection => ({
      run_id: (0xb0000000 + index).toString(16),
      version: 1,
      env_id: index % 2 === 0 ? "gsm8k" : "edgewise/gsm8k",
      model: "m",
      name: null,
      status: "COMPLETED",
      active: false,
      settled: true,
      num_examples: 5,
      rollouts_per_example: 3,
      total_rollouts: 15,
      done_rollouts: 15,
      avg_reward: 0.5,
      error_message: null,
      created_at: 1_000 + index,
      updated_at: 2_000,
    });
    // Into the tables at once: two thousand calls would be most of the test.
    await runInDurableObject(service.REGISTRY.getByName(REGISTRY_NAME), (_, { storage }) => {
      const store = RegistryStore.open(storage, new TeamBudget(storage, false));
      if (!store.ok) throw new Error(store.error.message);
      for (let index = 0; index < 1_000; index++) {
        const each = projection(index);
        store.value.reserve({ candidates: [each.run_id], idempotency_key: null, body_digest: "", now: 0 });
        store.value.project(each);
      }
    });
    const list = (query: string) => costOf(() => json<{ evaluations: { evaluation_id: string }[]; total: number }>(`/evaluations/?${query}`));
    const everything: string[] = [];
    for (const filter of ["", "&environment_name=gsm8k", "&environment_name=edgewise/gsm8k"]) {
      const first = await list(`limit=50${filter}`);
      for (let skip = 0; skip < 1_000; skip += 250) {
        const page = await list(`skip=${skip}&limit=250${filter}`);
        if (filter === "") everything.push(...page.value.evaluations.map(({ evaluation_id }) => evaluation_id));
        expect(page.rows).toBeLessThan(2 * first.rows);
      }
      const last = await list(`skip=950&limit=50${filter}`);
      expect(last.value.evaluations.map(({ evaluation_id }) => evaluation_id)).toEqual(Array.from({ length: 50 }, (_, index) => projection(49 - index).run_id));
      expect(last.value.total).toBe(1_000);
      expect(last.rows).toBeLessThan(2 * first.rows);
    }
    expect(everything).toEqual(Array.from({ length: 1_000 }, (_, index) => projection(999 - index).run_id));
    expect((await list("skip=1000&limit=50")).value).toMatchObject({ evaluations: [], total: 1_000 });
    expect((await list("suite_id=s")).value).toMatchObject({ evaluations: [], total: 0 });
  });
});
