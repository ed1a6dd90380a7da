import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ATTEMPTS_MS, MAX_ATTEMPTS, MAX_SESSIONS } from "../../../durable-objects/directory/session-store.ts";
import { DIRECTORY_NAME } from "../../../durable-objects/stubs.ts";
import { KNOWN_MS } from "../../../src/api/access/principals.ts";
import { SESSION_MS } from "../../../src/api/access/session.ts";
import { Door, deploy, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { restoreClock, service, setVars, silenceQueue, skip, STEADY } from "../support/service.ts";

const SITE = "https://edgewise.example";
const raw = () => service.DIRECTORY.getByName(DIRECTORY_NAME);
const stored = (): Promise<string> =>
  runInDurableObject(raw(), (_, { storage }) =>
    JSON.stringify(["token", "browser_session", "sign_in_attempt"].map((table) => storage.sql.exec(`SELECT * FROM ${table}`).toArray())),
  );

const submit = (token: string, address = "192.0.2.1"): Promise<Response> =>
  new Door().call(null, "POST", "//sign-in", new URLSearchParams({ token }), { origin: SITE, "cf-connecting-ip": address });
async function cookieOf(token: string): Promise<string> {
  const response = await submit(token);
  expect(response.status).toBe(303);
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}
/** What a page of the service gets with this cookie. */
const look = (door: Door, cookie: string): Promise<number> => door.status(null, "GET", "/evaluations/", undefined, { cookie, origin: SITE });

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

it("a session is stored as a digest, with nothing of the owner's token, and is over after eight hours", async () => {
  const cookie = await cookieOf(OWNER_TOKEN);
  const all = await stored();
  for (const secret of [OWNER_TOKEN, cookie.split("=")[1] ?? "?"]) expect(all).not.toContain(secret);
  const door = new Door();
  expect(await look(door, cookie)).toBe(200);
  skip(SESSION_MS - 5_000);
  expect(await look(door, cookie)).toBe(200);
  // Known to the isolate a moment ago, and over all the same.
  skip(5_001);
  expect(await look(door, cookie)).toBe(401);
  // What is over is not kept.
  await cookieOf(OWNER_TOKEN);
  const sessions = await runInDurableObject(raw(), (_, { storage }) => storage.sql.exec("SELECT count(*) AS n FROM browser_session").one().n);
  expect(sessions).toBe(1);
});

it("a session ends with its token: revoked or over, and at once where it was revoked", async () => {
  const [here, elsewhere] = [new Door(), new Door()];
  await here.join("ada", ["acme"]);
  const cookie = await cookieOf(await here.token("ada", ["acme"], ["runs:read"]));
  for (const door of [here, elsewhere]) expect(await look(door, cookie)).toBe(200);
  const [{ id } = { id: "" }] = (await here.json<{ data: { id: string }[] }>(OWNER_TOKEN, "GET", "/tokens?team_id=acme")).data;
  await here.json(OWNER_TOKEN, "DELETE", `/tokens/${id}`);
  expect(await look(here, cookie)).toBe(401);
  skip(KNOWN_MS + 1);
  expect(await look(elsewhere, cookie)).toBe(401);
  const short = await cookieOf(await here.token("ada", ["acme"], ["runs:read"], { expires_in: "1h" }));
  expect(await look(here, short)).toBe(200);
  skip(3_600_001);
  expect(await look(here, short)).toBe(401);
});

it("signing out ends it for every isolate within ten seconds", async () => {
  const [here, elsewhere] = [new Door(), new Door()];
  const cookie = await cookieOf(OWNER_TOKEN);
  expect(await look(elsewhere, cookie)).toBe(200);
  const page = await (await here.call(null, "GET", "//dashboard/", undefined, { cookie })).text();
  const csrf = /name="csrf" value="(\w+)"/.exec(page)?.[1] ?? "";
  const left = await here.call(null, "POST", "//sign-out", new URLSearchParams({ csrf }), { cookie, origin: SITE });
  expect(left.status).toBe(303);
  expect(await look(here, cookie)).toBe(401);
  skip(KNOWN_MS + 1);
  expect(await look(elsewhere, cookie)).toBe(401);
});

it("failed attempts of one place are counted, all at once too, and are over after a quarter of an hour; others are not kept waiting", async () => {
  const many = await Promise.all(Array.from({ length: MAX_ATTEMPTS + 5 }, () => submit("wrong")));
  expect(many.filter(({ status }) => status === 401)).toHaveLength(MAX_ATTEMPTS);
  const late = await submit(OWNER_TOKEN);
  expect(late.status).toBe(429);
  const wait = Number(late.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(ATTEMPTS_MS / 1_000);
  expect((await submit(OWNER_TOKEN, "192.0.2.2")).status).toBe(303);
  await evictDurableObject(raw());
  expect((await submit(OWNER_TOKEN)).status).toBe(429);
  skip(ATTEMPTS_MS);
  // Those that succeed do not count.
  for (let n = 0; n < MAX_ATTEMPTS + 3; n++) expect((await submit(OWNER_TOKEN)).status).toBe(303);
  const { data } = await new Door().json<{ data: { action: string; user: string; status: number; origin: string }[] }>(OWNER_TOKEN, "GET", "/audit");
  expect(data.filter(({ action, status }) => action === "session.open" && status === 401)).toHaveLength(MAX_ATTEMPTS);
  expect(data[0]).toMatchObject({ user: "unknown", via: "nobody", origin: "192.0.2.1" });
  expect(JSON.stringify(data)).not.toContain("wrong");
});

it("of one token there are a hundred sessions at most: the oldest ends when another begins", async () => {
  const first = await cookieOf(OWNER_TOKEN);
  skip(1_000);
  for (let n = 1; n < MAX_SESSIONS; n++) await cookieOf(OWNER_TOKEN);
  expect(await look(new Door(), first)).toBe(200);
  const last = await cookieOf(OWNER_TOKEN);
  expect([await look(new Door(), first), await look(new Door(), last)]).toEqual([401, 200]);
});

it("a Directory that was stored before there were sessions gets what it lacks, and keeps its tokens", async () => {
  const door = new Door();
  await door.join("ada", ["acme"]);
  const token = await door.token("ada", ["acme"], ["runs:read"]);
  await runInDurableObject(raw(), (_, { storage }) => {
    for (const table of ["browser_session", "sign_in_attempt"]) storage.sql.exec(`DROP TABLE ${table}`);
    storage.sql.exec("UPDATE schema_version SET version = 1");
  });
  await evictDurableObject(raw());
  expect(await look(new Door(), await cookieOf(token))).toBe(200);
});
