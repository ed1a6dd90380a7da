import { abortAllDurableObjects, evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DIRECTORY_NAME } from "../../../durable-objects/stubs.ts";
import { KNOWN_MS } from "../../../src/api/access/principals.ts";
import { digestOfToken } from "../../../src/teams/token-text.ts";
import { Door, deploy, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { restoreClock, service, setVars, silenceQueue, skip, STEADY } from "../support/service.ts";

const LIST = "/evaluations/";
const DAY_MS = 86_400_000;
const raw = () => service.DIRECTORY.getByName(DIRECTORY_NAME);
/** All that the Directory has stored, as text. */
const stored = (): Promise<string> =>
  runInDurableObject(raw(), (_, { storage }) =>
    JSON.stringify(["token", "token_team", "user", "member"].map((table) => storage.sql.exec(`SELECT * FROM ${table}`).toArray())),
  );

beforeEach(() => {
  setVars(STEADY);
  silenceQueue();
  deploy();
});
afterEach(async () => {
  restoreClock();
  undeploy();
  vi.restoreAllMocks();
  await reset();
});

describe("a token", () => {
  it("is shown once, stored as a digest, and good for what its scopes say", async () => {
    const door = new Door();
    const made = await door.json<{ data: { id: string; token: string } }>(OWNER_TOKEN, "POST", "/tokens", { name: "ci", scopes: ["runs:read"] });
    expect(made.data).toMatchObject({ name: "ci", user: "edgewise", teams: ["default"], scopes: ["runs:read"], expires_at: null, revoked_at: null });
    const { token } = made.data;
    expect(await stored()).not.toContain(token);
    expect(await stored()).toContain(await digestOfToken(token));
    expect(JSON.stringify(await door.json(OWNER_TOKEN, "GET", "/tokens"))).not.toContain(token);
    expect(await door.status(token, "GET", LIST)).toBe(200);
    const refused = await door.call(token, "POST", "/hosted-evaluations", {});
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: "forbidden", detail: expect.stringContaining("runs:write") }]);
    for (const [method, path] of [
      ["GET", "/tokens"],
      ["POST", "/tokens"],
      ["PUT", "/teams/mine"],
    ] as const)
      expect(await door.status(token, method, path, method === "GET" ? undefined : {}), path).toBe(403);
  });

  it("is over at its end, to the millisecond", async () => {
    const door = new Door();
    await door.join("ada", ["acme"]);
    const token = await door.token("ada", ["acme"], ["runs:read"], { expires_in: "2d" });
    expect(await door.status(token, "GET", LIST)).toBe(200);
    skip(2 * DAY_MS - 2_000);
    expect(await door.status(token, "GET", LIST)).toBe(200);
    // Known to the isolate a moment ago, and over all the same.
    skip(3_000);
    expect(await door.status(token, "GET", LIST)).toBe(401);
  });

  it("that is revoked is good nowhere: at once where it was revoked, elsewhere within ten seconds", async () => {
    const [here, elsewhere] = [new Door(), new Door()];
    await here.join("ada", ["acme"]);
    const token = await here.token("ada", ["acme"], ["runs:read"]);
    for (const door of [here, elsewhere]) expect(await door.status(token, "GET", LIST)).toBe(200);
    const [{ id } = { id: "" }] = (await here.json<{ data: { id: string }[] }>(OWNER_TOKEN, "GET", "/tokens?team_id=acme")).data;
    await here.json(OWNER_TOKEN, "DELETE", `/tokens/${id}`);
    expect(await here.status(token, "GET", LIST)).toBe(401);
    skip(KNOWN_MS + 1);
    expect(await elsewhere.status(token, "GET", LIST)).toBe(401);
    expect(KNOWN_MS).toBeLessThanOrEqual(10_000);
  });

  it("that is revoked, or whose user is out of the team, ends the event streams that were begun with it", async () => {
    const [here, elsewhere] = [new Door(), new Door()];
    await here.join("ada", ["acme", "other"]);
    await here.join("bea", ["acme"]);
    const revoked = await here.token("ada", ["acme"], ["runs:read"]);
    const [{ id } = { id: "" }] = (await here.json<{ data: { id: string }[] }>(OWNER_TOKEN, "GET", "/tokens?team_id=acme")).data;
    const leaving = await here.token("ada", ["acme", "other"], ["runs:read"]);
    const staying = await here.token("bea", ["acme"], ["runs:read"]);
    const follow = async (door: Door, token: string) => {
      const { body } = await door.call(token, "GET", "/evaluation-states?list=true", undefined, { "x-edgewise-team": "acme" });
      const reader = (body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      return reader;
    };
    const ended = [await follow(here, revoked), await follow(elsewhere, revoked), await follow(elsewhere, leaving)];
    const goesOn = await follow(elsewhere, staying);
    await here.json(OWNER_TOKEN, "DELETE", `/tokens/${id}`);
    await here.json(OWNER_TOKEN, "DELETE", "/teams/acme/members/ada");
    // Less than the 25 s after which a stream ends by itself.
    skip(KNOWN_MS + 1);
    for (const reader of ended) {
      let frames = 0;
      // What was on its way may still come; the stream is silent for a second at most.
      while (!(await reader.read()).done) frames += 1;
      expect(frames).toBeLessThanOrEqual(2);
    }
    expect((await goesOn.read()).done).toBe(false);
    expect((await goesOn.read()).done).toBe(false);
    await goesOn.cancel();
  });

  it("is good for no more than its user: out of the team, or with fewer scopes", async () => {
    const door = new Door();
    await door.join("ada", ["acme"], ["runs:write"]);
    await door.join("bea", ["acme"], ["runs:write"]);
    const [ada, bea] = [await door.token("ada", ["acme"], ["runs:write"]), await door.token("bea", ["acme"], ["runs:write"])];
    const excess = await door.call(OWNER_TOKEN, "POST", "/tokens", { name: "x", user: "ada", teams: ["acme"], scopes: ["admin"] });
    expect(excess.status).toBe(403);
    await door.json(OWNER_TOKEN, "PUT", "/teams/acme/members/bea", { scopes: ["runs:read"] });
    expect(await door.status(bea, "GET", LIST)).toBe(200);
    expect(await door.status(bea, "POST", "/hosted-evaluations", {})).toBe(403);
    await door.json(OWNER_TOKEN, "DELETE", "/teams/acme/members/ada");
    expect(await door.status(ada, "GET", LIST)).toBe(401);
    expect(await door.status(OWNER_TOKEN, "POST", "/tokens", { name: "x", user: "ada", teams: ["acme"], scopes: ["runs:read"] })).toBe(404);
  });

  it("of who administers one team reaches no other: it makes, sees and revokes tokens of that one", async () => {
    const door = new Door();
    await door.join("ada", ["acme"]);
    await door.join("bob", ["other"]);
    await door.join("carol", ["acme", "other"]);
    const [ada, both] = [await door.token("ada", ["acme"], ["admin"]), await door.token("carol", ["other", "acme"], ["runs:read"])];
    expect(await door.status(ada, "POST", "/tokens", { name: "x", user: "carol", teams: ["acme"], scopes: ["runs:read"] })).toBe(201);
    for (const teams of [["other"], ["acme", "other"], ["nothing"]])
      expect(await door.status(ada, "POST", "/tokens", { name: "x", user: "carol", teams, scopes: ["runs:read"] }), teams.join()).toBe(404);
    expect(await door.status(ada, "GET", "/tokens?team_id=other")).toBe(404);
    expect((await door.json<{ data: unknown[] }>(ada, "GET", "/teams")).data).toMatchObject([{ team: "acme" }]);
    const seen = (await door.json<{ data: { id: string; user: string; teams: string[] }[] }>(ada, "GET", "/tokens")).data;
    const carols = seen.find(({ teams }) => teams.length === 2)?.id;
    // Out of this team, and still good in the other.
    expect(await door.json(ada, "DELETE", `/tokens/${carols}`)).toMatchObject({ data: { teams: ["other"], revoked_at: null } });
    expect((await door.json(both, "GET", "/user/teams")).data).toMatchObject([{ teamId: "other" }]);
    const bobs = await door.json<{ data: { id: string } }>(OWNER_TOKEN, "POST", "/tokens", { name: "b", user: "bob", teams: ["other"], scopes: ["runs:read"] });
    expect(await door.status(ada, "DELETE", `/tokens/${bobs.data.id}`)).toBe(404);
  });

  it("is looked up once in ten seconds, and its use written once a minute", async () => {
    const door = new Door();
    await door.join("ada", ["acme"]);
    const token = await door.token("ada", ["acme"], ["runs:read"]);
    const used = async () => (await door.json<{ data: { last_used_at: string | null }[] }>(OWNER_TOKEN, "GET", "/tokens?team_id=acme")).data[0]?.last_used_at;
    const writes = () => runInDurableObject(raw(), (_, { storage }) => Number(storage.sql.exec("SELECT total_changes() AS n").one().n));
    expect(await used()).toBe(null);
    await door.status(token, "GET", LIST);
    const first = await used();
    expect(first).not.toBe(null);
    const before = await writes();
    for (let at = 0; at < 5; at++) {
      skip(KNOWN_MS + 1);
      for (let again = 0; again < 3; again++) expect(await door.status(token, "GET", LIST)).toBe(200);
    }
    expect([await used(), (await writes()) - before]).toEqual([first, 0]);
    skip(60_000);
    await door.status(token, "GET", LIST);
    expect(await used()).not.toBe(first);
  });

  it("is no text that is not one, however like it looks", async () => {
    const a = "a".repeat(43);
    for (const text of ["ew_", `ew_${a}`, `ew_${a.slice(1)}`, `ews_${a}`, "the-owne", `ew_${a} x`, "x".repeat(9_000)])
      expect(await new Door().status(text, "GET", LIST), text.slice(0, 60)).toBe(401);
  });
});

it("a kill in the midst of any change leaves tokens whole: what was answered holds, and what was not is there wholly or not at all", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const door = new Door();
  await door.join("ada", ["acme"]);
  const good = new Map<string, string>();
  const revoked: string[] = [];
  for (let round = 0; round < 12; round++) {
    const work: Promise<unknown>[] = [];
    for (let n = 0; n < 4; n++)
      work.push(
        door
          .json<{ data: { id: string; token: string } }>(OWNER_TOKEN, "POST", "/tokens", {
            name: `${round}/${n}`,
            user: "ada",
            teams: ["acme"],
            scopes: ["runs:read"],
          })
          .then(({ data }) => good.set(data.id, data.token))
          .catch(() => undefined),
      );
    const [victim] = [...good.keys()];
    if (victim !== undefined && round % 2 === 1) {
      const text = good.get(victim) ?? "";
      good.delete(victim);
      const over = await door.call(OWNER_TOKEN, "DELETE", `/tokens/${victim}`).catch(() => null);
      if (over?.ok === true) revoked.push(text);
    }
    if (round % 3 === 2) await Promise.all(work.slice(0, 2));
    await abortAllDurableObjects();
    await Promise.all(work);
  }
  expect(good.size).toBeGreaterThan(5);
  for (const text of good.values()) expect(await new Door().status(text, "GET", LIST)).toBe(200);
  for (const text of revoked) expect(await new Door().status(text, "GET", LIST)).toBe(401);
  // Each one that is there has its team.
  const torn = await runInDurableObject(raw(), (_, { storage }) =>
    storage.sql.exec("SELECT id FROM token WHERE id NOT IN (SELECT token FROM token_team)").toArray(),
  );
  expect(torn).toEqual([]);
});

it("a Directory of another version is refused by name, and the owner's own token goes on working", async () => {
  const door = new Door();
  await door.join("ada", ["acme"]);
  const token = await door.token("ada", ["acme"], ["runs:read"]);
  await runInDurableObject(raw(), (_, { storage }) => void storage.sql.exec("UPDATE schema_version SET version = 99"));
  await evictDurableObject(raw());
  const refused = await new Door().call(token, "GET", LIST);
  expect([refused.status, await refused.json()]).toMatchObject([500, { code: "stored_version_unknown", detail: expect.stringContaining("schema 99") }]);
  expect(await new Door().status(OWNER_TOKEN, "GET", LIST)).toBe(200);
});

it("a deployment whose wrangler.toml is of before there were teams has its owner, and says what it lacks", async () => {
  const { DIRECTORY } = service;
  Object.assign(service, { DIRECTORY: undefined });
  try {
    const door = new Door();
    expect(await door.status(OWNER_TOKEN, "GET", LIST)).toBe(200);
    expect(await door.status(`ew_${"a".repeat(43)}`, "GET", LIST)).toBe(401);
    const refused = await door.call(OWNER_TOKEN, "GET", "/tokens");
    expect([refused.status, await refused.json()]).toMatchObject([404, { hint: expect.stringContaining("wrangler.toml") }]);
  } finally {
    Object.assign(service, { DIRECTORY });
  }
});
