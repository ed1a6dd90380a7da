import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { beatKeyIn } from "../../../src/monitors/beat-url.ts";
import { closeTeam, type Door, openTeam } from "../support/people.ts";
import { service, setClock } from "../support/service.ts";

/** What the door says of monitors, of a deployed service; and the one address of it that needs no token. */

interface Shown {
  readonly state: string;
  readonly every: string;
  readonly grace: string;
  readonly last_beat_at: string | null;
  readonly watched: boolean;
  readonly history: readonly { readonly type: string }[];
}

let door: Door;
let ada: string;
const { REQUESTS } = service;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write"]));
});
afterEach(async () => {
  Object.assign(service, { REQUESTS });
  await closeTeam();
});

const add = async (name = "trainer", body: object = { every: "5m", grace: "2m" }): Promise<string> => {
  const { beat_url } = await door.json<{ beat_url: string }>(ada, "PUT", `/monitors/${name}`, body);
  return beat_url;
};
const shown = async (name = "trainer"): Promise<Shown> => (await door.json<{ data: Shown }>(ada, "GET", `/monitors/${name}`)).data;
/** Nobody's call. */
const call = (url: string, method = "GET"): Promise<Response> => door.call(null, method, `/${new URL(url).pathname}${new URL(url).search}`);
const refusal = async (url: string): Promise<unknown> => {
  const response = await call(url);
  return { status: response.status, body: await response.text() };
};

describe("the address of a monitor", () => {
  it("is called by GET, HEAD and POST without a token, ends the watch with ?done=1, and begins it again", async () => {
    const url = await add();
    expect(url).toMatch(/^https:\/\/edgewise\.example\/beat\/[0-9a-f]{32}\/[A-Za-z0-9_-]{43}$/);
    expect(await shown()).toMatchObject({ state: "new", every: "5m", grace: "2m", last_beat_at: null, watched: true, history: [] });
    for (const method of ["GET", "HEAD", "POST"]) {
      const answer = await call(url, method);
      expect([answer.status, answer.headers.get("cache-control"), await answer.text()]).toEqual([200, "no-store", method === "HEAD" ? "" : "ok\n"]);
    }
    expect(await shown()).toMatchObject({ state: "alive", last_beat_at: expect.any(String) });
    await call(`${url}?done=1`);
    expect((await shown()).state).toBe("done");
    await call(url);
    const { state, history } = await shown();
    expect([state, ...history.map(({ type }) => type)]).toEqual(["alive", "heartbeat.alive", "heartbeat.done", "heartbeat.alive"]);
  });

  it("leads nowhere once it is replaced or the monitor deleted, in the words of one that never was", async () => {
    const [url, other] = [await add(), await add("other")];
    const { id, secret } = beatKeyIn(url) ?? { id: "", secret: "" };
    const never = await refusal(url.replace(id, "0".repeat(32)));
    expect(never).toMatchObject({ status: 404 });
    const { beat_url } = await door.json<{ beat_url: string }>(ada, "POST", "/monitors/trainer/rotate", {});
    expect([await refusal(url), await refusal(url.replace(secret, beatKeyIn(other)?.secret ?? "")), (await call(beat_url)).status]).toEqual([
      never,
      never,
      200,
    ]);
    expect(await door.status(ada, "DELETE", "/monitors/trainer")).toBe(200);
    expect([await refusal(beat_url), await refusal(`${url}x`), await refusal("https://edgewise.example/beat/x")]).toEqual([never, never, never]);
    expect([await door.status(ada, "DELETE", "/monitors/trainer"), await door.status(ada, "GET", "/monitors/trainer")]).toEqual([404, 404]);
    // Made anew it is another one.
    expect(beatKeyIn(await add())?.id).not.toBe(id);
  });

  it("is good for nothing else, is stored as a digest, and what it does not know it refuses by its name", async () => {
    const url = await add();
    const { id, secret } = beatKeyIn(url) ?? { id: "", secret: "" };
    for (const method of ["PUT", "DELETE", "PATCH"]) expect((await call(url, method)).status).toBe(404);
    expect(await door.status(secret, "GET", "/monitors")).toBe(401);
    const wrong = await call(`${url}?dnoe=1`);
    expect([wrong.status, await wrong.text()]).toEqual([422, expect.stringContaining("dnoe")]);
    expect((await call(`${url}?done=perhaps`)).status).toBe(422);
    expect((await shown()).state).toBe("new");
    await call(url);
    const stored = await runInDurableObject(service.MONITOR.getByName(id), (_, { storage }) =>
      JSON.stringify(storage.sql.exec("SELECT * FROM head").toArray()),
    );
    expect(stored).toContain("secret_digest");
    expect(stored).not.toContain(secret);
    expect(JSON.stringify(await shown())).not.toContain(id);
  });

  it("is heard once a second however often it is called, and what is beyond that is refused without costing anybody else", async () => {
    const [url, other] = [await add(), await add("other")];
    Object.assign(service, { REQUESTS: { limit: async ({ key }: { key: string }) => ({ success: !key.startsWith("beat ") }) } });
    const now = Date.now();
    setClock(() => now);
    const statuses = [await call(url), await call(url), await call(other)].map(({ status }) => status);
    expect(statuses).toEqual([200, 429, 200]);
    expect((await call(url)).headers.get("retry-after")).toBe("1");
  });
});

describe("at the door", () => {
  it("one that is there keeps its address, and takes another interval", async () => {
    await add();
    expect(await door.json(ada, "PUT", "/monitors/trainer", { every: "10m" })).toMatchObject({ beat_url: null, data: { every: "10m", grace: "1m" } });
    expect(await door.json(ada, "PUT", "/monitors/trainer", { every: "10m" })).toMatchObject({ beat_url: null });
    expect((await shown()).history.map(({ type }) => type)).toEqual(["monitor.changed"]);
    expect((await door.json<{ data: { name: string }[] }>(ada, "GET", "/monitors")).data.map(({ name }) => name)).toEqual(["trainer"]);
  });

  it.each([
    [{ every: "often" }, "every"],
    [{ every: "29s" }, "every"],
    [{ every: "400d" }, "every"],
    [{ grace: "1m" }, "every"],
    [{ every: "5m", grace: "-1s" }, "grace"],
    [{ every: "5m", period: "1m" }, "period"],
  ])("%j is refused by the name of its field", async (body, field) => {
    const answer = await door.call(ada, "PUT", "/monitors/trainer", body);
    expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining(field)]);
    expect(await door.status(ada, "GET", "/monitors/trainer")).toBe(404);
  });

  it("is a team's own, and whoever only reads changes nothing", async () => {
    await add();
    await door.join("bob", ["quokkas"]);
    const bob = await door.token("bob", ["quokkas"], ["runs:write"]);
    expect(await door.status(bob, "GET", "/monitors/trainer")).toBe(404);
    expect((await door.json<{ data: unknown[] }>(bob, "GET", "/monitors")).data).toEqual([]);
    const reader = await door.token("ada", ["acme"], ["runs:read"]);
    expect(await door.status(reader, "GET", "/monitors/trainer")).toBe(200);
    for (const what of ["done", "pause", "resume", "rotate"]) expect(await door.status(reader, "POST", `/monitors/trainer/${what}`, {}), what).toBe(403);
  });
});
