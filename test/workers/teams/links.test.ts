import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_LINKS } from "../../../src/limits.ts";
import type { LinkedFacts } from "../../../src/links/link.ts";
import { registryName } from "../../../src/teams/team-name.ts";
import { registryStub } from "../../../durable-objects/stubs.ts";
import { type ScriptedServer, scriptedServer } from "../../support/links/scripted-server.ts";
import { closeTeam, type Door, MASTER_KEY, openTeam, OWNER_TOKEN } from "../support/people.ts";
import { service, skip } from "../support/service.ts";

/** Links of teams at the door of a deployed service, in real objects; a server answers in the place of the network. */
const TOKEN = "tok-9f31c7a2b5d84e60";
const BODY = { urls: ["https://env.example/base"], token: TOKEN };
let door: Door;
let ada: string;
let server: ScriptedServer;
/** All that the door answered. */
let answers: string[];

beforeEach(async () => {
  ({ door, ada } = await openTeam(["environments:write", "runs:write"]));
  server = scriptedServer({ token: TOKEN });
  answers = [];
  Object.assign(service, { NETWORK: { fetch: (url: string, init?: RequestInit) => server.handle(new Request(url, init)) } });
});
afterEach(async () => {
  Object.assign(service, { NETWORK: undefined });
  server.cut();
  await closeTeam();
});

type Told = { status: number; detail?: unknown; code?: string; hint?: string; data?: Record<string, unknown> };
async function ask(method: string, path: string, body?: object, token = ada): Promise<Told> {
  const response = await door.call(token, method, `/environments/linked${path}`, body);
  const text = await response.text();
  answers.push(text);
  return { status: response.status, ...(JSON.parse(text) as object) };
}
const names = async (token = ada): Promise<unknown[]> =>
  ((await ask("GET", "", undefined, token)).data as unknown as { name: string }[]).map(({ name }) => name);
const lease = { command: "eval-1", lease_seconds: 60 };

/** All rows of the team's Registry, as text. */
const stored = (): Promise<string> =>
  runInDurableObject(service.REGISTRY.getByName(registryName("acme")), (_, { storage: { sql } }) => {
    const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray();
    return tables.map(({ name }) => `${name}: ${JSON.stringify(sql.exec(`SELECT * FROM "${name}"`).toArray())}`).join("\n");
  });

it("a link is what its server said, for its team alone; its token is encrypted where it is kept, and in no answer", async () => {
  const { status, data } = await ask("PUT", "/turn-round", BODY);
  expect([status, data]).toMatchObject([200, { name: "turn-round", version: "1.0.0", digest: "f".repeat(64), linked_by: "ada", lease_until: null }]);
  expect((await ask("GET", "/turn-round")).data).toMatchObject({
    servers: [{ state: "healthy", protocol: 1, environment: "turn-round", version: "1.0.0", problem: null }],
  });
  expect(await names()).toEqual(["turn-round"]);
  await door.join("bob", ["quokkas"]);
  const bob = await door.token("bob", ["quokkas"], ["admin"]);
  expect(await names(bob)).toEqual([]);
  expect((await ask("GET", "/turn-round", undefined, bob)).status).toBe(404);
  expect((await ask("DELETE", "/turn-round", undefined, bob)).status).toBe(404);
  expect((await ask("DELETE", "/turn-round")).status).toBe(200);
  expect(await names()).toEqual([]);
  expect(answers.join("\n")).not.toContain(TOKEN);
});

it("the token stands nowhere in what is stored, and is read with the master key that replaces the one it was encrypted with", async () => {
  await ask("PUT", "/turn-round", BODY);
  const before = await stored();
  expect(before).toMatch(/environment_link: .*"sealed":"1\./);
  expect(before).not.toContain(TOKEN);
  const next = `ewk_${"n".repeat(42)}A`;
  Object.assign(service, { EDGEWISE_MASTER_KEY_NEXT: next });
  type Rotated = { data: { changed: number; next: { team: string; after: string } | null } };
  let changed = 0;
  for (let from: object | null = {}; from !== null; ) {
    const { data }: Rotated = await door.json<Rotated>(OWNER_TOKEN, "POST", "/secrets/rotate", from);
    changed += data.changed;
    from = data.next;
  }
  expect(changed).toBe(1);
  Object.assign(service, { EDGEWISE_MASTER_KEY: next, EDGEWISE_MASTER_KEY_NEXT: undefined });
  expect((await ask("GET", "/turn-round")).data).toMatchObject({ servers: [{ state: "healthy" }] });
  Object.assign(service, { EDGEWISE_MASTER_KEY: MASTER_KEY });
  expect(await ask("GET", "/turn-round")).toMatchObject({ status: 422, code: "missing_key" });
});

it("a server that is not there, asks for another token or is none is not linked, whatever it repeats of the token", async () => {
  server.script.token = "another";
  expect(await ask("PUT", "/turn-round", BODY)).toMatchObject({
    status: 422,
    code: "environment_failed",
    detail: expect.stringContaining("refuses the token"),
    hint: expect.stringContaining("--token-var"),
  });
  Object.assign(service, { NETWORK: { fetch: () => Promise.reject(new Error(`no way for ${TOKEN}`)) } });
  expect(await ask("PUT", "/turn-round", BODY)).toMatchObject({
    status: 422,
    detail: expect.stringContaining("cannot be reached"),
    hint: expect.stringContaining("edgewise_env"),
  });
  Object.assign(service, { NETWORK: { fetch: async () => new Response("<html>hello", { headers: { "content-type": "text/html" } }) } });
  expect(await ask("PUT", "/turn-round", BODY)).toMatchObject({ status: 422, code: "environment_failed" });
  expect(await names()).toEqual([]);
  expect(answers.join("\n")).not.toContain(TOKEN);
});

it("what its server is now is told: other code than was linked, another token, nobody there", async () => {
  await ask("PUT", "/turn-round", BODY);
  const state = async () => ((await ask("GET", "/turn-round")).data as { servers: { state: string; problem: string }[] }).servers[0];
  server.script.source = "e".repeat(64);
  expect(await state()).toMatchObject({ state: "other_code", problem: expect.stringContaining("env link turn-round https://env.example/base") });
  server.script.token = "another";
  expect(await state()).toMatchObject({ state: "refused" });
  Object.assign(service, { NETWORK: { fetch: () => Promise.reject(new Error("gone")) } });
  expect(await state()).toMatchObject({ state: "unreachable" });
  expect(answers.join("\n")).not.toContain(TOKEN);
});

it("a link that another version stored is refused by name, and can be made anew or unlinked", async () => {
  await ask("PUT", "/turn-round", BODY);
  await runInDurableObject(
    service.REGISTRY.getByName(registryName("acme")),
    (_, { storage: { sql } }) => void sql.exec("UPDATE environment_link SET stored = 2"),
  );
  expect(await ask("GET", "/turn-round")).toMatchObject({
    status: 500,
    code: "stored_version_unknown",
    detail: expect.stringContaining("The link turn-round"),
  });
  expect((await ask("PUT", "/turn-round", BODY)).status).toBe(200);
  expect((await ask("GET", "/turn-round")).status).toBe(200);
});

describe("the link of a command", () => {
  it("lapses when it is not renewed, and what lasts under its name is there again", async () => {
    await ask("PUT", "/turn-round", BODY);
    server.script.source = "c".repeat(64);
    expect((await ask("PUT", "/turn-round", { ...BODY, ...lease })).data).toMatchObject({ command: "eval-1", lease_until: expect.stringMatching(/^\d{4}-/) });
    const digest = async () => (await ask("GET", "/turn-round")).data?.digest;
    expect(await digest()).toBe("c".repeat(64));
    skip(50_000);
    expect((await ask("POST", "/turn-round/lease", lease)).status).toBe(200);
    skip(50_000);
    expect(await digest()).toBe("c".repeat(64));
    skip(10_001);
    expect(await digest()).toBe("f".repeat(64));
    expect((await ask("POST", "/turn-round/lease", lease)).status).toBe(404);
    expect((await ask("DELETE", "/turn-round?command=eval-1")).status).toBe(404);
    expect(await names()).toEqual(["turn-round"]);
  });

  it("makes room when it has lapsed: a team has so many and no more", async () => {
    const registry = registryStub(service, "acme");
    const facts: LinkedFacts = { id: "x", version: "1", description: "", defaults: {}, keys: [], args: [], source: "s" };
    const one = (n: number) =>
      registry.linkEnvironment({
        ...{ name: `env-${n}`, command: "c", id: `link-${n}`, urls: ["https://env.example"], facts, linked_by: "ada" },
        ...{ sealed: "1.00000000.x.y", key: "00000000", lease_ms: 60_000 },
      });
    for (let n = 0; n < MAX_LINKS; n++) expect((await one(n)).ok).toBe(true);
    expect(await one(MAX_LINKS)).toMatchObject({ ok: false, error: { code: "invalid_request", message: expect.stringContaining(String(MAX_LINKS)) } });
    // The same one again takes no more room.
    expect((await one(0)).ok).toBe(true);
    skip(60_001);
    expect((await one(MAX_LINKS)).ok).toBe(true);
    expect(await registry.listEnvironmentLinks()).toHaveLength(1);
  });
});
