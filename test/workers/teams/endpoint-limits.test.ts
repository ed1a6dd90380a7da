import { afterEach, beforeEach, expect, it } from "vitest";
import { type Door, closeTeam, openTeam, OWNER_TOKEN } from "../support/people.ts";
import { service } from "../support/service.ts";
import { registryStub } from "../../../durable-objects/stubs.ts";

/** What endpoints bear, at the door of a deployed service with teams, in real objects. */
let door: Door;
let ada: string;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write"]));
});
afterEach(closeTeam);

const URL = "https://models.example/v1";
const SERVICE_KEY = { url: URL, key: "MODELS_API_KEY", concurrent: 8 };
const OWN_KEY = { url: URL, key: "OWN_API_KEY", concurrent: 8 };
const given = async (token: string, team?: string) =>
  (await door.json<{ data: { name: string }[] }>(token, "GET", `/limits/given${team === undefined ? "" : `?team_id=${team}`}`)).data.map(({ name }) => name);

it("limits of the service's keys are given by its owner, those of a team's own by who keeps its keys", async () => {
  const keeper = await door.token("ada", ["acme"], ["secrets:write"]);
  await door.json(keeper, "POST", "/secrets/", { name: "OWN_API_KEY", value: "sk-own" });
  expect(await door.status(keeper, "PUT", "/limits/given/own", OWN_KEY)).toBe(200);
  expect(await door.status(keeper, "PUT", "/limits/given/ours", SERVICE_KEY)).toBe(403);
  expect(await door.status(keeper, "PUT", "/limits/given/all", { url: URL, concurrent: 8 })).toBe(422);
  // Nor is one that the owner gave taken over under its name, or cleared.
  expect(await door.status(OWNER_TOKEN, "PUT", "/limits/given/ours?team_id=acme", SERVICE_KEY)).toBe(200);
  expect(await door.status(keeper, "PUT", "/limits/given/ours", OWN_KEY)).toBe(403);
  expect(await door.status(keeper, "DELETE", "/limits/given/ours")).toBe(403);
  expect(await given(ada)).toEqual(["ours", "own"]);
  expect([await door.status(keeper, "DELETE", "/limits/given/own"), await door.status(OWNER_TOKEN, "DELETE", "/limits/given/ours?team_id=acme")]).toEqual([
    200, 200,
  ]);
  const admin = await door.token("ada", ["acme"], ["admin"]);
  const { data } = await door.json<{ data: { action: string; target: string | null }[] }>(admin, "GET", "/audit");
  expect(data.flatMap(({ action, target }) => (action.startsWith("limit.") ? [`${action} ${target}`] : []))).toEqual([
    "limit.give own",
    "limit.give ours",
    "limit.clear own",
    "limit.clear ours",
  ]);
});

it("are read by who reads runs, changed by nobody who only makes them, and no other team's business", async () => {
  await door.json(OWNER_TOKEN, "PUT", "/limits/given/ours?team_id=acme", SERVICE_KEY);
  const reader = await door.token("ada", ["acme"], ["runs:read"]);
  expect(await given(reader)).toEqual(["ours"]);
  for (const token of [reader, ada]) {
    expect(await door.status(token, "PUT", "/limits/given/more", OWN_KEY)).toBe(403);
    expect(await door.status(token, "DELETE", "/limits/given/ours")).toBe(403);
  }
  await door.join("bob", ["quokkas"]);
  const bob = await door.token("bob", ["quokkas"], ["admin"]);
  expect(await given(bob)).toEqual([]);
  for (const method of ["GET", "DELETE"]) expect(await door.status(bob, method, "/limits/given/ours")).toBe(404);
  expect(await door.status(bob, "GET", "/limits/given?team_id=acme")).toBe(404);
});

it("a limiter is shown to the teams that call it, and forgets at the word of whose key it is", async () => {
  const place = { base_url: URL, api_key_var: "MODELS_API_KEY", model_class: "m" };
  const name = "a".repeat(32);
  await registryStub(service, "acme").limiterSeen({ team: "acme", place, name });
  const listed = async (token: string) => (await door.json<{ data: { limiter_id: string; api_key_var: string }[] }>(token, "GET", "/limits")).data;
  const [own] = await listed(ada);
  expect(own).toMatchObject({ api_base_url: URL, api_key_var: "MODELS_API_KEY", model_class: "m", given: [] });
  // The owner's, since the key is the service's.
  expect(await listed(OWNER_TOKEN)).toMatchObject([{ api_base_url: URL }]);
  await door.join("carol", ["default"]);
  const carol = await door.token("carol", ["default"], ["admin"]);
  expect(await listed(carol)).toEqual([]);
  const [ofService] = await listed(OWNER_TOKEN);
  expect(await door.status(carol, "GET", `/limits/${ofService?.limiter_id}`)).toBe(404);
  await door.join("bob", ["quokkas"]);
  expect(await listed(await door.token("bob", ["quokkas"], ["admin"]))).toEqual([]);
  const admin = await door.token("ada", ["acme"], ["admin"]);
  expect(await door.status(admin, "POST", `/limits/${own?.limiter_id}/forget`, {})).toBe(403);
  // Nor with a secret that is called as the service's key is: the key that it is of stays what it was.
  const keeper = await door.token("ada", ["acme"], ["secrets:write"]);
  await door.json(keeper, "POST", "/secrets/", { name: "MODELS_API_KEY", value: "sk-own" });
  expect(await door.status(keeper, "POST", `/limits/${own?.limiter_id}/forget`, {})).toBe(403);
  const ownName = "b".repeat(32);
  await registryStub(service, "acme").limiterSeen({ team: "acme", place, name: ownName });
  const later = (await listed(ada)).find(({ limiter_id }) => limiter_id !== own?.limiter_id);
  expect(await door.status(keeper, "POST", `/limits/${later?.limiter_id}/forget`, {})).toBe(200);
  expect(await door.status(OWNER_TOKEN, "POST", `/limits/${own?.limiter_id}/forget?team_id=acme`, {})).toBe(200);
  expect(JSON.stringify(await listed(OWNER_TOKEN))).not.toContain(name);
});
