import { abortAllDurableObjects, evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it } from "vitest";
import type { Registry } from "../../../durable-objects/registry/registry.ts";
import { registryStub } from "../../../durable-objects/stubs.ts";
import { MAX_KEPT_BUDGETS } from "../../../src/limits.ts";
import VERSION_1 from "../../fixtures/stored-state/budgets/kept-budget-1.json";
import { service } from "../support/service.ts";

afterEach(() => reset());

const registry = (team?: string) => registryStub(service, team);
const raw = () => service.REGISTRY.getByName("registry");
const put = (name: string, day: number) => registry().putKeptBudget({ name, limits: { day }, user: "ada" });

it("a budget is kept under its name until it is cleared, by each team for itself", async () => {
  const first = await put("team/default", 20);
  expect(await put("team/default", 20)).toEqual(first);
  await put("team/default", 30);
  await evictDurableObject(raw());
  expect(await registry().listKeptBudgets()).toMatchObject([{ name: "team/default", limits: { day: 30 }, updated_by: "ada" }]);
  expect(await registry("acme").listKeptBudgets()).toEqual([]);
  expect([await registry().deleteKeptBudget("team/default"), await registry().deleteKeptBudget("team/default")]).toEqual([true, false]);
});

it("budgets that version 1 has stored are there, and may be changed and cleared", async () => {
  await runInDurableObject(raw(), (_, { storage }) => {
    for (const statement of [...VERSION_1.tables, ...VERSION_1.rows]) storage.sql.exec(statement);
  });
  await abortAllDurableObjects();
  expect(await registry().listKeptBudgets()).toEqual([
    { name: "key/*/OPENAI_API_KEY", limits: { day: 0.5 }, created_at: 1_763_900_000_000, updated_at: 1_763_900_000_000, updated_by: "owner" },
    { name: "team/default", limits: { day: 20, month: 200 }, created_at: 1_763_900_000_000, updated_at: 1_763_900_060_000, updated_by: "ada" },
  ]);
  expect(await put("team/default", 30)).toMatchObject({ ok: true, value: { limits: { day: 30 }, created_at: 1_763_900_000_000 } });
  expect(await registry().deleteKeptBudget("key/*/OPENAI_API_KEY")).toBe(true);
  expect((await registry().listKeptBudgets()).map(({ name }) => name)).toEqual(["team/default"]);
});

it("a team keeps so many budgets, and no more", async () => {
  await runInDurableObject(raw(), async (instance: Registry) => {
    for (let each = 0; each < MAX_KEPT_BUDGETS; each++) await instance.putKeptBudget({ name: `key/default/KEY_${each}`, limits: { day: 1 }, user: "ada" });
  });
  expect(await put("team/default", 5)).toMatchObject({ ok: false, error: { code: "invalid_request" } });
  expect(await put("key/default/KEY_0", 5)).toMatchObject({ ok: true });
});

it("a budget that another version stored is refused by name, and may be cleared", async () => {
  await put("team/default", 5);
  await runInDurableObject(raw(), async (instance: Registry, { storage }) => {
    storage.sql.exec("UPDATE kept_budget SET version = 99");
    await expect(instance.listKeptBudgets()).rejects.toThrow("The budget team/default was stored by another version of edgewise (99).");
  });
  expect(await registry().deleteKeptBudget("team/default")).toBe(true);
});
