import { abortAllDurableObjects, createScheduledController, evictDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { datasetKey } from "../../../r2-layout/keys.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { registryName } from "../../../src/teams/team-name.ts";
import { UPLOAD_GRACE_MS } from "../../../src/limits.ts";
import worker from "../../../src/worker.ts";
import { Fleet } from "../support/fleet.ts";
import { CREATION, created, type Door, OWNER_TOKEN, closeTeam, openTeam } from "../support/people.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { type registry, run, service, silenceQueue, skip, until } from "../support/service.ts";

let door: Door;
let ada: string;
let fleet: Fleet | null = null;

interface Limits {
  readonly data: { readonly limits: Record<string, number | null>; readonly set: readonly string[]; readonly used: Record<string, number> };
}
const limits = async (changes?: object): Promise<Limits["data"]> =>
  (await door.json<Limits>(OWNER_TOKEN, changes === undefined ? "GET" : "PUT", "/teams/acme/limits", changes)).data;
const used = async (): Promise<Record<string, number>> => (await limits()).used;
const wish = (max_concurrent: number) => ({ ...CREATION, eval_config: { ...CREATION.eval_config, max_concurrent } });
const create = (token: string, max_concurrent = 4, headers = {}) => door.call(token, "POST", "/hosted-evaluations", wish(max_concurrent), headers);
const make = async (token: string, max_concurrent = 4): Promise<string> =>
  (await door.json<{ evaluation_id: string }>(token, "POST", "/hosted-evaluations", wish(max_concurrent))).evaluation_id;
const concurrency = async (id: string): Promise<number | undefined> => (await run(`acme/${id}`).view())?.config.max_concurrent;
/** What a refusal says. */
async function refusal(response: Response): Promise<{ status: number; after: string | null; detail: string; hint: string; code: string }> {
  return { status: response.status, after: response.headers.get("retry-after"), ...(await response.json<{ detail: string; hint: string; code: string }>()) };
}
const upload = async (text: string, token = ada): Promise<Response> =>
  door.call(token, "PUT", `/datasets/${await sha256Hex(text)}`, new TextEncoder().encode(text));

beforeEach(async () => {
  ({ door, ada } = await openTeam(["admin"]));
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  await closeTeam();
});

describe("runs at once", () => {
  it("are as many as the limit says: one more is refused with what counts, what to do and when to ask again, and nothing is made", async () => {
    await limits({ runs: 2 });
    const [first] = [await make(ada), await make(ada)];
    const refused = await refusal(await create(ada));
    expect(refused).toMatchObject({ status: 429, after: "30", code: "limit_reached" });
    expect(refused.detail).toContain('The limit of runs at once of the team "acme" is 2, of which 2 are in use');
    expect(refused.hint).toContain("npx edgewise team limits acme --runs N");
    expect(await door.json(ada, "GET", "/evaluations/")).toMatchObject({ total: 2 });
    // Another team has its own.
    expect((await create(OWNER_TOKEN)).status).toBe(200);
    await door.json(ada, "POST", `/evaluations/${first}/interrupt`, {});
    await until("room", async () => (await used()).runs === 1);
    expect((await create(ada)).status).toBe(200);
  });

  it("of many that come together are exactly as many, and the same request again is no second one", async () => {
    await limits({ runs: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(ada)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
    await limits({ runs: 4 });
    const key = { "idempotency-key": "k" };
    const twice = [await create(ada, 4, key), await create(ada, 4, key)];
    expect(await twice[1]?.json()).toEqual(await twice[0]?.json());
    expect(await used()).toMatchObject({ runs: 4, rollouts: 16 });
  });

  it("of a token are counted beside those of the team", async () => {
    await limits({ runs: 3 });
    const made = await door.json<{ data: { token: string; id: string; limits: object } }>(OWNER_TOKEN, "POST", "/tokens", {
      name: "ci",
      user: "ada",
      teams: ["acme"],
      scopes: ["runs:write"],
      limits: { runs: 1, rollouts: 3 },
    });
    expect(made.data.limits).toEqual({ runs: 1, rollouts: 3 });
    const ci = made.data.token;
    const id = await make(ci, 8);
    expect(await concurrency(id)).toBe(3);
    expect((await refusal(await create(ci))).detail).toContain(`runs at once of the token ${made.data.id} is 1`);
    expect([(await create(ada)).status, (await create(ada)).status, (await create(ada)).status]).toEqual([200, 200, 429]);
  });

  it("a resume that is refused leaves the run as it was, one that goes ahead counts before the run says so itself", async () => {
    const id = await make(ada);
    await door.json(ada, "POST", `/evaluations/${id}/interrupt`, {});
    await until("the interruption", async () => (await used()).runs === 0);
    await limits({ runs: 1 });
    const other = await make(ada);
    const before = await run(`acme/${id}`).view();
    const resume = () => door.call(ada, "POST", `/evaluations/${id}/resume`, { expect: {} });
    expect(await refusal(await resume())).toMatchObject({ status: 429, after: "30", code: "limit_reached" });
    expect({ ...(await run(`acme/${id}`).view()), updated_at: 0 }).toEqual({ ...before, updated_at: 0 });
    await door.json(ada, "PATCH", `/hosted-evaluations/${other}/cancel`);
    await limits({ runs: 2 });
    expect((await resume()).status).toBe(200);
    expect((await create(ada)).status).toBe(429);
  });

  it("have a default that the owner's own team does not have, and members see what is used", async () => {
    const reader = await door.token("ada", ["acme"], ["runs:read"]);
    expect((await door.json<Limits>(reader, "GET", "/teams/acme/limits")).data).toMatchObject({ limits: { runs: 50 }, set: [], used: { runs: 0 } });
    expect((await door.json<Limits>(OWNER_TOKEN, "GET", "/teams/default/limits")).data.limits).toMatchObject({
      runs: null,
      rollouts: null,
      stored_bytes: null,
    });
    expect(await limits({ runs: null })).toMatchObject({ limits: { runs: null }, set: ["runs"] });
    expect(await limits({ runs: "default" })).toMatchObject({ limits: { runs: 50 }, set: [] });
    for (const body of [{ runs: 0 }, { runs: 1.5 }, { runs: "many" }, { requests_per_minute: 5 }, { stored_bytes: -1 }])
      expect(await door.status(OWNER_TOKEN, "PUT", "/teams/acme/limits", body), JSON.stringify(body)).toBe(422);
    expect(await door.status(ada, "PUT", "/teams/acme/limits", { runs: 9 })).toBe(403);
    const { data } = await door.json<{ data: { action: string; target: string }[] }>(ada, "GET", "/audit");
    expect(data.filter(({ action }) => action === "team.limit").map(({ target }) => target)).toEqual(["acme runs=none", "acme runs=default"]);
  });
});

describe("rollouts at once", () => {
  it("are shared by the team's runs: each gets what the others leave, says so in its log, and the last is refused", async () => {
    await limits({ rollouts: 10 });
    const [first, second] = [await make(ada, 6), await make(ada, 32)];
    expect([await concurrency(first), await concurrency(second)]).toEqual([6, 4]);
    const { logs } = await door.json<{ logs: string }>(ada, "GET", `/hosted-evaluations/${second}/logs`);
    expect(logs).toContain("max_concurrent is 4, not 32");
    expect(await refusal(await create(ada, 1))).toMatchObject({ status: 429, detail: expect.stringContaining("rollouts at once") });
    await door.json(ada, "POST", `/evaluations/${first}/interrupt`, {});
    await until("room", async () => (await used()).rollouts === 4);
    // A run without a limit of its own has all that is left.
    const third = await make(ada, 0);
    expect(await concurrency(third)).toBe(6);
    await limits({ rollouts: 12 });
    expect(await door.json(ada, "POST", `/evaluations/${first}/resume`, { expect: {} })).toMatchObject({
      warnings: [expect.stringContaining("max_concurrent is 2, not 6")],
    });
    expect([await concurrency(first), (await used()).rollouts]).toEqual([2, 12]);
  });

  it("may always be fewer of a run at work, also where the team has more than its limit by now; more are as many as are left", async () => {
    const [first, second] = [await make(ada, 16), await make(ada, 8)];
    const set = async (id: string, max_concurrent: number) => {
      const answer = await door.call(ada, "PATCH", `/evaluations/${id}`, { max_concurrent });
      const { detail, warnings } = await answer.json<{ detail?: string; warnings?: string[] }>();
      return [answer.status, detail ?? warnings, await concurrency(id), (await used()).rollouts];
    };
    await limits({ rollouts: 10 });
    expect(await set(first, 12)).toEqual([200, [], 12, 20]);
    expect(await set(first, 13)).toEqual([200, [expect.stringContaining("max_concurrent is 12, not 13")], 12, 20]);
    await limits({ rollouts: 7 });
    expect(await set(first, 13)).toEqual([429, expect.stringContaining("rollouts at once"), 12, 20]);
    await limits({ rollouts: 10 });
    expect(await set(first, 4)).toEqual([200, [], 4, 12]);
    expect(await set(second, 2)).toEqual([200, [], 2, 6]);
    expect(await set(first, 32)).toEqual([200, [expect.stringContaining("max_concurrent is 8, not 32")], 8, 10]);
    await limits({ stored_bytes: 1 });
    expect(await set(first, 1)).toEqual([200, [], 1, 3]);
    // One that rests has nothing to begin with.
    await door.json(ada, "POST", `/evaluations/${first}/interrupt`, {});
    await until("the interruption", async () => (await used()).runs === 1);
    await limits({ stored_bytes: null, rollouts: 2 });
    expect((await door.call(ada, "POST", `/evaluations/${first}/resume`, { expect: {} })).status).toBe(429);
  });

  it("are counted as the run has them in the end, however many set them at once", async () => {
    const id = await make(ada, 4);
    for (let round = 0; round < 5; round++) {
      const wanted = [64, 8, 32, 16, 48, 24];
      const answers = await Promise.all(wanted.map((max_concurrent) => door.call(ada, "PATCH", `/evaluations/${id}`, { max_concurrent })));
      expect(answers.map(({ status }) => status)).toEqual(wanted.map(() => 200));
      expect((await used()).rollouts).toBe(await concurrency(id));
    }
  });
});

describe("stored bytes", () => {
  it("are uploads, and rows, inputs and files of runs; they are free again when those are deleted", async () => {
    await limits({ stored_bytes: 1_000_000 });
    const text = '{"text": "one two"}\n{"text": "three four"}\n{"text": "five six"}\n';
    expect((await upload(text)).status).toBe(201);
    expect((await used()).stored_bytes).toBe(text.length);
    fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 1 }) });
    const id = await created(door, ada);
    await fleet.settled(`acme/${id}`);
    await fleet.close();
    fleet = null;
    silenceQueue();
    const results = await service.BUCKET.head(`teams/acme/outputs/evals/reverse-text--scripted/${id}/results.jsonl`);
    const held = await until("the run's word", async () => ((await used()).stored_bytes ?? 0) > text.length && (await used()).stored_bytes);
    const inputs = (await service.BUCKET.list({ prefix: `teams/acme/runs/${id}/inputs/` })).objects.reduce((sum, { size }) => sum + size, 0);
    expect(held).toBe(text.length + inputs + 2 * (results?.size ?? 0));
    await limits({ stored_bytes: 100 });
    expect(await refusal(await create(ada))).toMatchObject({ status: 429, after: "3600", detail: expect.stringContaining("bytes stored") });
    expect((await refusal(await upload("x".repeat(100)))).status).toBe(429);
    // What is there already takes no more.
    expect((await upload(text)).status).toBe(200);
    await door.json(ada, "DELETE", `/evaluations/${id}`);
    await until("the removal", async () => (await used()).stored_bytes === text.length);
    expect((await create(ada)).status).toBe(200);
    expect((await upload("x".repeat(100))).status).toBe(429);
    expect((await upload("x".repeat(100 - text.length))).status).toBe(201);
  });

  it("of an upload that came to nothing count no more; the sweep finds out what a kill left, and counts what is older than this", async () => {
    const bytes = new TextEncoder().encode("other bytes");
    expect(await door.status(ada, "PUT", `/datasets/${"a".repeat(64)}`, bytes)).toBe(422);
    expect((await used()).stored_bytes).toBe(0);
    // As if the service had ended before the upload was stored.
    const acme = () => service.REGISTRY.getByName(registryName("acme")) as unknown as ReturnType<typeof registry>;
    await acme().admitUpload({ digest: "b".repeat(64), bytes: 70, now: Date.now(), team: "acme" });
    const old = await sha256Hex("old upload");
    await service.BUCKET.put(`teams/acme/${datasetKey(old)}`, "old upload");
    await acme().keepUploads([old]);
    expect((await used()).stored_bytes).toBe(70);
    skip(UPLOAD_GRACE_MS + 60_000);
    await acme().keepUploads([old]);
    await worker.scheduled(createScheduledController(), service);
    skip(UPLOAD_GRACE_MS + 60_000);
    await acme().keepUploads([old]);
    await worker.scheduled(createScheduledController(), service);
    expect((await used()).stored_bytes).toBe("old upload".length);
  });
});

it("requests of a token in a minute are counted by the platform's binding, by whoever asks and for whatever", async () => {
  const reader = await door.token("ada", ["acme"], ["runs:read"]);
  const answers = new Map<number, number>();
  for (let n = 0; n < 1_300; n += 50) {
    const ask = (k: number) => (k % 2 === 0 ? door.status(reader, "GET", "/user/teams") : door.status(reader, "POST", "/tokens"));
    for (const status of await Promise.all(Array.from({ length: 50 }, (_, k) => ask(k)))) answers.set(status, (answers.get(status) ?? 0) + 1);
  }
  // A minute may have ended meanwhile.
  expect([...answers.keys()].filter((status) => status !== 429).sort()).toEqual([200, 403]);
  expect((await door.call(ada, "GET", "/user/teams")).status).toBe(200);
  expect((await door.call(OWNER_TOKEN, "GET", "/user/teams")).status).toBe(200);
});

it("limits survive kills during each write: what was said holds, no more runs are made, and every run that is made counts", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  await limits({ runs: 5, rollouts: 12 });
  for (let round = 0; round < 6; round++) {
    const work = [...Array.from({ length: 4 }, () => create(ada, 4)), upload(`upload ${round}`)];
    if (round % 2 === 0) await Promise.race(work);
    await abortAllDurableObjects();
    await Promise.allSettled(work);
    const said = limits({ stored_bytes: 1e9 + round });
    if (round % 3 === 0) await abortAllDurableObjects();
    const outcome = await said.then(
      () => true,
      () => false,
    );
    await evictDurableObject(service.REGISTRY.getByName(registryName("acme")));
    const now = await limits();
    expect(now.limits).toMatchObject({ runs: 5, rollouts: 12, ...(outcome ? { stored_bytes: 1e9 + round } : {}) });
    expect(now.used.runs).toBeLessThanOrEqual(5);
    expect(now.used.rollouts).toBeLessThanOrEqual(12);
  }
  const { evaluations } = await door.json<{ evaluations: { evaluation_id: string }[] }>(ada, "GET", "/evaluations/");
  const sums = await Promise.all(evaluations.map(({ evaluation_id }) => concurrency(evaluation_id)));
  expect(sums.reduce<number>((sum, each) => sum + (each ?? 0), 0)).toBeLessThanOrEqual((await used()).rollouts ?? 0);
});
