import { abortAllDurableObjects, evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { masterKeyId } from "../../../src/secrets/master-keys.ts";
import { registryName } from "../../../src/teams/team-name.ts";
import { type Call, Fleet } from "../support/fleet.ts";
import { CREATION, created, Door, deploy, MASTER_KEY, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, service, setVars, silenceQueue, skip, STEADY, until } from "../support/service.ts";

/** How long secrets live, which key they are encrypted with meanwhile, and where the key of a model goes. */
const NEXT_KEY = `ewk_${"n".repeat(42)}A`;
const HOUR_MS = 3_600_000;
const KEY = "sk-of-the-team-0123456789";

let door: Door;
let ada: string;
const fleets: Fleet[] = [];
/** Keys that the model was asked with. */
let shown: string[] = [];

const rawRegistry = () => service.REGISTRY.getByName(registryName("acme"));
const rows = (table: string): Promise<Record<string, unknown>[]> =>
  runInDurableObject(rawRegistry(), (_, { storage }) => storage.sql.exec(`SELECT * FROM ${table}`).toArray());
const working = (latencyMs = 1): Fleet => {
  const fleet = new Fleet({
    model: new ScriptedModel({ latencyMs }),
    onFetch: async ({ args, send }: Call) => {
      const { headers } = args[1] as { headers: Record<string, string> };
      shown.push(headers.authorization ?? "");
      return send();
    },
  });
  fleets.push(fleet);
  return fleet;
};
const settled = (id: string) =>
  until("the end of the run", async () => {
    const view = await run(`acme/${id}`).view();
    return view?.phase === "settled" && view;
  });
const using = (api_key_var: string, custom_secrets: object = {}, api_base_url = "https://models.example/v1", num_examples = 2) => ({
  ...CREATION,
  eval_config: { num_examples, rollouts_per_example: 1, api_base_url, api_key_var, custom_secrets },
});
const make = async (body: object): Promise<string> => (await door.json<{ data: { id: string } }>(ada, "POST", "/secrets/", body)).data.id;
const refusal = async (body: object): Promise<unknown> => (await door.call(ada, "POST", "/hosted-evaluations", body)).json();

interface Slice {
  readonly key: string;
  readonly changed: number;
  readonly unreadable: number;
  readonly next: object | null;
}
/** All slices; `between` happens before each of them. */
async function rotate(between: () => Promise<unknown> = async () => undefined): Promise<Slice[]> {
  const slices: Slice[] = [];
  for (let next: object | null = {}; next !== null; ) {
    await between();
    // A slice whose answer was lost is asked for again.
    const response: Response | null = await door.call(OWNER_TOKEN, "POST", "/secrets/rotate", next).catch(() => null);
    if (response?.ok !== true) continue;
    const { data } = (await response.json()) as { data: Slice };
    slices.push(data);
    next = data.next;
  }
  return slices;
}
const keysOf = (key?: string, next?: string): void => {
  const vars = service as unknown as Record<string, string>;
  delete vars.EDGEWISE_MASTER_KEY_NEXT;
  Object.assign(vars, { EDGEWISE_MASTER_KEY: key, ...(next === undefined ? {} : { EDGEWISE_MASTER_KEY_NEXT: next }) });
};

beforeEach(async () => {
  setVars(STEADY);
  silenceQueue();
  deploy();
  shown = [];
  door = new Door();
  await door.join("ada", ["acme"]);
  ada = await door.token("ada", ["acme"], ["runs:write", "secrets:write"]);
});
afterEach(async () => {
  for (const fleet of fleets.splice(0)) await fleet.close();
  restoreClock();
  undeploy();
  delete (service as unknown as Record<string, unknown>).EDGEWISE_MASTER_KEY_NEXT;
  vi.restoreAllMocks();
  await reset();
});

describe("the key of a model", () => {
  it("may be a secret with hosts: it is sent there and nowhere else, whoever asks", async () => {
    await make({ name: "TEAM_MODEL", value: KEY, hosts: ["models.example"] });
    expect(JSON.stringify(await refusal(using("TEAM_MODEL", {}, "https://evil.example/v1")))).toMatch(
      /api_key_var.*TEAM_MODEL is a secret for models\.example and is not sent to evil\.example/,
    );
    working();
    const id = await created(door, ada, using("TEAM_MODEL"));
    expect((await settled(id)).status).toBe("COMPLETED");
    expect(new Set(shown)).toEqual(new Set([`Bearer ${KEY}`]));
    expect(JSON.stringify(await door.json(ada, "GET", `/evaluations/${id}`))).not.toContain(KEY);
  });

  it("that is a secret without hosts goes to the provider whose it is, or to none", async () => {
    await make({ name: "LONELY", value: KEY });
    await make({ name: "OPENAI_API_KEY", value: KEY });
    expect(JSON.stringify(await refusal(using("LONELY")))).toMatch(/LONELY is a secret that is bound to no host.*--host models\.example/);
    expect(JSON.stringify(await refusal(using("OPENAI_API_KEY")))).toMatch(/OPENAI_API_KEY is a secret that holds the key of api\.openai\.com/);
    silenceQueue();
    await created(door, ada, using("OPENAI_API_KEY", {}, "https://api.openai.com/v1"));
  });

  it("may be given with the run, and wins over the service's own", async () => {
    working();
    const id = await created(door, ada, using("MODELS_API_KEY", { MODELS_API_KEY: KEY }));
    await settled(id);
    expect(new Set(shown)).toEqual(new Set([`Bearer ${KEY}`]));
  });
});

describe("a run's own secrets", () => {
  it("are there while it works, and gone with its end; a resume that needs them says so, and takes them again", async () => {
    const id = await created(door, ada, using("OWN_KEY", { OWN_KEY: KEY }));
    expect(await rows("run_secret")).toMatchObject([{ run_id: id, name: "OWN_KEY", key: await masterKeyId(MASTER_KEY) }]);
    working();
    await run(`acme/${id}`).poke();
    await settled(id);
    await until("their removal", async () => (await rows("run_secret")).length === 0);
    const resumed = async (body: object) => {
      const response = await door.call(ada, "POST", `/evaluations/${id}/resume`, { num_examples: 3, ...body });
      return [response.status, await response.text()];
    };
    expect(await resumed({})).toEqual([422, expect.stringContaining("OWN_KEY")]);
    expect(await resumed({ custom_secrets: { OWN_KEY: `${KEY}-again` } })).toMatchObject([200, expect.anything()]);
    await until("three rows", async () => {
      const view = await run(`acme/${id}`).view();
      return view?.phase === "settled" && view.totals.rollouts === 3;
    });
    expect(shown.at(-1)).toBe(`Bearer ${KEY}-again`);
    await until("their removal again", async () => (await rows("run_secret")).length === 0);
  });

  it("are gone when it is deleted, when it could not be created, and a day after a creation that broke off", async () => {
    const id = await created(door, ada, using("OWN_KEY", { OWN_KEY: KEY }));
    await door.json(ada, "POST", `/evaluations/${id}/interrupt`, {});
    expect(await rows("run_secret")).toHaveLength(1);
    await door.json(ada, "DELETE", `/evaluations/${id}`);
    await until("their removal", async () => (await rows("run_secret")).length === 0);
    const { registry } = {
      registry: rawRegistry() as unknown as {
        reserve(request: object): Promise<unknown>;
        putRunSecrets(put: object): Promise<unknown>;
        turn(limit: number): Promise<unknown>;
      },
    };
    // As a creation leaves it that was killed before the run was there.
    await registry.reserve({ candidates: ["0000abcd"], idempotency_key: null, body_digest: "x", now: Date.now() });
    await registry.putRunSecrets({ run: "0000abcd", generation: 1, secrets: [{ name: "OWN_KEY", sealed: "1.x", key: await masterKeyId(MASTER_KEY) }] });
    skip(23 * HOUR_MS);
    await registry.turn(10);
    expect(await rows("run_secret")).toHaveLength(1);
    skip(2 * HOUR_MS);
    await registry.turn(10);
    expect(await rows("run_secret")).toEqual([]);
  });
});

describe("the master key", () => {
  it("is replaced while runs work and objects are killed before each slice: no run fails, every value is read on, and the old key is needed no more", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    await make({ name: "TEAM_MODEL", value: KEY, hosts: ["models.example"] });
    for (let n = 0; n < 12; n++) await make({ name: `FILLER_${n}`, value: `filler value ${n}` });
    working(20);
    const ids = [await created(door, ada, using("TEAM_MODEL", {}, undefined, 20)), await created(door, ada, using("OWN_KEY", { OWN_KEY: KEY }, undefined, 20))];
    keysOf(MASTER_KEY, NEXT_KEY);
    const slices = await rotate(() => abortAllDurableObjects());
    const again = await rotate();
    expect([slices.at(-1)?.key, again.reduce((sum, { changed }) => sum + changed, 0)]).toEqual([await masterKeyId(NEXT_KEY), 0]);
    expect(new Set((await rows("secret")).map(({ key }) => key))).toEqual(new Set([await masterKeyId(NEXT_KEY)]));
    // The key before is gone, and whoever began with it goes on.
    keysOf(NEXT_KEY);
    for (const id of ids) expect((await settled(id)).status).toBe("COMPLETED");
    expect(new Set(shown)).toEqual(new Set([`Bearer ${KEY}`]));
    const after = await created(door, ada, using("TEAM_MODEL"));
    expect((await settled(after)).status).toBe("COMPLETED");
  });

  it("that was replaced takes no value any more that somebody encrypts with the one before", async () => {
    await make({ name: "A", value: "value of a" });
    keysOf(MASTER_KEY, NEXT_KEY);
    await rotate();
    // An isolate that has not heard of the new one.
    keysOf(MASTER_KEY);
    const refused = await door.call(ada, "POST", "/secrets/", { name: "B", value: "value of b" });
    expect([refused.status, await refused.json()]).toMatchObject([422, { code: "missing_key", detail: expect.stringContaining(await masterKeyId(NEXT_KEY)) }]);
    expect(await rows("secret")).toHaveLength(1);
  });

  it("that is lost is told by its id, and what it encrypted by name; a rotation counts those values and goes on with the new one", async () => {
    const id = await make({ name: "TEAM_MODEL", value: KEY, hosts: ["models.example"] });
    keysOf(NEXT_KEY);
    expect(await refusal(using("TEAM_MODEL"))).toMatchObject({
      code: "missing_key",
      detail: expect.stringMatching(new RegExp(`TEAM_MODEL.*${await masterKeyId(MASTER_KEY)}`)),
    });
    expect((await rotate()).map(({ changed, unreadable }) => [changed, unreadable])).toContainEqual([0, 1]);
    await door.json(ada, "PATCH", `/secrets/${id}`, { value: KEY });
    silenceQueue();
    await created(door, ada, using("TEAM_MODEL"));
  });
});

it("a kill in the midst of any change leaves secrets whole: what was answered holds, and opens", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const held = new Set<string>();
  for (let round = 0; round < 8; round++) {
    const work = Array.from({ length: 4 }, async (_, n) => {
      const name = `ROUND_${round}_${n}`;
      const made = await door.call(ada, "POST", "/secrets/", { name, value: `${name}-${KEY}`, hosts: ["models.example"] }).catch(() => null);
      if (made?.ok === true) held.add(name);
    });
    if (round % 2 === 1) await Promise.all(work.slice(0, 2));
    await abortAllDurableObjects();
    await Promise.all(work);
  }
  expect(held.size).toBeGreaterThan(3);
  const { data } = await door.json<{ data: { name: string }[] }>(ada, "GET", "/secrets/");
  expect(data.map(({ name }) => name)).toEqual(expect.arrayContaining([...held]));
  silenceQueue();
  // All there are, answered or not, are whole: a creation opens what it names.
  for (const { name } of data.slice(0, 4)) await created(door, ada, using(name));
});

it("secrets that another version stored are refused by name, and the team's runs go on without", async () => {
  await make({ name: "A", value: "value of a" });
  await runInDurableObject(rawRegistry(), (_, { storage }) => void storage.sql.exec("UPDATE secret_schema SET version = 99"));
  await evictDurableObject(rawRegistry());
  const refused = await door.call(ada, "GET", "/secrets/");
  expect([refused.status, await refused.json()]).toMatchObject([500, { code: "stored_version_unknown", detail: expect.stringContaining("schema 99") }]);
  expect(await door.status(ada, "GET", "/evaluations/")).toBe(200);
});
