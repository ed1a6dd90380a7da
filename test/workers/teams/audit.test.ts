import { abortAllDurableObjects, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { AuditEntry } from "../../../durable-objects/registry/audit-control.ts";
import { REGISTRY_NAME } from "../../../durable-objects/stubs.ts";
import { registryName } from "../../../src/teams/team-name.ts";
import { created, Door, deploy, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { service, setVars, silenceQueue, STEADY } from "../support/service.ts";

let door: Door;
const entries = async (token: string, query = ""): Promise<AuditEntry[]> => (await door.json<{ data: AuditEntry[] }>(token, "GET", `/audit${query}`)).data;
const told = (all: readonly AuditEntry[]): string[] => all.map(({ user, action, target, status }) => `${user} ${action} ${target} ${status}`);

beforeEach(() => {
  setVars(STEADY);
  silenceQueue();
  deploy();
  door = new Door();
});
afterEach(async () => {
  vi.restoreAllMocks();
  undeploy();
  await reset();
});

it("says who did what, when, from where and with what end, to who administers the team and to nobody else", async () => {
  await door.join("ada", ["acme"]);
  const admin = await door.token("ada", ["acme"], ["admin"]);
  await door.join("bob", ["other"]);
  const from = { "cf-connecting-ip": "192.0.2.7" };
  const id = await created(door, admin, {}, from);
  await door.call(admin, "PATCH", `/hosted-evaluations/${id}/cancel`, undefined, from);
  await door.call(admin, "DELETE", "/evaluations/00000000", undefined, from);
  await door.call(admin, "POST", "/hosted-evaluations", { environment_ids: ["nothing"], inference_model: "m" }, from);
  // A look is no change.
  await door.call(admin, "GET", `/evaluations/${id}`, undefined, from);

  const all = await entries(admin);
  const token = (await door.json<{ data: { id: string }[] }>(admin, "GET", "/tokens")).data[0]?.id;
  expect(told(all)).toEqual([
    "edgewise team.create acme 200",
    "edgewise member.put acme/ada 200",
    `edgewise token.create ${token} 201`,
    `ada run.create ${id} 200`,
    `ada run.cancel ${id} 200`,
    "ada run.delete 00000000 200",
    "ada run.create null 404",
  ]);
  expect(all.slice(3).map(({ via, token: by, origin }) => [via, by, origin])).toEqual(Array(4).fill(["token", token, "192.0.2.7"]));
  expect([await entries(admin, "?after=3&limit=2"), await entries(admin, "?after=7")]).toEqual([all.slice(3, 5), []]);
  expect(await entries(admin, "?order=desc&limit=3")).toEqual(all.slice(4).toReversed());
  expect(await entries(admin, `?order=desc&after=${all[4]?.seq}`)).toEqual(all.slice(0, 4).toReversed());
  expect(told(await entries(OWNER_TOKEN, "?team_id=acme"))).toEqual(told(all));
  for (const query of ["?team_id=other", "?team_id=nothing"]) expect(await door.status(admin, "GET", `/audit${query}`), query).toBe(404);
  expect(await door.status(OWNER_TOKEN, "GET", "/audit?team_id=nothing")).toBe(404);
  // The owner's own team has what the owner did, and nothing of what ada did.
  expect((await entries(OWNER_TOKEN)).every(({ user }) => user === "edgewise")).toBe(true);
  const reader = await door.token("ada", ["acme"], ["runs:write"]);
  expect(await door.status(reader, "GET", "/audit")).toBe(403);
});

it("has a revoked token in every team where it was good", async () => {
  await door.join("carol", ["acme", "other"]);
  await door.token("carol", ["acme", "other"], ["runs:read"]);
  const [{ id } = { id: "" }] = (await door.json<{ data: { id: string }[] }>(OWNER_TOKEN, "GET", "/tokens?team_id=other")).data;
  await door.json(OWNER_TOKEN, "DELETE", `/tokens/${id}`);
  for (const team of ["default", "acme", "other"])
    expect(told(await entries(OWNER_TOKEN, `?team_id=${team}`)).at(-1), team).toBe(`edgewise token.revoke ${id} 200`);
});

it("is only added to: the database refuses anything else", async () => {
  await created(door, OWNER_TOKEN);
  await runInDurableObject(service.REGISTRY.getByName(REGISTRY_NAME), (_, { storage }) => {
    for (const table of ["audit", "audit_end"])
      for (const change of [`UPDATE ${table} SET time = 0`, `DELETE FROM ${table}`])
        expect(() => storage.sql.exec(change).toArray(), change).toThrow("only added to");
  });
  expect(told(await entries(OWNER_TOKEN))).toHaveLength(1);
});

it("nothing is done that could not be noted", async () => {
  await door.join("ada", ["acme"]);
  const ada = await door.token("ada", ["acme"], ["admin"]);
  const id = await created(door, ada);
  const { REGISTRY } = service;
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const away = { noteAudit: () => Promise.reject(Object.assign(new Error("away"), { retryable: true })) };
  Object.assign(service, { REGISTRY: { getByName: (name: string) => (name === registryName("acme") ? away : REGISTRY.getByName(name)) } });
  try {
    for (const [method, path, body] of [
      ["PATCH", `/hosted-evaluations/${id}/cancel`, undefined],
      ["POST", "/hosted-evaluations", { environment_ids: ["reverse-text"], inference_model: "m" }],
      ["POST", "/tokens", { name: "x", scopes: ["runs:read"] }],
      ["DELETE", `/evaluations/${id}`, undefined],
    ] as const)
      expect(await door.status(ada, method, path, body), path).toBe(503);
  } finally {
    Object.assign(service, { REGISTRY });
  }
  expect(await door.json(ada, "GET", `/evaluations/${id}`)).toMatchObject({ status: "PENDING" });
  expect((await door.json<{ data: unknown[] }>(ada, "GET", "/tokens")).data).toHaveLength(1);
});

it("what a kill cuts off is noted all the same: there is no run without a note", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const made: string[] = [];
  for (let round = 0; round < 6; round++) {
    const work = Array.from({ length: 3 }, () => created(door, OWNER_TOKEN).then((id) => made.push(id)));
    if (round % 2 === 0) await Promise.race(work);
    await abortAllDurableObjects();
    await Promise.allSettled(work);
  }
  expect(made.length).toBeGreaterThan(0);
  const runs = (await door.json<{ total: number }>(OWNER_TOKEN, "GET", "/evaluations/")).total;
  expect((await entries(OWNER_TOKEN)).length).toBeGreaterThanOrEqual(runs);
});

it("a Registry of the version before, which notes nothing, does not keep anybody from anything", async () => {
  const { REGISTRY } = service;
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const older = (name: string) => {
    const stub = REGISTRY.getByName(name) as unknown as Record<string, (...args: unknown[]) => unknown>;
    const noteAudit = () => Promise.reject(new TypeError('The RPC receiver does not implement the method "noteAudit".'));
    return new Proxy(stub, { get: (target, method) => (method === "noteAudit" ? noteAudit : (...args: unknown[]) => target[String(method)]?.(...args)) });
  };
  Object.assign(service, { REGISTRY: { getByName: older } });
  try {
    expect(await created(door, OWNER_TOKEN)).toMatch(/^[0-9a-f]{8}$/);
  } finally {
    Object.assign(service, { REGISTRY });
  }
});
