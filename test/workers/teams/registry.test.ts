import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import type { Registry } from "../../../durable-objects/registry/registry.ts";
import type { RunListQuery } from "../../../durable-objects/registry/lists/list-query.ts";
import type { ReserveRequest, RunProjection } from "../../../durable-objects/registry/registry-control.ts";
import type { Env } from "../../../src/env.ts";
import { operations } from "../../../src/operations.ts";
import { REGISTRY_NAME, registryStub } from "../../../durable-objects/stubs.ts";

const bindings = env as unknown as Env;
const registry = () => registryStub(bindings);
const raw = () => bindings.REGISTRY.getByName(REGISTRY_NAME);

const wish = (candidates: string[], changes: Partial<ReserveRequest> = {}): ReserveRequest => ({
  candidates,
  idempotency_key: null,
  body_digest: "digest",
  now: Date.now(),
  ...changes,
});
const projection = (runId: string, changes: Partial<RunProjection> = {}): RunProjection => ({
  run_id: runId,
  version: 1,
  env_id: "gsm8k",
  model: "openai/gpt-4.1-mini",
  name: null,
  status: "RUNNING",
  active: true,
  settled: false,
  num_examples: 5,
  rollouts_per_example: 3,
  total_rollouts: 15,
  done_rollouts: 0,
  avg_reward: null,
  error_message: null,
  created_at: 1000,
  updated_at: 1000,
  ...changes,
});
async function listed(environment: string | null = null): Promise<string[]> {
  const { runs, total } = await registry().list({ skip: 0, limit: 50, environment_name: environment });
  expect(total).toBe(runs.length);
  return runs.map(({ run_id }) => run_id);
}
/** Reserved and projected. */
async function known(runId: string, changes: Partial<RunProjection> = {}): Promise<void> {
  await registry().reserve(wish([runId]));
  await registry().project(projection(runId, changes));
}

afterEach(() => reset());

describe("a reservation", () => {
  it("takes the first candidate that is free", async () => {
    expect(await registry().reserve(wish(["aaaaaaaa", "bbbbbbbb"]))).toEqual({ ok: true, value: { run_ids: ["aaaaaaaa"], existing: false, deleted: [] } });
    expect(await registry().reserve(wish(["aaaaaaaa", "bbbbbbbb"]))).toEqual({ ok: true, value: { run_ids: ["bbbbbbbb"], existing: false, deleted: [] } });
    expect(await registry().reserve(wish(["aaaaaaaa", "bbbbbbbb"]))).toMatchObject({ ok: false, error: { code: "illegal_transition" } });
  });

  it("gives each of many at the same time its own id", async () => {
    const candidates = Array.from({ length: 20 }, (_, index) => String(index).padStart(8, "0"));
    const answers = await Promise.all(candidates.map(() => registry().reserve(wish(candidates))));
    expect(new Set(answers.map((answer) => answer.ok && answer.value.run_ids[0])).size).toBe(20);
  });

  it("with a known idempotency key is the earlier one; with another body a conflict that takes no id", async () => {
    const key = { idempotency_key: "k" };
    await registry().reserve(wish(["aaaaaaaa"], key));
    expect(await registry().reserve(wish(["bbbbbbbb"], key))).toEqual({ ok: true, value: { run_ids: ["aaaaaaaa"], existing: true, deleted: [] } });
    expect(await registry().reserve(wish(["bbbbbbbb"], { ...key, body_digest: "other" }))).toMatchObject({
      ok: false,
      error: { code: "idempotency_conflict" },
    });
    expect(await registry().reserve(wish(["bbbbbbbb"]))).toMatchObject({ value: { run_ids: ["bbbbbbbb"] } });
  });

  it("can be given back with its key, as long as no run has reported", async () => {
    const request = wish(["aaaaaaaa"], { idempotency_key: "k" });
    await registry().reserve(request);
    await registry().release("aaaaaaaa");
    expect(await registry().reserve(request)).toMatchObject({ value: { existing: false } });
    await registry().project(projection("aaaaaaaa"));
    await registry().release("aaaaaaaa");
    expect(await listed()).toEqual(["aaaaaaaa"]);
  });

  it("survives the eviction of the object", async () => {
    await known("aaaaaaaa");
    await evictDurableObject(raw());
    expect(await registry().reserve(wish(["aaaaaaaa"]))).toMatchObject({ ok: false });
    expect(await listed()).toEqual(["aaaaaaaa"]);
  });
});

describe("a reservation of several ids", () => {
  const three = wish(["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"], { count: 3, idempotency_key: "k" });
  const first = { ok: true, value: { run_ids: ["aaaaaaaa", "bbbbbbbb", "cccccccc"], existing: false, deleted: [] } };

  it("takes the free ones in their order, all or none", async () => {
    await known("bbbbbbbb");
    expect(await registry().reserve(wish(["aaaaaaaa", "bbbbbbbb"], { count: 2 }))).toMatchObject({ ok: false });
    expect(await registry().reserve({ ...three, idempotency_key: null })).toMatchObject({ value: { run_ids: ["aaaaaaaa", "cccccccc", "dddddddd"] } });
  });

  it("is one for one key, in the same order, after an eviction too", async () => {
    expect(await registry().reserve(three)).toEqual(first);
    await evictDurableObject(raw());
    expect(await registry().reserve({ ...three, candidates: ["eeeeeeee", "ffffffff", "00000000"] })).toEqual({
      ok: true,
      value: { ...first.value, existing: true },
    });
    expect(await registry().reserve({ ...three, body_digest: "other" })).toMatchObject({ ok: false, error: { code: "idempotency_conflict" } });
  });

  it("keeps its key until the last of its runs is deleted, and names those that are", async () => {
    await registry().reserve(three);
    for (const id of ["aaaaaaaa", "cccccccc"]) await registry().forget(id);
    expect(await registry().reserve(three)).toEqual({ ok: true, value: { ...first.value, existing: true, deleted: ["aaaaaaaa", "cccccccc"] } });
    await registry().forget("bbbbbbbb");
    expect(await registry().reserve(three)).toEqual(first);
  });
});

describe("the list", () => {
  it("shows what has reported, newest first, in pages", async () => {
    await registry().reserve(wish(["00000000"]));
    for (const [index, id] of ["11111111", "22222222", "33333333"].entries()) await known(id, { created_at: 1000 + index });
    expect(await listed()).toEqual(["33333333", "22222222", "11111111"]);
    const { runs, total } = await registry().list({ skip: 1, limit: 1, environment_name: null });
    expect([runs.map(({ run_id }) => run_id), total]).toEqual([["22222222"], 3]);
    expect(runs[0]).toEqual(projection("22222222", { created_at: 1001 }));
  });

  it("filters by environment, whichever form of its name is used", async () => {
    await known("11111111", { env_id: "gsm8k", created_at: 1 });
    await known("22222222", { env_id: "primeintellect/gsm8k@0.1.0", created_at: 2 });
    await known("33333333", { env_id: "reverse-text", created_at: 3 });
    expect(await listed("gsm8k")).toEqual(["22222222", "11111111"]);
    expect(await listed("primeintellect/gsm8k")).toEqual(["22222222", "11111111"]);
    expect(await listed("other/gsm8k")).toEqual(["11111111"]);
    expect(await listed("gsm%")).toEqual([]);
  });

  it("finds runs by words, statuses and model, all at once", async () => {
    await known("11111111", { env_id: "gsm8k", model: "openai/GPT-9", name: "First Try", status: "COMPLETED", created_at: 1 });
    await known("22222222", { env_id: "gsm8k", model: "openai/gpt-9", name: null, status: "FAILED", created_at: 2 });
    await known("33333333", { env_id: "reverse-text", model: "tiny", name: "100%_sure", status: "RUNNING", created_at: 3 });
    const found = async (query: Partial<RunListQuery>): Promise<string[]> => {
      const { runs, total } = await registry().list({ skip: 0, limit: 50, environment_name: null, ...query });
      expect(total).toBe(runs.length);
      return runs.map(({ run_id }) => run_id);
    };
    expect(await found({ search: "GPT gsm8k" })).toEqual(["22222222", "11111111"]);
    expect(await found({ search: "gpt first" })).toEqual(["11111111"]);
    expect(await found({ search: "3333" })).toEqual(["33333333"]);
    // No pattern: its marks are letters like others.
    expect(await found({ search: "100%_s" })).toEqual(["33333333"]);
    expect(await found({ search: "%" })).toEqual(["33333333"]);
    expect(await found({ search: `${"x".repeat(180)}` })).toEqual([]);
    expect(await found({ statuses: ["FAILED", "RUNNING"] })).toEqual(["33333333", "22222222"]);
    expect(await found({ model: "openai/gpt-9" })).toEqual(["22222222"]);
    expect(await found({ environment_name: "gsm8k", statuses: ["COMPLETED", "RUNNING"], search: "openai" })).toEqual(["11111111"]);
  });

  it("finds runs by a tag, which it has as it is, and by who made them", async () => {
    await known("11111111", { tags: ["nightly", "v2"], created_by: "ada", created_at: 1 });
    await known("22222222", { tags: ["nightly"], created_by: "bob", created_at: 2 });
    await known("33333333", { created_by: "ada", created_at: 3 });
    // Of a version before.
    await known("44444444", { created_at: 4 });
    const found = async (query: Partial<RunListQuery>): Promise<string[]> =>
      (await registry().list({ skip: 0, limit: 50, environment_name: null, ...query })).runs.map(({ run_id }) => run_id);
    expect(await found({ tag: "nightly" })).toEqual(["22222222", "11111111"]);
    expect(await found({ tag: "night" })).toEqual([]);
    expect(await found({ tag: "' OR 1 = 1 --" })).toEqual([]);
    expect(await found({ created_by: "ada" })).toEqual(["33333333", "11111111"]);
    expect(await found({ tag: "nightly", created_by: "ada" })).toEqual(["11111111"]);
  });

  it.each([
    ["reward", "desc", ["33333333", "11111111", "22222222", "44444444"]],
    ["reward", "asc", ["22222222", "11111111", "33333333", "44444444"]],
    ["cost", "desc", ["11111111", "44444444", "33333333", "22222222"]],
    ["done", "desc", ["22222222", "44444444", "33333333", "11111111"]],
    ["model", "asc", ["33333333", "11111111", "22222222", "44444444"]],
    ["created", "asc", ["11111111", "22222222", "33333333", "44444444"]],
  ] as const)("is sorted by %s, %s; what lacks it comes last, and of equals the newest first", async (sort, order, ids) => {
    const cost = (usd: number) => ({ cost: { input_usd: 0, output_usd: usd, total_usd: usd } });
    await known("11111111", { created_at: 1, model: "a", avg_reward: 0.5, done_rollouts: 1, ...cost(0.25) });
    await known("22222222", { created_at: 2, model: "b", avg_reward: 0, done_rollouts: 15 });
    await known("33333333", { created_at: 3, model: "A", avg_reward: 0.75, done_rollouts: 10 });
    await known("44444444", { created_at: 4, model: "c", avg_reward: null, done_rollouts: 12 });
    const whole = (await registry().list({ skip: 0, limit: 50, environment_name: null, sort, order })).runs.map(({ run_id }) => run_id);
    expect(whole).toEqual(ids);
    const parts = await Promise.all([0, 2].map((skip) => registry().list({ skip, limit: 2, environment_name: null, sort, order })));
    expect(parts.flatMap(({ runs }) => runs.map(({ run_id }) => run_id))).toEqual(ids);
  });

  it("keeps the newest projection, whatever order they come in", async () => {
    await known("11111111", { version: 3, status: "COMPLETED" });
    await registry().project(projection("11111111", { version: 2, status: "RUNNING" }));
    expect((await registry().list({ skip: 0, limit: 1, environment_name: null })).runs[0]?.status).toBe("COMPLETED");
  });

  it("forgets a run for good: a late projection does not bring it back, but its id is free", async () => {
    await known("11111111");
    await registry().forget("11111111");
    await registry().project(projection("11111111", { version: 9 }));
    expect(await listed()).toEqual([]);
    expect(await registry().reserve(wish(["11111111"]))).toMatchObject({ ok: true });
  });
});

describe("runs the watchdog pokes", () => {
  it("are the active ones", async () => {
    await known("33333333");
    await known("11111111");
    await known("22222222", { active: false });
    expect(await registry().turn(10)).toEqual(["11111111", "33333333"]);
    await registry().project(projection("33333333", { version: 2, active: false }));
    expect(await registry().turn(10)).toEqual(["11111111"]);
  });

  it("are also settled ones that owe a push, each in its place, until they do not or are gone", async () => {
    for (const id of ["11111111", "33333333"]) await known(id);
    for (const id of ["00000000", "22222222", "44444444"]) await known(id, { active: false, settled: true, status: "COMPLETED", owes_push: true });
    expect([await registry().turn(3), await registry().turn(3)]).toEqual([
      ["00000000", "11111111", "22222222"],
      ["33333333", "44444444", "00000000"],
    ]);
    await registry().project(projection("22222222", { version: 2, active: false, settled: true, status: "COMPLETED" }));
    await registry().forget("44444444");
    await evictDurableObject(raw());
    expect((await registry().turn(10)).toSorted()).toEqual(["00000000", "11111111", "33333333"]);
  });

  it("take turns where they are more than one invocation pokes, whoever comes and goes meanwhile", async () => {
    const ids = Array.from({ length: 25 }, (_, index) => String(index).padStart(8, "0"));
    await registry().reserve(wish(ids, { count: 25 }));
    const turns = [await registry().turn(10), await registry().turn(10)];
    await evictDurableObject(raw());
    turns.push(await registry().turn(10));
    expect(turns.flat()).toEqual([...ids, ...ids.slice(0, 5)]);
    await registry().forget("00000004");
    await registry().forget("00000007");
    expect(await registry().turn(10)).toEqual([5, 6, 8, 9, 10, 11, 12, 13, 14, 15].map((index) => String(index).padStart(8, "0")));
    // One that fits into a turn begins anew, each of them once.
    expect((await registry().turn(100)).toSorted()).toEqual(ids.filter((id) => id !== "00000004" && id !== "00000007"));
  });

  it("cost the Registry no write where all go into one turn", async () => {
    for (const id of ["11111111", "22222222"]) await known(id);
    await registry().turn(10);
    const written = await runInDurableObject(raw(), async (instance: Registry) => {
      const before = operations().do_rows_written;
      await instance.turn(10);
      return operations().do_rows_written - before;
    });
    expect(written).toBe(0);
  });

  it("are also those reserved a short while ago that have not reported", async () => {
    await registry().reserve(wish(["11111111"]));
    await registry().reserve(wish(["22222222"], { now: Date.now() - 2 * 3_600_000 }));
    expect(await registry().turn(10)).toEqual(["11111111"]);
  });
});

describe("stored tables of another version", () => {
  it("of version 1 go on, their keys included", async () => {
    const request = wish(["aaaaaaaa"], { idempotency_key: "k" });
    await registry().reserve(request);
    await runInDurableObject(raw(), (_, state) => {
      state.storage.sql.exec("DROP TABLE key_runs");
      state.storage.sql.exec("UPDATE schema_version SET version = 1");
    });
    await evictDurableObject(raw());
    expect(await registry().reserve(request)).toEqual({ ok: true, value: { run_ids: ["aaaaaaaa"], existing: true, deleted: [] } });
    expect(await registry().reserve(wish(["bbbbbbbb", "cccccccc"], { count: 2, idempotency_key: "l" }))).toMatchObject({ ok: true });
    await registry().forget("aaaaaaaa");
    expect(await registry().reserve(request)).toMatchObject({ value: { existing: false } });
  });

  it("are refused by name and left as they are", async () => {
    await known("11111111");
    await runInDurableObject(raw(), (_, state) => void state.storage.sql.exec("UPDATE schema_version SET version = 99"));
    await evictDurableObject(raw());
    expect(await registry().reserve(wish(["22222222"]))).toMatchObject({ ok: false, error: { code: "stored_version_unknown" } });
    const refusal = await registry()
      .list({ skip: 0, limit: 1, environment_name: null })
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: "EdgewiseError", code: "stored_version_unknown" });
    const rows = await runInDurableObject(raw(), (_, state) => state.storage.sql.exec("SELECT run_id FROM runs").toArray());
    expect(rows).toEqual([{ run_id: "11111111" }]);
  });
});

describe("the price of a run", () => {
  it("is a few rows written per report, however many runs there are", async () => {
    for (let index = 0; index < 50; index++) await known(String(index).padStart(8, "0"));
    const before = operations();
    await registry().project(projection("00000007", { version: 2, done_rollouts: 9 }));
    const after = operations();
    expect(after.do_requests - before.do_requests).toBe(1);
    expect(after.do_rows_written - before.do_rows_written).toBeLessThanOrEqual(3);
    expect(after.do_rows_read - before.do_rows_read).toBeLessThanOrEqual(4);
  });
});
