import { reset, runInDurableObject } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { registerEnvironments } from "../../../src/environments/definition/load.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { masterKeyId } from "../../../src/secrets/master-keys.ts";
import { registryName } from "../../../src/teams/team-name.ts";
import { Fleet } from "../support/fleet.ts";
import { CREATION, created, Door, deploy, MASTER_KEY, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { rawRun, restoreClock, run, service, setVars, silenceQueue, STEADY, until } from "../support/service.ts";

/** Says all that it is given, in its log and in its rows. */
const telling = defineEnvironment({
  id: "telling",
  version: "1.0.0",
  description: "Tells what it was given.",
  args: z.object({}),
  keys: ["DECLARED"],
  load(_, { keys, variables }) {
    const told = (): string => JSON.stringify({ names: Object.keys(keys).sort(), values: Object.values(keys), variables });
    return new SingleTurnEnv({
      dataset: async function* () {
        console.log(`given ${told()}`);
        yield { question: "q", answer: told() };
      },
      rubric: new Rubric([{ name: "told", fn: async () => (keys.DECLARED === "declared-by-run" ? 1 : 0.5) }]),
    });
  },
});

interface Facts {
  readonly id: string;
  readonly name: string;
  readonly source?: string;
}
let door: Door;
let ada: string;
const fleets: Fleet[] = [];

const rawRegistry = (team: string) => service.REGISTRY.getByName(registryName(team));
/** All that a team's Registry has stored, as text. */
const stored = (team = "acme"): Promise<string> =>
  runInDurableObject(rawRegistry(team), (_, { storage }) => {
    const tables = storage.sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray();
    return JSON.stringify(tables.map(({ name }) => [name, storage.sql.exec(`SELECT * FROM "${name}"`).toArray()]));
  });
const working = (options: ConstructorParameters<typeof Fleet>[0] = { model: new ScriptedModel({ latencyMs: 1 }) }): Fleet => {
  const fleet = new Fleet(options);
  fleets.push(fleet);
  return fleet;
};
const make = async (path: string, body: object, token = ada): Promise<Facts> => (await door.json<{ data: Facts }>(token, "POST", path, body)).data;
const refusal = async (...args: Parameters<Door["call"]>): Promise<[number, Record<string, unknown>]> => {
  const response = await door.call(...args);
  return [response.status, (await response.json()) as Record<string, unknown>];
};
const settled = (id: string): Promise<unknown> =>
  until("the end of the run", async () => (await run(`acme/${id}`).view())?.phase === "settled" && (await run(`acme/${id}`).view()));
const TELLING = { environment_ids: ["telling"], eval_config: { ...CREATION.eval_config, num_examples: 1 } };
const withSecrets = (custom_secrets: object) => ({ ...TELLING, eval_config: { ...TELLING.eval_config, custom_secrets } });

beforeEach(async () => {
  setVars(STEADY);
  silenceQueue();
  deploy();
  registerEnvironments([telling]);
  door = new Door();
  await door.join("ada", ["acme"]);
  ada = await door.token("ada", ["acme"], ["runs:write", "secrets:write", "environments:write"]);
});
afterEach(async () => {
  for (const fleet of fleets.splice(0)) await fleet.close();
  restoreClock();
  undeploy();
  delete (service as unknown as Record<string, unknown>).EDGEWISE_MASTER_KEY_NEXT;
  vi.restoreAllMocks();
  await reset();
});
afterAll(() => registerEnvironments([]));

describe("a secret", () => {
  it("goes in and never out: no answer has its value, and what is stored is encrypted, with the id of its key beside it", async () => {
    const value = "sk-0123456789abcdef";
    const made = await make("/secrets/", { name: "SEARCH_KEY", value, description: "for searching", hosts: ["Models.Example"] });
    expect(made).toMatchObject({ name: "SEARCH_KEY", description: "for searching", hosts: ["models.example"], createdBy: "ada" });
    const own = await make("/environmentshub/telling/secrets", { name: "OWN", value });
    const answers = [
      await door.json(ada, "GET", "/secrets/"),
      await door.json(ada, "GET", `/secrets/${made.id}`),
      await door.json(ada, "PATCH", `/secrets/${made.id}`, { value: `${value}2`, description: null }),
      await door.json(ada, "GET", "/environmentshub/telling/secrets"),
      await door.json(ada, "PATCH", `/environmentshub/telling/secrets/${own.id}`, { value, name: "OWNED" }),
    ];
    for (const answer of [made, own, ...answers]) expect(JSON.stringify(answer)).not.toContain("0123456789");
    expect(await stored()).not.toContain("0123456789");
    expect(await stored()).toContain(await masterKeyId(MASTER_KEY));
    expect(await door.status(ada, "DELETE", `/environmentshub/telling/secrets/${own.id}`)).toBe(200);
    expect(await door.status(ada, "DELETE", `/secrets/${made.id}`)).toBe(200);
    expect([await door.status(ada, "GET", `/secrets/${made.id}`), await door.status(ada, "DELETE", `/secrets/${made.id}`)]).toEqual([404, 404]);
    const audit = await door.json<{ data: { action: string; target: string; user: string }[] }>(OWNER_TOKEN, "GET", "/audit?team_id=acme");
    const noted = audit.data.filter(({ user }) => user === "ada").map(({ action, target }) => `${action} ${target}`);
    expect(noted).toEqual([
      `secret.create ${made.id}`,
      `secret.create ${own.id}`,
      `secret.update ${made.id}`,
      `secret.update telling/${own.id}`,
      `secret.delete telling/${own.id}`,
      `secret.delete ${made.id}`,
      `secret.delete ${made.id}`,
    ]);
    expect(JSON.stringify(audit)).not.toContain("0123456789");
  });

  it("has a name of capitals that is there once, and a value; what is wrong is told without the value", async () => {
    await make("/secrets/", { name: "ONCE", value: "once-and-once-only" });
    expect(await refusal(ada, "POST", "/secrets/", { name: "ONCE", value: "another value" })).toMatchObject([409, { detail: expect.stringContaining("ONCE") }]);
    for (const [body, field] of [
      [{ name: "lower", value: "hidden-hidden" }, "name"],
      [{ name: "EDGEWISE_TOKEN", value: "hidden-hidden" }, "name"],
      [{ name: "A", value: "  " }, "value"],
      [{ name: "A", value: `hidden-${"x".repeat(40_000)}` }, "value"],
      [{ name: "A", value: "hidden-hidden", hosts: ["https://models.example/v1"] }, "hosts"],
      [{ name: "A", value: "hidden-hidden", isFile: true }, "isFile"],
    ] as const) {
      const [status, answer] = await refusal(ada, "POST", "/secrets/", body);
      expect([status, JSON.stringify(answer)]).toEqual([422, expect.stringContaining(field)]);
      expect(JSON.stringify(answer)).not.toContain("hidden-hidden");
    }
    expect(await refusal(ada, "POST", "/environmentshub/nothing/secrets", { name: "A", value: "v" })).toMatchObject([404, { code: "environment_not_found" }]);
  });

  it("needs its scope: who may only run things neither sees nor changes any", async () => {
    const runner = await door.token("ada", ["acme"], ["runs:write"]);
    for (const [method, path, body] of [
      ["GET", "/secrets/"],
      ["POST", "/secrets/", { name: "A", value: "v" }],
      ["GET", "/environmentshub/telling/secrets"],
      ["GET", "/environmentshub/telling/variables"],
    ] as const)
      expect(await door.status(runner, method, path, body), path).toBe(403);
    // The keys of the service are the owner's to replace.
    expect(await door.status(ada, "POST", "/secrets/rotate", {})).toBe(403);
  });

  it("is not taken by a deployment without a master key, which says what to type", async () => {
    delete (service as unknown as Record<string, unknown>).EDGEWISE_MASTER_KEY;
    for (const [path, body] of [
      ["/secrets/", { name: "A", value: "hidden-hidden" }],
      ["/hosted-evaluations", { ...CREATION, ...withSecrets({ DECLARED: "hidden-hidden" }) }],
    ] as const)
      expect(await refusal(ada, "POST", path, body)).toMatchObject([
        422,
        {
          code: "missing_key",
          detail: expect.stringContaining("EDGEWISE_MASTER_KEY"),
          hint: expect.stringContaining("wrangler secret put EDGEWISE_MASTER_KEY"),
        },
      ]);
    expect(await stored()).not.toContain("hidden");
  });
});

describe("an environment", () => {
  it("gets what it declares or is linked to, the run's before its own before the team's, and no more; nothing of it is in rows, logs or tables", async () => {
    const values = {
      ...{
        global: "global-declared-0",
        undeclared: "global-undeclared",
        linked: "linked-linked-0",
        own: "own-own-own-0",
        over: "over-over-over",
        run: "declared-by-run",
      },
      key: "hostbound-key-0",
    };
    await make("/secrets/", { name: "DECLARED", value: values.global });
    await make("/secrets/", { name: "UNDECLARED", value: values.undeclared });
    const linked = await make("/secrets/", { name: "LINKED", value: values.linked });
    const both = await make("/secrets/", { name: "BOTH", value: values.undeclared });
    const bound = await make("/secrets/", { name: "BOUND", value: values.key, hosts: ["models.example"] });
    await make("/environmentshub/telling/secrets", { name: "OWN", value: values.own });
    await make("/environmentshub/telling/secrets", { name: "BOTH", value: values.over });
    await make("/environmentshub/arithmetic/secrets", { name: "ELSEWHERE", value: values.undeclared });
    for (const { id } of [linked, both])
      expect((await door.json<{ data: object }>(ada, "POST", `/environmentshub/telling/secrets/link/${id}`, {})).data).toMatchObject({ secretId: id });
    expect(await refusal(ada, "POST", `/environmentshub/telling/secrets/link/${bound.id}`, {})).toMatchObject([
      422,
      { detail: expect.stringContaining("models.example") },
    ]);
    const listed = (await door.json<{ data: Facts[] }>(ada, "GET", "/environmentshub/telling/secrets")).data;
    expect(listed.map(({ name, source }) => `${name} ${source}`).sort()).toEqual(["BOTH environment", "BOTH global", "LINKED global", "OWN environment"]);
    await make("/environmentshub/telling/variables", { name: "REGION", value: "north" });

    const fleet = working();
    const plain = await created(door, ada, TELLING);
    const given = await created(door, ada, withSecrets({ DECLARED: values.run }));
    for (const id of [plain, given]) await settled(id);
    await fleet.close();
    const [row, over] = await Promise.all(
      [plain, given].map(async (id) => {
        const rows = await (await door.call(ada, "GET", `/evaluations/${id}/samples`)).json<{ samples: { answer: string; reward: number }[] }>();
        return { ...rows.samples[0], told: JSON.parse(rows.samples[0]?.answer ?? "{}") as object };
      }),
    );
    const names = ["BOTH", "DECLARED", "LINKED", "OWN"];
    const told = { names, values: names.map(() => "[secret]"), variables: { REGION: "north" } };
    expect([row?.told, over?.told]).toEqual([told, told]);
    // Its code had the values, the run's own first.
    expect([row?.reward, over?.reward]).toEqual([0.5, 1]);
    const log = JSON.stringify(await run(`acme/${plain}`).logTail(100));
    expect(log).toContain("[secret]");
    let written = log + (await stored());
    for (const { key } of (await service.BUCKET.list()).objects) written += (await (await service.BUCKET.get(key))?.text()) ?? "";
    for (const id of [plain, given]) {
      written += await (await door.call(ada, "GET", `/evaluations/${id}`)).text();
      written += await runInDurableObject(rawRun(`acme/${id}`), (_, { storage }) =>
        JSON.stringify(["record", "event", "done"].map((table) => storage.sql.exec(`SELECT * FROM ${table}`).toArray())),
      );
    }
    for (const value of Object.values(values)) expect(written, value).not.toContain(value);
  });

  it("that lacks a key it declares fails the run at its creation, by name; so does a secret that goes elsewhere alone", async () => {
    expect(await refusal(ada, "POST", "/hosted-evaluations", { ...CREATION, ...TELLING })).toMatchObject([
      422,
      { code: "missing_key", detail: expect.stringContaining("DECLARED"), hint: expect.stringContaining("edgewise secret create") },
    ]);
    await make("/secrets/", { name: "DECLARED", value: "hidden-hidden", hosts: ["models.example"] });
    expect(await refusal(ada, "POST", "/hosted-evaluations", { ...CREATION, ...TELLING })).toMatchObject([
      422,
      { code: "missing_key", detail: expect.stringContaining("DECLARED is a secret for models.example alone") },
    ]);
  });

  it("whose secret was taken away while the run waited fails it, by name", async () => {
    const { id: secret } = await make("/secrets/", { name: "DECLARED", value: "hidden-hidden" });
    const id = await created(door, ada, TELLING);
    await door.json(ada, "DELETE", `/secrets/${secret}`);
    working();
    await run(`acme/${id}`).poke();
    await settled(id);
    expect(await run(`acme/${id}`).view()).toMatchObject({ status: "FAILED", failure: { code: "missing_key", message: expect.stringContaining("DECLARED") } });
  });
});
