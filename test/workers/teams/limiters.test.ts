import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import type { Registry } from "../../../durable-objects/registry/registry.ts";
import type { Env } from "../../../src/env.ts";
import { REGISTRY_NAME, registryStub } from "../../../durable-objects/stubs.ts";
import { MAX_GIVEN_LIMITS, MAX_KNOWN_LIMITERS } from "../../../src/limits.ts";

/** Limiters that runs of a team call, and limits that it keeps, in its Registry. */
const bindings = env as unknown as Env;
const registry = (team?: string) => registryStub(bindings, team);
const raw = () => bindings.REGISTRY.getByName(REGISTRY_NAME);

const URL = "https://api.example.com/v1";
const place = { base_url: URL, api_key_var: "MODELS_API_KEY", model_class: "model-4" };
const put = (team: string | undefined, name: string, requests: number, more: object = {}) =>
  registry(team).putLimit({ name, limits: [{ base_url: URL, limits: { requests }, ...more }], user: "ada" });
/** A team's secret of that name, as its door stores it. */
async function ownKey(team: string): Promise<void> {
  await registry(team).sealingKey();
  await registry(team).createSecret({
    ...{ id: "aaaaaaaa", environment: null, name: "MODELS_API_KEY", description: null, hosts: [] },
    ...{ sealed: "1.k.a.b", key: "k", created_by: "ada" },
  });
}

afterEach(() => reset());

it("a Limiter that makes itself known is listed under one id, the newest first", async () => {
  await registry().limiterSeen({ place, name: "a".repeat(32) });
  await registry().limiterSeen({ place: { ...place, model_class: "other" }, name: "b".repeat(32) });
  const [second, first] = await registry().listLimiters();
  expect([first, second]).toMatchObject([{ place }, { place: { model_class: "other" } }]);
  await registry().limiterSeen({ place, name: "a".repeat(32) });
  await evictDurableObject(raw());
  expect(await registry().listLimiters()).toMatchObject([{ id: first?.id, place }, { id: second?.id }]);
  expect(await registry().seenLimiter(first?.id ?? "")).toMatchObject({ name: "a".repeat(32) });
  expect(await registry().seenLimiter("00000000")).toBeNull();
});

it("of more Limiters than a team knows the one that was longest not heard of is forgotten", async () => {
  await runInDurableObject(raw(), async (instance: Registry) => {
    for (let each = 0; each <= MAX_KNOWN_LIMITERS; each++) await instance.limiterSeen({ place, name: `limiter-${each}` });
  });
  const known = (await registry().listLimiters()).map(({ name }) => name);
  expect([known.length, known.includes(`limiter-${MAX_KNOWN_LIMITERS}`)]).toEqual([MAX_KNOWN_LIMITERS, true]);
});

it("what the default team keeps holds for everybody with the service's key, and what another keeps for its own runs", async () => {
  await put(undefined, "ours", 500);
  await put("acme", "theirs", 50);
  await put("acme", "elsewhere", 5, { base_url: "https://other.example" });
  const everybody = [{ base_url: URL, limits: { requests: 500 } }];
  expect(await registry().limiterSeen({ place, name: "a" })).toEqual({ team: [], everybody });
  expect(await registry("acme").limiterSeen({ team: "acme", place, name: "b" })).toEqual({ team: [{ base_url: URL, limits: { requests: 50 } }], everybody });
  // The owner sees who else calls with the service's key.
  expect((await registry().listLimiters()).map(({ name, own }) => `${name} ${own}`).sort()).toEqual(["a true", "b false"]);
  // Whoever calls it beside them.
  await registry().limiterSeen({ place, name: "b" });
  await registry("acme").limiterSeen({ team: "acme", place, name: "b" });
  expect((await registry().listLimiters()).map(({ own }) => own)).toEqual([true, true]);
  expect((await registry("acme").listLimiters()).map(({ name }) => name)).toEqual(["b"]);
});

it("the service's limits are none of a key that is the team's own", async () => {
  await put(undefined, "ours", 500);
  await ownKey("acme");
  expect(await registry("acme").hasOwnKey("MODELS_API_KEY")).toBe(true);
  expect(await registry("acme").limiterSeen({ team: "acme", place, name: "b" })).toEqual({ team: [], everybody: [] });
  expect(await registry().listLimiters()).toEqual([]);
});

it("a limit is kept under its name until it is cleared", async () => {
  const first = await put(undefined, "ours", 500);
  expect(await put(undefined, "ours", 500)).toEqual(first);
  await put(undefined, "ours", 600);
  await evictDurableObject(raw());
  expect(await registry().listKeptLimits()).toMatchObject([{ name: "ours", limits: [{ limits: { requests: 600 } }], updated_by: "ada" }]);
  expect(await registry().deleteLimit("ours")).toMatchObject({ name: "ours", limits: [{ base_url: URL }] });
  expect([await registry().deleteLimit("ours"), await registry().keptLimit("ours")]).toEqual([null, null]);
});

it("a team keeps so many limits, and no more", async () => {
  await runInDurableObject(raw(), async (instance: Registry) => {
    for (let each = 0; each < MAX_GIVEN_LIMITS; each++)
      await instance.putLimit({ name: `limit-${each}`, limits: [{ base_url: URL, limits: {} }], user: "ada" });
  });
  expect(await put(undefined, "more", 5)).toMatchObject({ ok: false, error: { code: "invalid_request" } });
  expect(await put(undefined, "limit-0", 5)).toMatchObject({ ok: true });
});

it("a limit that another version stored is refused by name, and may be cleared", async () => {
  await put(undefined, "ours", 500);
  await runInDurableObject(raw(), async (instance: Registry, { storage }) => {
    storage.sql.exec("UPDATE given_limit SET version = 99");
    await expect(instance.keptLimit("ours")).rejects.toThrow("The limit ours was stored by another version of edgewise (99).");
  });
  expect(await registry().deleteLimit("ours")).toMatchObject({ name: "ours", limits: [] });
});
