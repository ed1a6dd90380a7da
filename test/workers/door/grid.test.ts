import { evictDurableObject, reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { outputKey, segmentPrefix } from "../../../r2-layout/keys.ts";
import { createApp } from "../../../src/api/app.ts";
import { previews as previewsAnswer, rolloutOutline, searchLine } from "../../../src/api/cells/cell-schemas.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { ORDER_SEED, type RunConfig } from "../../../src/config/plan/run-config.ts";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { registerEnvironments } from "../../../src/environments/definition/load.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { operations } from "../../../src/operations.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { Fleet } from "../support/fleet.ts";
import { type Ask, expectGridOfRows, gridOf, linesOf } from "../support/grid.ts";
import { createRun, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { rawRun, run, service, setVars, STEADY, until } from "../support/service.ts";

/** Questions that a data set calls by numbers of its own, or by their places. */
const questions = (id: string, own: boolean, score: () => number = () => 0.5) =>
  defineEnvironment({
    id,
    version: "1.0.0",
    description: "Questions.",
    args: z.object({}),
    load: () =>
      new SingleTurnEnv({
        dataset: Array.from({ length: 9 }, (_, n) => ({
          ...(own ? { example_id: 100 + 7 * n } : {}),
          question: `question ${n}`,
          answer: "yes",
          info: { level: n % 2 },
        })),
        rubric: new Rubric([
          { name: "exact, or not", fn: ({ answer, completion }) => (JSON.stringify(completion).includes(String(answer)) ? 1 : 0) },
          { name: "half", fn: score },
        ]),
      }),
  });

let hangs = true;
const NEVER = new Promise<never>(() => undefined);
const judged = defineEnvironment({
  id: "judged",
  version: "1.0.0",
  description: "Rollouts of an example are judged together.",
  args: z.object({}),
  load: () =>
    new SingleTurnEnv({
      dataset: [{ question: "one" }, { question: "two" }],
      rubric: new Rubric([
        groupReward(async function together({ states }) {
          return hangs ? NEVER : states.map(() => 1);
        }),
      ]),
    }),
});

const app = createApp(portsOf);
const TOKEN = "right";
function call(path: string, body?: object, method = body === undefined ? "GET" : "POST"): Promise<Response> {
  const text = body === undefined ? null : JSON.stringify(body);
  const sent: Record<string, string> = text === null ? {} : { "content-type": "application/json", "content-length": String(text.length) };
  return Promise.resolve(
    app.request(`https://edgewise.example${path}`, { method, headers: { authorization: `Bearer ${TOKEN}`, ...sent }, body: text }, service),
  );
}
const of =
  (id: string): Ask =>
  (path, body) =>
    call(`/api/v1/evaluations/${id}${path}`, body);

async function resultsOf({ env_id, model, run_id }: Pick<RunConfig, "env_id" | "model" | "run_id">): Promise<string> {
  return (await (await service.BUCKET.get(outputKey(env_id, model, run_id, "results.jsonl")))?.text()) ?? "";
}

let fleet: Fleet;
beforeEach(() => {
  setVars(STEADY);
  Object.assign(service, { TEST_KEY: "sk-model", EDGEWISE_TOKEN: TOKEN });
  registerEnvironments([questions("own-ids", true), questions("places", false), judged]);
  // Some answers are wrong.
  let asked = 0;
  fleet = new Fleet({ model: new ScriptedModel({ reply: () => (asked++ % 3 === 0 ? "no" : "yes, it is") }) });
});
afterEach(async () => {
  await fleet.close();
  delete (service as unknown as Record<string, unknown>).EDGEWISE_TOKEN;
  await reset();
});
afterAll(() => registerEnvironments([]));

describe("the grid of a run", { timeout: 60_000 }, () => {
  it.each([
    ["in the order of its data set", "own-ids", {}],
    ["whose examples were permuted", "own-ids", { order_seed: ORDER_SEED }],
    ["whose examples have no ids of their own", "places", { order_seed: ORDER_SEED }],
  ])("%s says what its rows say, also when its object has just woken up", async (_, env_id, changes) => {
    const config = await createRun({ env_id, env_version: "1.0.0", num_examples: 9, rollouts_per_example: 3, ...changes });
    await fleet.settled(config.run_id);
    const ask = of(config.run_id);
    const results = await resultsOf(config);
    const grid = await expectGridOfRows(ask, results);
    expect(grid.head).toMatchObject({ examples: 9, rollouts: 3, settled: true, metrics: ["exact, or not", "half", "num_turns"] });
    expect(new Set(grid.rows.map(({ cells }) => cells["m:exact, or not"]))).toEqual(new Set([0, 1]));
    expect(grid.rows.at(-1)).toMatchObject({ example: 8, id: env_id === "places" ? 8 : 156, rollout: 2 });
    await evictDurableObject(rawRun(config.run_id));
    await expectGridOfRows(ask, results);
    const reads = operations().r2_class_b;
    expect((await gridOf(ask)).rows).toEqual(grid.rows);
    expect(operations().r2_class_b - reads, "reads of inputs that are known").toBe(0);
    const named = await gridOf(ask, "?names=m:exact%252C or not,reward");
    expect(named.rows.map(({ cells }) => Object.keys(cells))).toEqual(Array.from({ length: 27 }, () => ["m:exact, or not", "reward"]));
    const places = [8, 2, 0, 3].map((example) => [example, 1]);
    const { previews } = previewsAnswer.parse(await (await ask("/previews", { places, fields: ["prompt", "info.level", "answer", "stop_condition"] })).json());
    expect(previews).toMatchObject(
      places.map(([example = 0]) => ({ example, rollout: 1, values: { prompt: `question ${example}`, "info.level": example % 2, answer: "yes" } })),
    );
  });

  it("that scores another's rollouts again has the new numbers", async () => {
    const source = await createRun({ env_id: "own-ids", env_version: "1.0.0", num_examples: 5, rollouts_per_example: 2 });
    await fleet.settled(source.run_id);
    registerEnvironments([questions("own-ids", true, () => 0.25)]);
    const made = (await (await call("/api/v1/hosted-evaluations", { environment_ids: ["own-ids"], rescore: { run_id: source.run_id } })).json()) as {
      readonly evaluation_id: string;
    };
    const { config } = await fleet.settled(made.evaluation_id);
    const before = await gridOf(of(source.run_id), "?names=m:half");
    const { rows } = await expectGridOfRows(of(config.run_id), await resultsOf(config));
    expect([before.rows[0]?.cells["m:half"], rows.map(({ cells }) => cells["m:half"])]).toEqual([0.5, Array.from({ length: 10 }, () => 0.25)]);
  });

  it("names rollouts that are generated while their example is not done, and reads them", async () => {
    hangs = true;
    const { run_id } = await createRun({ env_id: "judged", env_version: "1.0.0", num_examples: 2, rollouts_per_example: 2, max_concurrent: 4 });
    await until("all rollouts to be kept", async () => (await viewOf(run_id)).kept?.rollouts === 4, 30_000);
    const ask = of(run_id);
    expect(await gridOf(ask)).toMatchObject({
      rows: [],
      open: [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ],
    });
    expect(await (await ask("/rollouts/1/0")).json()).toMatchObject({ example_id: 1, rollout_index: 0, reward: null, open: true });
    expect(rolloutOutline.parse(await (await ask("/rollouts/1/0/outline")).json())).toMatchObject({ example: 1, rollout: 0, open: true });
    const { previews } = previewsAnswer.parse(
      await (
        await ask("/previews", {
          places: [
            [1, 1],
            [0, 0],
            [2, 0],
          ],
          fields: ["prompt", "completion"],
        })
      ).json(),
    );
    expect(previews).toMatchObject([
      { example: 1, rollout: 1, open: true, values: { prompt: "two" } },
      { example: 0, rollout: 0, open: true, values: { prompt: "one" } },
      null,
    ]);
    hangs = false;
    await run(run_id).cancel();
    for (const executor of fleet.executors) executor.kill();
  });

  it("is not told to who has the run's link alone: that is for its page, samples and files", async () => {
    const config = await createRun({ env_id: "places", env_version: "1.0.0", num_examples: 3 });
    await fleet.settled(config.run_id);
    const { link } = (await (await call(`/api/v1/evaluations/${config.run_id}/link`, {}, "PUT")).json()) as { readonly link: string };
    const byLink = async (path: string, init: RequestInit = {}): Promise<number> =>
      (await app.request(`https://edgewise.example${new URL(link).pathname}${path}`, init, service)).status;
    expect(await byLink("/samples")).toBe(200);
    for (const path of ["/columns", "/search?text=question", "/rollouts/0/0", "/rollouts/0/0/outline"]) expect(await byLink(path), path).toBe(404);
    const places = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ places: [[0, 0]], fields: ["prompt"] }) };
    expect(await byLink("/previews", places)).toBe(404);
  });

  it("has its numbers where its rows are gone from storage, whose readers are told so", async () => {
    const { run_id } = await createRun({ env_id: "places", env_version: "1.0.0", num_examples: 3 });
    await fleet.settled(run_id);
    for (const { key } of (await service.BUCKET.list({ prefix: segmentPrefix(run_id) })).objects) await service.BUCKET.delete(key);
    const ask = of(run_id);
    expect((await gridOf(ask)).rows).toHaveLength(3);
    for (const answer of [await ask("/rollouts/0/0"), await ask("/previews", { places: [[0, 0]], fields: ["prompt"] })]) {
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ code: "storage_unavailable" });
    }
  });
});

describe("a row that cannot be read", { timeout: 60_000 }, () => {
  const DEEP = `{"question":${"[".repeat(257)}${"]".repeat(257)}}`;

  it.each([
    ["is torn", (row: string) => `${row.slice(0, -40)}${" ".repeat(40)}`, /JSON/],
    ["goes deeper than the bound", (row: string) => DEEP.padEnd(row.length), /^nested deeper than 256 levels$/],
    ["is no object", (row: string) => `"question"${" ".repeat(row.length - 10)}`, /^a row must be a JSON object$/],
  ])("since it %s is named with the reason, and takes no other one with it", async (_, broken, reason) => {
    const config = await createRun({ env_id: "places", env_version: "1.0.0", num_examples: 3 });
    await fleet.settled(config.run_id);
    const row = (await resultsOf(config)).split("\n")[1] ?? "";
    for (const { key } of (await service.BUCKET.list({ prefix: segmentPrefix(config.run_id) })).objects) {
      const text = (await (await service.BUCKET.get(key))?.text()) ?? "";
      await service.BUCKET.put(
        key,
        text.replace(row, () => broken(row)),
      );
    }
    const ask = of(config.run_id);
    const places = [0, 1, 2].map((example) => [example, 0]);
    const { previews } = previewsAnswer.parse(await (await ask("/previews", { places, fields: ["prompt"] })).json());
    expect(previews).toMatchObject([
      { values: { prompt: "question 0" } },
      { example: 1, rollout: 0, unreadable: { code: "row_unreadable", reason: expect.stringMatching(reason) } },
      { values: { prompt: "question 2" } },
    ]);
    const found = (await linesOf(await ask("/search?text=question&in=prompt,question"))).map((line) => searchLine.parse(line));
    const named = found.flatMap((line) => (line.kind === "match" || line.kind === "unreadable" ? [[line.kind, line.example]] : []));
    expect(named.sort()).toEqual([
      ["match", 0],
      ["match", 2],
      ["unreadable", 1],
    ]);
    expect(found.at(-1)).toEqual({ kind: "end", scanned: 3, next: null });
    expect((await gridOf(ask)).rows).toHaveLength(3);
    for (const part of ["/outline", "/messages"]) {
      const answer = await ask(`/rollouts/1/0${part}`);
      expect([answer.status, await answer.json()]).toMatchObject([
        422,
        { code: "row_unreadable", detail: expect.stringMatching(/^The row of this rollout cannot be read: /) },
      ]);
    }
    expect(await (await ask("/rollouts/1/0")).text()).toBe(broken(row));
    expect(rolloutOutline.parse(await (await ask("/rollouts/2/0/outline")).json())).toMatchObject({ example: 2 });
  });
});

describe("the grid of a pushed evaluation", { timeout: 60_000 }, () => {
  const sample = (example_id: string | number | null, reward: number) => ({
    example_id,
    prompt: `${example_id}?`,
    completion: "so",
    reward,
    metrics: { length: reward * 2 },
  });

  async function pushed(batches: readonly (readonly object[])[]): Promise<string> {
    const { evaluation_id: id } = (await (
      await call("/api/v1/evaluations/", { name: "laptop", environments: [{ id: "elsewhere" }], model_name: "m", tags: [], metadata: {} })
    ).json()) as { readonly evaluation_id: string };
    await push(id, batches);
    return id;
  }
  async function push(id: string, batches: readonly (readonly object[])[]): Promise<void> {
    for (const samples of batches) expect((await call(`/api/v1/evaluations/${id}/samples`, { samples })).status).toBe(200);
  }
  async function finished(id: string): Promise<void> {
    expect((await call(`/api/v1/evaluations/${id}/finalize`, {})).status).toBe(200);
    await fleet.settled(id);
  }
  const results = async (id: string): Promise<string> => (await call(`/api/v1/evaluations/${id}/files/results.jsonl`)).text();

  it("has the ids that its sender gave, holes where an example has fewer attempts, and other places once more is pushed", async () => {
    const id = await pushed([
      [sample("b/1", 1), sample(4, 0), sample(-2.5, 1)],
      [sample("b/1", 0.5), sample(null, 0.25)],
    ]);
    const ask = of(id);
    expect(await gridOf(ask)).toMatchObject({ head: { examples: 0, settled: false }, rows: [] });
    await finished(id);
    const grid = await expectGridOfRows(ask, await results(id));
    expect(grid.head).toMatchObject({ examples: 4, rollouts: 2, metrics: ["length"] });
    expect(grid.rows.map(({ example, id: own, rollout, cells }) => [example, own, rollout, cells.reward])).toEqual([
      [0, -2.5, 0, 1],
      [1, 4, 0, 0],
      [2, "b/1", 0, 1],
      [2, "b/1", 1, 0.5],
      [3, null, 0, 0.25],
    ]);
    expect((await ask("/rollouts/0/1")).status).toBe(404);
    expect(await gridOf(ask, `?after=${grid.head.seq}`)).toMatchObject({ rows: [], end: { next: null } });

    await push(id, [[sample(0, 1)]]);
    await finished(id);
    const more = await expectGridOfRows(ask, await results(id));
    expect(more.head.generation).toBeGreaterThan(grid.head.generation);
    expect(more.rows.map(({ example, id: own }) => [example, own])).toEqual([
      [0, -2.5],
      [1, 0],
      [2, 4],
      [3, "b/1"],
      [3, "b/1"],
      [4, null],
    ]);
    expect((await gridOf(ask, `?after=${grid.head.seq}`)).rows).toEqual(more.rows);
  });

  it("has each id once a page, however many pages there are", async () => {
    const examples = 5_000;
    const name = (index: number): string => `example ${String(index).padStart(5, "0")}`;
    const id = await pushed([Array.from({ length: examples }, (_, index) => sample(name(index), 1))]);
    await finished(id);
    for (const fresh of [false, true]) {
      if (fresh) await evictDurableObject(rawRun(id));
      const { rows, blocks } = await gridOf(of(id), "?names=reward");
      expect([blocks, rows.map((row) => row.id)]).toEqual([2, Array.from({ length: examples }, (_, index) => name(index))]);
    }
  });
});
