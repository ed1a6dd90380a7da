import { reset } from "cloudflare:test";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { manifestText } from "../../../r2-layout/folder-manifest.ts";
import { datasetKey } from "../../../r2-layout/keys.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { defineEnvironment, type EnvironmentDefinition } from "../../../src/environments/definition/definition.ts";
import { environmentDigest, registerEnvironments } from "../../../src/environments/definition/load.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { groupReward, type RewardContext } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun, expectNumbersOfRows, metadataOf, type ResultRow, rowsOf, viewOf } from "../support/runs.ts";
import { type ModelOptions, ScriptedModel } from "../support/scripted-model.ts";
import { QUICK, run, service, setVars, STEADY, until } from "../support/service.ts";

type Score = (context: RewardContext) => number | Promise<number>;

interface Made {
  readonly id?: string;
  readonly answers?: (n: number) => string;
  readonly question?: (n: number) => string;
  readonly together?: boolean;
}

/** Numbers, each with a column of its own. */
const numbers = (
  source: string,
  score: Score,
  { id = "numbers", answers = String, question = (n) => `number ${n}`, together = false }: Made = {},
): EnvironmentDefinition =>
  defineEnvironment({
    id,
    version: "1",
    source,
    description: "Numbers.",
    args: z.object({}),
    load: () =>
      new SingleTurnEnv({
        dataset: Array.from({ length: 8 }, (_, n) => ({ question: question(n), answer: answers(n), level: n % 3 })),
        rubric: new Rubric([
          { name: "read", fn: score },
          ...(together ? [{ name: "place", fn: groupReward(({ states }) => states.map((_, index) => index)) }] : []),
        ]),
        rubrics: { strict: new Rubric([{ name: "strict", fn: () => 0.25 }]) },
      }),
  });

const app = createApp(portsOf);
let fleet: Fleet;
let model: ScriptedModel;
beforeEach(() => {
  setVars(STEADY);
  Object.assign(service, { TEST_KEY: "sk-model", EDGEWISE_TOKEN: "right" });
});
afterEach(async () => {
  await fleet.close();
  delete (service as unknown as Record<string, unknown>).EDGEWISE_TOKEN;
  await reset();
});
afterAll(() => registerEnvironments([]));

async function settled(environment: EnvironmentDefinition, changes: Partial<RunConfig> = {}, reply?: ModelOptions["reply"]): Promise<RunConfig> {
  registerEnvironments([environment]);
  model = new ScriptedModel(reply === undefined ? {} : { reply });
  fleet = new Fleet({ model });
  const config = await createRun({ env_id: environment.id, env_version: "1", num_examples: 6, rollouts_per_example: 2, ...changes });
  await fleet.settled(config.run_id);
  await fleet.close();
  return config;
}

async function asked(body: object, path = "hosted-evaluations"): Promise<{ readonly status: number; readonly answer: Record<string, unknown> }> {
  const response = await app.request(
    `https://edgewise.example/api/v1/${path}`,
    { method: "POST", headers: { authorization: "Bearer right", "content-type": "application/json" }, body: JSON.stringify(body) },
    service,
  );
  return { status: response.status, answer: await response.json() };
}

/** A new run that scores `config`'s rollouts by `environment`; the model has no key any more, so that who asks it fails. */
async function rescored({ run_id }: RunConfig, environment: EnvironmentDefinition, rescore: object = {}, more: object = {}) {
  registerEnvironments([environment]);
  delete (service as unknown as Record<string, unknown>).TEST_KEY;
  const { status, answer } = await asked({ environment_ids: [environment.id], rescore: { run_id, ...rescore }, ...more });
  expect(answer).toMatchObject({ evaluation_id: expect.any(String) as string });
  expect(status).toBe(200);
  fleet = new Fleet({ model });
  const view = await fleet.settled(String(answer.evaluation_id));
  return { view, config: view.config };
}

async function upload(text: string): Promise<string> {
  const digest = await sha256Hex(text);
  await service.BUCKET.put(datasetKey(digest), text);
  return digest;
}
const uploaded = async (rows: readonly object[]) => ({ digest: await upload(rows.map((row) => `${JSON.stringify(row)}\n`).join("")), bytes: 1 });

const codeOf = ({ error }: ResultRow): unknown => (error as { code?: unknown } | null)?.code ?? null;
const generated = ({ prompt, completion, token_usage, stop_condition, rollout_index, example_id }: ResultRow): unknown[] => [
  ...[prompt, completion, token_usage, stop_condition, rollout_index, example_id],
];
const half: Score = () => 0.5;

describe("a run that scores another's rollouts again", () => {
  it("has its rows with new scores and asks the model nothing; the source stays as it is, and metadata name it with its averages", async () => {
    const source = await settled(numbers("before", half));
    const before = await rowsOf(source);
    const requests = model.total;
    const mended = numbers("mended", ({ answer, level }: RewardContext & { level?: number }) => (Number(answer) % 2 === 0 ? 1 : 0.5) + Number(level));
    const { view, config } = await rescored(source, mended);
    expect(view).toMatchObject({ status: "COMPLETED", totals: { rollouts: 12 }, rescored: { changed: 5, source: { avg_reward: 0.5, rollouts: 12 } } });
    expect(model.total).toBe(requests);
    const rows = await rowsOf(config);
    expect(rows.map(generated)).toEqual(before.map(generated));
    const worth = (n: number): number => (n % 2 === 0 ? 1 : 0.5) + (n % 3);
    expect(rows.map(({ reward }) => reward)).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5].map(worth));
    expect(await rowsOf(source)).toEqual(before);
    await expectNumbersOfRows(config);
    const { rows_digest } = (await metadataOf(source)).edgewise as { rows_digest: { sha256: string } };
    expect((await metadataOf(config)).edgewise).toMatchObject({
      env_digest: await environmentDigest(mended, {}),
      dataset_digest: (await viewOf(source.run_id)).dataset_digest,
      rescored_from: {
        run_id: source.run_id,
        rows_sha256: rows_digest.sha256,
        env_digest: await environmentDigest(numbers("before", half), {}),
        examples: "data",
        avg_reward: 0.5,
        avg_metrics: { read: 0.5 },
        changed_examples: 5,
      },
    });
  });

  it("scores by the rubric that was named; one that the environment does not offer is refused, naming those that it does", async () => {
    const environment = numbers("one", half);
    const source = await settled(environment);
    const wrong = await asked({ environment_ids: ["numbers"], rescore: { run_id: source.run_id, rubric: "strikt" } });
    expect(wrong).toMatchObject({
      status: 422,
      answer: { detail: [{ loc: ["body", "rescore", "rubric"], msg: expect.stringMatching(/no rubric "strikt".*strict/) as string }] },
    });
    const { config, view } = await rescored(source, environment, { rubric: "strict" });
    expect((await rowsOf(config)).map(({ reward, metrics }) => [reward, metrics])).toEqual(
      Array.from({ length: 12 }, () => [0.25, { strict: 0.25, num_turns: 1 }]),
    );
    expect(view.env_digest).not.toBe((await viewOf(source.run_id)).env_digest);
  });

  it("carries scores over with errors_only, and scores what the scorer failed for; without such a rollout there is nothing to score", async () => {
    const fails: Score = ({ answer }) => {
      if (answer === "1" || answer === "4") throw new Error("a slip");
      return 0.5;
    };
    const source = await settled(numbers("slips", fails));
    const before = await rowsOf(source);
    const { config, view } = await rescored(
      source,
      numbers("mended", () => 1),
      { errors_only: true },
    );
    const rows = await rowsOf(config);
    expect(rows.map((row) => [row.reward, codeOf(row)])).toEqual(
      [0, 1, 2, 3, 4, 5].flatMap((n) => Array.from({ length: 2 }, () => [n === 1 || n === 4 ? 1 : 0.5, null])),
    );
    for (const [at, row] of rows.entries()) if (row.reward === 0.5) expect(row).toEqual(before[at]);
    expect(view.rescored).toMatchObject({ changed: 2 });
    await fleet.close();
    const none = await rescored(config, numbers("again", half), { errors_only: true });
    expect(none.view).toMatchObject({ status: "FAILED", failure: { code: "nothing_to_score" } });
  });

  it("gives whole groups to functions that judge them together", async () => {
    const source = await settled(numbers("before", half), { rollouts_per_example: 3, num_examples: 2 });
    const { config } = await rescored(source, numbers("together", half, { together: true }));
    expect((await rowsOf(config)).map(({ reward }) => reward)).toEqual([0.5, 1.5, 2.5, 0.5, 1.5, 2.5]);
  });

  it("ends before anything is scored where the scorer reads what rows do not hold, and names the keys", async () => {
    const source = await settled(numbers("before", half));
    const { view, config } = await rescored(
      source,
      numbers("reads", ({ state }) => Number(state.board) + Number(state.moves)),
    );
    expect(view).toMatchObject({
      status: "FAILED",
      totals: { rollouts: 0 },
      failure: { code: "scorer_lacks_state", message: expect.stringContaining("board") as string },
    });
    expect(await rowsOf(config).catch(() => [])).toEqual([]);
    await fleet.close();
    const other = numbers("column", ({ level }: RewardContext & { level?: number }) => Number(level), { id: "other" });
    expect((await rescored(source, other)).view).toMatchObject({ status: "FAILED", failure: { message: expect.stringContaining("level") as string } });
  });

  it("takes the answers that the data set has now, and shows them in its rows; rows that ask something else are refused by name", async () => {
    const exact: Score = ({ answer }) => Number(answer);
    const source = await settled(numbers("before", exact));
    const { config } = await rescored(source, numbers("answers", exact, { answers: (n) => String(n + 10) }));
    expect((await rowsOf(config)).map(({ answer, reward }) => [answer, reward])).toEqual(
      [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5].map((n) => [String(n + 10), n + 10]),
    );
    await fleet.close();
    const moved = numbers("moved", exact, { question: (n) => `number ${n === 3 ? 4 : n}` });
    expect((await rescored(source, moved)).view).toMatchObject({
      status: "FAILED",
      failure: { code: "source_mismatch", message: expect.stringContaining("example 3") as string, hint: expect.stringContaining("--examples rows") as string },
    });
    await fleet.close();
    const { config: byRows } = await rescored(source, moved, { examples: "rows" });
    expect((await rowsOf(byRows)).map(({ reward }) => reward)).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
  });

  it("leaves errors of generation what they are", async () => {
    const source = await settled(numbers("before", half), { num_examples: 3 }, ({ example }) => (example === 1 ? { kind: "status", status: 400 } : null));
    const before = await rowsOf(source);
    expect(before.map(codeOf)).toEqual([null, null, "bad_request", "bad_request", null, null]);
    const { config, view } = await rescored(
      source,
      numbers("mended", () => 1),
    );
    expect(view).toMatchObject({ status: "COMPLETED", units: { done: 3, total: 3 } });
    const rows = await rowsOf(config);
    expect(rows.map(({ error }) => error)).toEqual(before.map(({ error }) => error));
    expect(rows.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1, 1]);
    const answer = await app.request(`https://edgewise.example/api/v1/evaluations/${config.run_id}`, { headers: { authorization: "Bearer right" } }, service);
    expect(await answer.json()).toMatchObject({
      edgewise: { resumable: { rollouts: 0, scores: 0 }, rescored_from: { run_id: source.run_id, changed_examples: 3 } },
    });
  });

  it("survives executors that are killed while it scores, and scores what is left", async () => {
    const source = await settled(numbers("before", half), { num_examples: 8, rollouts_per_example: 16 });
    registerEnvironments([numbers("mended", () => 1)]);
    const { answer } = await asked({ environment_ids: ["numbers"], rescore: { run_id: source.run_id } });
    let puts = 0;
    fleet = new Fleet({
      model,
      onStore: async (call) => {
        const sent = await call.send();
        if (call.method === "create" && ++puts === 3) call.by.kill();
        return sent;
      },
      budget: { requests: 4 },
    });
    setVars(QUICK);
    const requests = model.total;
    const { config, status } = await fleet.settled(String(answer.evaluation_id));
    expect(status).toBe("COMPLETED");
    expect((await rowsOf(config)).map(({ reward }) => reward)).toEqual(Array.from({ length: 128 }, () => 1));
    expect(model.total).toBe(requests);
  });

  it("goes on after an interrupt with what is left to score, and asks the model nothing", async () => {
    const source = await settled(numbers("before", half));
    const before = await rowsOf(source);
    const requests = model.total;
    const gate = Promise.withResolvers<void>();
    const late = numbers("mended", async ({ answer }) => {
      if (Number(answer) >= 3) await gate.promise;
      return 1;
    });
    registerEnvironments([late]);
    delete (service as unknown as Record<string, unknown>).TEST_KEY;
    fleet = new Fleet({ model, budget: { requests: 4 } });
    const { answer } = await asked({ environment_ids: ["numbers"], rescore: { run_id: source.run_id } });
    const id = String(answer.evaluation_id);
    await until("some examples to be scored", async () => (await viewOf(id)).units.done === 3);
    expect(await run(id).interrupt()).toMatchObject({ ok: true });
    await until("its executor to leave", async () => (await viewOf(id)).executors === 0);
    expect(await viewOf(id)).toMatchObject({ suspended: true, units: { done: 3, open: 0 } });
    gate.resolve();
    expect(await asked({}, `evaluations/${id}/resume`)).toMatchObject({ status: 200 });
    const { status, config, rescored: after } = await fleet.settled(id);
    expect({ status, after }).toMatchObject({ status: "COMPLETED", after: { changed: 6, source: { avg_reward: 0.5, rollouts: 12 } } });
    const rows = await rowsOf(config);
    expect(rows.map(generated)).toEqual(before.map(generated));
    expect(rows.map(({ reward }) => reward)).toEqual(Array.from({ length: 12 }, () => 1));
    expect(model.total).toBe(requests);
    await expectNumbersOfRows(config);
  });

  it("has the examples that its folder has rows of, whichever of the data set they are, and can be scored again itself", async () => {
    const source = await settled(numbers("before", half), { num_examples: 8 });
    const held = (await rowsOf(source)).filter(({ example_id }) => [2, 5, 7].includes(example_id));
    const parts = [await uploaded(held.slice(0, 4)), await uploaded(held.slice(4))];
    const results = await upload(
      manifestText({
        parts,
        held: [
          [2, 2],
          [5, 5],
          [7, 7],
        ],
      }),
    );
    const worth = ({ answer }: RewardContext): number => Number(answer);
    const environment = numbers("mended", worth);
    registerEnvironments([environment]);
    const { answer } = await asked({
      environment_ids: ["numbers"],
      inference_model: "theirs",
      eval_config: { rollouts_per_example: 2 },
      rescore: { results, source: { run_id: "0a0a0a0a", env_id: "numbers" } },
    });
    fleet = new Fleet({ model });
    const { config, units } = await fleet.settled(String(answer.evaluation_id));
    expect(units).toMatchObject({ done: 3, total: 3 });
    const sizes = async (of: RunConfig) => {
      const { num_examples, edgewise } = await metadataOf(of);
      return { num_examples, from: (edgewise as { rescored_from: Record<string, unknown> }).rescored_from };
    };
    expect(await sizes(config)).toMatchObject({ num_examples: 3, from: { run_id: "0a0a0a0a", from_folder: true, examples: "data", changed_examples: 3 } });
    await fleet.close();
    const { config: twice } = await rescored(
      config,
      numbers("again", (context) => worth(context) + 1),
    );
    expect((await rowsOf(twice)).map(({ example_id, reward }) => [example_id, reward])).toEqual([2, 2, 5, 5, 7, 7].map((n) => [n, n + 1]));
    expect(await sizes(twice)).toMatchObject({ num_examples: 3, from: { run_id: config.run_id } });
    expect((await sizes(twice)).from).not.toHaveProperty("from_folder");
  });

  it("scores rows of another program by what they hold, from a folder that names no run", async () => {
    const rows = [3, 9].map((example_id) => ({
      ...{ example_id, rollout_index: 0, reward: 1, error: null, answer: "4" },
      prompt: [{ role: "user", content: "2+2" }],
      completion: [{ role: "assistant", content: example_id === 3 ? "4" : "5" }],
    }));
    const results = await upload(
      manifestText({
        parts: [await uploaded(rows)],
        held: [
          [3, 3],
          [9, 9],
        ],
      }),
    );
    registerEnvironments([numbers("exact", ({ completion, answer }) => Number(completion.at(-1)?.content === answer))]);
    const { answer } = await asked({
      environment_ids: ["numbers"],
      inference_model: "theirs",
      eval_config: { rollouts_per_example: 1 },
      rescore: { results, source: { env_id: "their-task" } },
    });
    model = new ScriptedModel();
    fleet = new Fleet({ model });
    const { status, config } = await fleet.settled(String(answer.evaluation_id));
    expect(status).toBe("COMPLETED");
    expect((await rowsOf(config)).map(({ example_id, reward }) => [example_id, reward])).toEqual([
      [3, 1],
      [9, 0],
    ]);
    expect((await metadataOf(config)).edgewise).toMatchObject({ rescored_from: { run_id: null, env_id: "their-task", examples: "rows", from_folder: true } });
    expect(model.total).toBe(0);
  });

  it("refuses a run that has not settled, one that is not there, and settings that say how rollouts are made", async () => {
    const source = await settled(numbers("before", half));
    const ask = (rescore: object, more: object = {}) => asked({ environment_ids: ["numbers"], rescore, ...more });
    expect(await ask({ run_id: "ffffffff" })).toMatchObject({ status: 404 });
    expect(await ask({ run_id: source.run_id }, { eval_config: { max_retries: 2 } })).toMatchObject({
      status: 422,
      answer: { detail: [{ loc: ["body", "eval_config", "max_retries"] }] },
    });
    const stopping = { stop_when: "halfwidth<0.05" };
    for (const eval_config of [stopping, { ...stopping, stop_alpha: 0.1 }, { num_examples: 2 }])
      expect(await ask({ run_id: source.run_id }, { eval_config })).toMatchObject({
        status: 422,
        answer: { detail: [{ loc: ["body", "eval_config", Object.keys(eval_config)[0]], msg: expect.stringContaining("leave") as string }] },
      });
    expect(await ask({ run_id: source.run_id }, { inference_model: "another" })).toMatchObject({ status: 422 });
    expect(await ask({})).toMatchObject({ status: 422 });
  });
});
