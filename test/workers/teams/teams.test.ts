import { createScheduledController, reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { registryStub } from "../../../durable-objects/stubs.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { UPLOAD_GRACE_MS } from "../../../src/limits.ts";
import worker from "../../../src/worker.ts";
import { Fleet } from "../support/fleet.ts";
import { CREATION, created, Door, deploy, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { restoreClock, run, service, setVars, skip, STEADY, until } from "../support/service.ts";

/** A team's run from its door to its removal: everything of it is in the team's part, and nothing reaches it but its members. */
let fleet: Fleet;
let door: Door;
const DATASET = new TextEncoder().encode('{"text": "one two"}\n{"text": "three four"}\n{"text": "five six"}\n');

async function keys(prefix = ""): Promise<string[]> {
  return (await service.BUCKET.list({ prefix, limit: 1_000 })).objects.map(({ key }) => key);
}
const ids = async (token: string, query = ""): Promise<string[]> => {
  const { evaluations } = await door.json<{ evaluations: { evaluation_id: string }[] }>(token, "GET", `/evaluations/${query}`);
  return evaluations.map(({ evaluation_id }) => evaluation_id);
};

beforeEach(() => {
  setVars(STEADY);
  deploy();
  door = new Door();
  fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 1 }) });
});
afterEach(async () => {
  restoreClock();
  await fleet.close();
  undeploy();
  await reset();
});

it("has all of a run in the team's part of the bucket, from its upload to its results, and removes it from there", async () => {
  await door.join("ada", ["acme"]);
  const ada = await door.token("ada", ["acme"], ["runs:write"]);
  const digest = await sha256Hex(DATASET);
  expect(await door.status(ada, "PUT", `/datasets/${digest}`, DATASET)).toBe(201);
  const id = await created(door, ada, { eval_config: { ...CREATION.eval_config, env_args: { dataset: `sha256:${digest}` }, verbose: true } });
  await fleet.settled(`acme/${id}`);

  expect(await door.json(ada, "GET", `/evaluations/${id}`)).toMatchObject({ status: "COMPLETED", total_samples: 3, team_id: "acme" });
  expect(await door.json(ada, "GET", "/evaluations/")).toMatchObject({ total: 1, evaluations: [{ evaluation_id: id, team_id: "acme" }] });
  expect(await door.json(ada, "GET", `/evaluations/${id}/samples`)).toMatchObject({
    total: 3,
    samples: [{ example_id: 0 }, { example_id: 1 }, { example_id: 2 }],
  });
  for (const file of ["results.jsonl", "metadata.json", "eval.log"]) expect(await door.status(ada, "GET", `/evaluations/${id}/files/${file}`), file).toBe(200);
  expect((await (await door.call(ada, "GET", `/evaluations/${id}/rows`)).text()).trim().split("\n")).toHaveLength(3);
  const all = await keys();
  expect(all.filter((key) => !key.startsWith("teams/acme/"))).toEqual([]);
  for (const part of [`runs/${id}/config.json`, `runs/${id}/inputs/`, `runs/${id}/segments/`, `datasets/${digest}`, "outputs/evals/"])
    expect(
      all.some((key) => key.startsWith(`teams/acme/${part}`)),
      part,
    ).toBe(true);

  // Neither the owner nor the object of that id in the default team knows of it.
  expect(await door.status(OWNER_TOKEN, "GET", `/evaluations/${id}`)).toBe(404);
  expect(await ids(OWNER_TOKEN)).toEqual([]);
  expect(await run(id).view()).toBe(null);

  // Segments that nothing points to are swept there, and those of others are not.
  await service.BUCKET.put(`teams/acme/runs/${id}/segments/0-0-9.jsonl`, "orphan");
  await service.BUCKET.put(`runs/${id}/segments/0-0-9.jsonl`, "another's");
  skip(UPLOAD_GRACE_MS + 60_000);
  await run(`acme/${id}`).poke();
  await until("the sweep of segments", async () => (await keys(`teams/acme/runs/${id}/segments/0-0-9`)).length === 0);
  restoreClock();
  expect(await door.status(ada, "DELETE", `/evaluations/${id}`)).toBe(200);
  await until("the removal", async () => (await keys("teams/acme/runs/")).length === 0 && (await keys("teams/acme/outputs/")).length === 0);
  await until("the list", async () => (await ids(ada)).length === 0);
  expect(await keys(`runs/${id}/`)).toHaveLength(1);

  // Nobody points to the upload any more.
  await worker.scheduled(createScheduledController(), service);
  skip(UPLOAD_GRACE_MS + 60_000);
  await until("the sweep of uploads", async () => {
    await worker.scheduled(createScheduledController(), service);
    skip(60_000);
    return (await keys("teams/acme/datasets/")).length === 0;
  });
});

it("is woken by the watchdog, as every team's is", async () => {
  await fleet.close();
  await door.join("ada", ["acme"]);
  await door.join("bob", ["other"]);
  const [ada, bob] = [await door.token("ada", ["acme"], ["runs:write"]), await door.token("bob", ["other"], ["runs:write"])];
  const [a, b, c] = [await created(door, ada), await created(door, bob), await created(door, OWNER_TOKEN)];
  const poked: string[] = [];
  const RUN = { getByName: (name: string) => ({ poke: async () => void poked.push(name), uploads: async () => ({ digests: [], manifest: null }) }) };
  await worker.scheduled(createScheduledController(), { ...service, RUN } as unknown as typeof service);
  expect(poked.toSorted()).toEqual([c, `acme/${a}`, `other/${b}`].toSorted());
});

it("takes ids, idempotency keys and uploads as if the team were alone", async () => {
  await fleet.close();
  await door.join("ada", ["acme"]);
  await door.join("bob", ["other"]);
  const [ada, bob] = [await door.token("ada", ["acme"], ["runs:write"]), await door.token("bob", ["other"], ["runs:write"])];
  const key = { "idempotency-key": "the same" };
  const [a, b] = [await created(door, ada, {}, key), await created(door, bob, { name: "another body" }, key)];
  expect(a).not.toBe(b);
  expect(await created(door, ada, {}, key)).toBe(a);
  const digest = await sha256Hex(DATASET);
  expect(await door.status(ada, "PUT", `/datasets/${digest}`, DATASET)).toBe(201);
  expect(await door.status(bob, "HEAD", `/datasets/${digest}`)).toBe(404);
  expect(await door.status(bob, "PUT", `/datasets/${digest}`, DATASET)).toBe(201);
  // A folder of another's run is gone on with under the same id, and is another run.
  const folder = { run_id: a, results: digest, dataset_digest: null, keep_errors: false };
  expect(await created(door, bob, { resume_from: folder })).toBe(a);
  expect([await ids(ada), (await ids(bob)).toSorted()]).toEqual([[a], [a, b].toSorted()]);
  expect(await door.status(bob, "PATCH", `/hosted-evaluations/${a}/cancel`)).toBe(200);
  expect(await door.json(ada, "GET", `/evaluations/${a}`)).toMatchObject({ status: "PENDING" });
});

it("of a user in two teams is found by its id alone, made where the request says, and in no third", async () => {
  await fleet.close();
  await door.join("carol", ["acme", "other"]);
  await door.join("bob", ["third"]);
  const carol = await door.token("carol", ["acme", "other"], ["runs:write"]);
  const bob = await door.token("bob", ["third"], ["runs:write"]);
  const [first, second, third] = [await created(door, carol), await created(door, carol, { team_id: "other" }), await created(door, bob)];
  expect((await door.json<{ data: { teamId: string }[] }>(carol, "GET", "/user/teams")).data.map(({ teamId }) => teamId)).toEqual(["acme", "other"]);
  expect(await door.json(carol, "GET", "/user/whoami?teamId=other")).toMatchObject({
    data: { slug: "carol", scope: { evaluations: { read: true, write: true } } },
  });
  for (const [id, team_id] of [
    [first, "acme"],
    [second, "other"],
  ])
    expect(await door.json(carol, "GET", `/evaluations/${id}`)).toMatchObject({ team_id });
  expect([await ids(carol), await ids(carol, "?team_id=other")]).toEqual([[first], [second]]);
  for (const path of [`/evaluations/${third}`, "/evaluations/?team_id=third", "/user/whoami?teamId=third"])
    expect(await door.status(carol, "GET", path), path).toBe(404);
  expect(await door.status(carol, "POST", "/hosted-evaluations", { ...CREATION, team_id: "third" })).toBe(404);
  expect(await door.status(carol, "GET", `/evaluations/${second}`, undefined, { "x-edgewise-team": "third" })).toBe(404);
  expect(await door.status(carol, "GET", `/evaluations/${second}`, undefined, { "x-edgewise-team": "acme" })).toBe(404);
  expect(await registryStub(service, "third").has(third)).toBe(true);
});
