import { createScheduledController, runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/teams/retention.ts";
import worker from "../../../src/worker.ts";
import { type Call, Fleet, NEVER } from "../support/fleet.ts";
import { type Door, OWNER_TOKEN, closeTeam, openTeam } from "../support/people.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { QUICK, service, setVars, silenceQueue, skip, until } from "../support/service.ts";

interface Sample {
  readonly example_id: number;
  readonly rollout_index: number;
  readonly reward: number;
}

const EXAMPLES = 1_300;
let door: Door;
let ada: string;
let fleet: Fleet | null = null;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["admin"]));
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  await closeTeam();
});

const create = async (): Promise<string> => {
  const body = { name: "laptop", environments: [{ id: "elsewhere" }], model_name: "m", tags: [] };
  return (await door.json<{ evaluation_id: string }>(ada, "POST", "/evaluations/", body)).evaluation_id;
};
const bytesOf = (samples: readonly object[]): number => new TextEncoder().encode(JSON.stringify({ samples })).byteLength;
const push = (id: string, samples: readonly object[]): Promise<Response> =>
  door.call(ada, "POST", `/evaluations/${id}/samples`, { samples }, { "content-length": String(bytesOf(samples)) });
async function close(id: string): Promise<void> {
  await door.json(ada, "POST", `/evaluations/${id}/finalize`, {});
  await fleet?.settled(`acme/${id}`);
}
const objectsOf = async (id: string): Promise<readonly R2Object[]> => {
  const pages = await Promise.all([`teams/acme/runs/${id}/`, "teams/acme/outputs/"].map((prefix) => service.BUCKET.list({ prefix })));
  return pages.flatMap(({ objects }) => objects).filter(({ key }) => key.includes(id));
};

/** Attempts at examples, each with a reward of its own. */
const attempts = (index: number): Sample[] =>
  Array.from({ length: EXAMPLES }, (_, example) => ({ example_id: example, rollout_index: index, reward: 2 * example + index }));

describe("a pushed evaluation whose executor dies", () => {
  it.each<[string, string, "before" | "after"]>([
    ["a batch was read, and the Run was not told", "indexed", "before"],
    ["the Run was told of a batch", "indexed", "after"],
    ["rows were read, and are in no segment", "create", "before"],
    ["a segment was written, and the Run was not told", "placed", "before"],
    ["the Run was told of a segment", "placed", "after"],
  ])("when %s has each sample once, in its place", async (_, method, when) => {
    setVars(QUICK);
    let calls = 0;
    let deaths = 0;
    const dying = async (call: Call): Promise<unknown> => {
      if (call.method !== method || ++calls !== 2) return await call.send();
      if (when === "after") await call.send();
      deaths++;
      call.by.kill();
      return NEVER;
    };
    fleet = new Fleet({ model: new ScriptedModel({}), onRun: dying, onStore: dying });
    const id = await create();
    expect((await push(id, attempts(1).reverse())).status).toBe(200);
    expect((await push(id, attempts(0))).status).toBe(200);
    await close(id);
    expect(deaths).toBe(1);
    const all = Array.from({ length: EXAMPLES }, (_, example) => [0, 1].map((index) => [example, index, 2 * example + index])).flat();
    expect(await door.json(ada, "GET", `/evaluations/${id}`)).toMatchObject({
      status: "COMPLETED",
      total_samples: all.length,
      metrics: { reward: (all.length - 1) / 2 },
      metadata: { num_examples: EXAMPLES, rollouts_per_example: 2 },
    });
    const file = new TextDecoder().decode(await (await door.call(ada, "GET", `/evaluations/${id}/files/results.jsonl`)).arrayBuffer());
    const rows = file
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Sample);
    expect(rows.map(({ example_id, rollout_index, reward }) => [example_id, rollout_index, reward])).toEqual(all);
  });
});

describe("a pushed evaluation of a team", () => {
  const sample = (example: number) => ({ example_id: example, rollout_index: 0, reward: 1, completion: "so ".repeat(100) });
  const limits = (changes?: object) =>
    door.json<{ data: { used: Record<string, number> } }>(OWNER_TOKEN, changes === undefined ? "GET" : "PUT", "/teams/acme/limits", changes);
  const stored = async (): Promise<number> => (await limits()).data.used.stored_bytes ?? 0;

  it("counts for the limit of bytes stored, as it was sent and as rows: what does not fit is refused, and leaves nothing", async () => {
    await limits({ stored_bytes: 1_000_000 });
    fleet = new Fleet({ model: new ScriptedModel({}) });
    const id = await create();
    const batch = [sample(0), sample(1)];
    expect((await push(id, batch)).status).toBe(200);
    await until("the batch to count", async () => (await stored()) === bytesOf(batch));
    await close(id);
    const results = (await objectsOf(id)).find(({ key }) => key.endsWith("results.jsonl"))?.size ?? 0;
    await until("rows and files to count", async () => (await stored()) === bytesOf(batch) + 2 * results);
    const held = await objectsOf(id);
    await limits({ stored_bytes: (await stored()) + 10 });
    const refused = await push(id, [sample(2)]);
    expect([refused.status, await refused.json()]).toEqual([
      429,
      expect.objectContaining({ code: "limit_reached", detail: expect.stringContaining('The limit of bytes stored of the team "acme" is') as string }),
    ]);
    // What is there already is no more than there is.
    expect(await (await push(id, batch)).json()).toEqual({ samples: 2, added: false });
    expect((await objectsOf(id)).length).toBe(held.length);
    expect(await door.json(ada, "GET", `/evaluations/${id}`)).toMatchObject({ status: "COMPLETED", total_samples: 2, edgewise: { settled: true } });
    await door.json(ada, "DELETE", `/evaluations/${id}`);
    await until("the removal", async () => (await stored()) === 0);
    const other = await create();
    expect((await push(other, [sample(0)])).status).toBe(200);
  });

  it("is removed when its time is over, with its batches; one that still waits for samples is not", async () => {
    fleet = new Fleet({ model: new ScriptedModel({}) });
    const [settled, waiting] = [await create(), await create()];
    for (const id of [settled, waiting]) await push(id, [sample(0)]);
    await close(settled);
    await fleet.close();
    fleet = null;
    silenceQueue();
    const ids = async () =>
      (await door.json<{ evaluations: { evaluation_id: string; edgewise: { settled: boolean } }[] }>(ada, "GET", "/evaluations/")).evaluations;
    await until("the list", async () => (await ids()).some(({ evaluation_id, edgewise }) => evaluation_id === settled && edgewise.settled));
    const tick = () => worker.scheduled(createScheduledController({ cron: "* * * * *" }), service);
    await door.json(ada, "PUT", "/teams/acme/limits", { retention_days: 30 });
    await tick();
    skip(23 * DAY_MS + 60_000);
    await tick();
    await tick();
    expect(await door.json(ada, "GET", `/evaluations/${settled}`)).toMatchObject({ edgewise: { removal_at: expect.any(String) as string } });
    skip(7 * DAY_MS);
    await tick();
    await until("the removal", async () => {
      await runDurableObjectAlarm(service.RUN.getByName(`acme/${settled}`));
      return (await ids()).every(({ evaluation_id }) => evaluation_id !== settled) && (await objectsOf(settled)).length === 0;
    });
    expect((await ids()).map(({ evaluation_id }) => evaluation_id)).toEqual([waiting]);
    expect((await objectsOf(waiting)).some(({ key }) => key.includes("/pushed/"))).toBe(true);
  });
});
