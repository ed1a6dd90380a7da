import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { evaluation } from "../../../src/api/response-schemas.ts";
import { distribution, errorGroups, timeline } from "../../../src/api/summaries/summary-schemas.ts";
import type { Env } from "../../../src/env.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { operations } from "../../../src/operations.ts";
import { Fleet } from "../support/fleet.ts";
import { createRun } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { rawRun, run, service, setVars, STEADY } from "../support/service.ts";
import { storedRun } from "../support/stored-run.ts";

const app = createApp(portsOf);
const local = { ...service, LOCAL: "1", BOOT_ID: "boot" } as Env;
const get = async (path: string): Promise<Response> => app.request(`http://localhost/api/v1${path}`, {}, local);
const spread = async (id: string, query = "") => distribution.parse(await (await get(`/evaluations/${id}/distribution${query}`)).json());
const errors = async (id: string) => errorGroups.parse(await (await get(`/evaluations/${id}/errors`)).json());

const course = async (id: string) => timeline.parse(await (await get(`/evaluations/${id}/timeline`)).json());

beforeEach(() => setVars(STEADY));
afterEach(() => reset());

const MESSAGE = "ModelError('the server said no')";
/** Of every eleventh example the second attempt has an error, of which its row tells. */
const failed = (unit: number, rollout: number): boolean => unit % 11 === 5 && rollout === 1;
const line = (unit: number, rollout: number): string =>
  `${JSON.stringify({
    example_id: unit,
    rollout_index: rollout,
    reward: 1,
    ...(failed(unit, rollout)
      ? { error: { error: "ModelError", error_chain_repr: `${MESSAGE} ${unit}`, error_chain_str: "ModelError", code: "provider_error" } }
      : {}),
  })}\n`;
const summaryOf = (unit: number, rollout: number): Partial<RolloutSummary> => ({
  reward: failed(unit, rollout) ? 0 : (unit % 5) / 4,
  error: failed(unit, rollout) ? "provider_error" : null,
  metrics: rollout === 0 ? { exact: unit % 2 } : {},
});

describe("what the rows of a run add up to", { timeout: 60_000 }, () => {
  it("is told of a running run and after an eviction the same; rows with errors are in no bin", async () => {
    const { run_id } = await storedRun(110, { lineOf: line, summaryOf, rollouts: 2, events: true, isDone: (unit) => unit % 10 !== 9 });
    const told = await spread(run_id, "?bins=4");
    expect(told).toMatchObject({ metric: "reward", rollouts: 198, errored: 9, n: 189, min: 0, max: 1, zero_one: false });
    expect(told.bins.map(([lo, hi]) => [lo, hi])).toEqual([
      [0, 0.25],
      [0.25, 0.5],
      [0.5, 0.75],
      [0.75, 1],
    ]);
    expect(await spread(run_id, "?metric=exact")).toMatchObject({
      n: 99,
      zero_one: true,
      bins: [
        [0, 0, expect.any(Number)],
        [1, 1, expect.any(Number)],
      ],
    });
    await evictDurableObject(rawRun(run_id));
    expect(await spread(run_id, "?bins=4")).toEqual(told);
  });

  it("names the first example of each error in the order of the data set, with its message, though examples were permuted", async () => {
    const { run_id } = await storedRun(110, { lineOf: line, summaryOf, rollouts: 2, permuted: true });
    expect(await errors(run_id)).toEqual({
      rollouts: 220,
      errors: [
        {
          code: "provider_error",
          count: 10,
          category: "provider",
          resumable: true,
          first: { example: 5, rollout: 1, example_id: 5, message: `${MESSAGE} 5` },
        },
      ],
    });
  });

  it("is read once: what is committed later is counted on", async () => {
    const { run_id } = await storedRun(2_000, { lineOf: line, summaryOf, rollouts: 2, events: true });
    await spread(run_id);
    const before = operations().do_rows_read;
    expect(await spread(run_id, "?metric=exact")).toMatchObject({ n: 2_000 });
    expect(operations().do_rows_read - before).toBeLessThan(50);
  });

  it("grows while a run is played, and is whole when it has settled", async () => {
    const config = await createRun({ num_examples: 12, rollouts_per_example: 2 });
    expect(await spread(config.run_id)).toEqual({ metric: "reward", rollouts: 0, n: 0, errored: 0, min: null, max: null, zero_one: false, bins: [] });
    expect(await errors(config.run_id)).toEqual({ rollouts: 0, errors: [] });
    const fleet = new Fleet({ model: new ScriptedModel({ reply: ({ example }) => (example === 7 ? { kind: "status", status: 400 } : null) }) });
    try {
      await run(config.run_id).poke();
      await fleet.settled(config.run_id, 30_000);
    } finally {
      await fleet.close();
    }
    const { rollouts, n, errored, bins } = await spread(config.run_id);
    expect([rollouts, n, errored, bins.reduce((sum, [, , count]) => sum + count, 0)]).toEqual([24, 22, 2, 22]);
    const [group, ...others] = (await errors(config.run_id)).errors;
    expect([group, others]).toMatchObject([
      { code: "bad_request", count: 2, category: "model", resumable: false, first: { example: 7, rollout: 0, example_id: 7 } },
      [],
    ]);
    expect(group?.first?.message).toContain("400");
  });

  it("is refused in words: an unknown run, one of another team, a metric that no row has, too many bins", async () => {
    const { run_id } = await storedRun(5, { lineOf: line, summaryOf });
    for (const path of ["distribution", "errors"]) expect((await get(`/evaluations/0000dead/${path}`)).status).toBe(404);
    const refusal = await get(`/evaluations/${run_id}/distribution?metric=nothing`);
    expect([refusal.status, await refusal.json()]).toMatchObject([
      422,
      { detail: [{ loc: ["query", "metric"], msg: "must be of reward, exact: no row has nothing" }] },
    ]);
    const tooMany = await get(`/evaluations/${run_id}/distribution?bins=51`);
    expect([tooMany.status, await tooMany.text()]).toEqual([422, expect.stringContaining("bins")]);
  });
});

describe("how a run went", { timeout: 60_000 }, () => {
  /** A run of the scripted model that has settled. */
  const played = async (changes: Parameters<typeof createRun>[0]): Promise<string> => {
    const { run_id } = await createRun(changes);
    const fleet = new Fleet({ model: new ScriptedModel() });
    try {
      await run(run_id).poke();
      await fleet.settled(run_id, 30_000);
    } finally {
      await fleet.close();
    }
    return run_id;
  };

  it("is sampled from its beginning to its end, and read by an object that has just woken up", async () => {
    const { run_id: young } = await createRun({ num_examples: 2 });
    expect(await course(young)).toMatchObject({ step_ms: 5_000, t: [] });
    const id = await played({ num_examples: 12, rollouts_per_example: 2, max_concurrent: 4 });
    const went = await course(id);
    expect(went.t.length).toBeGreaterThanOrEqual(2);
    expect([went.done[0], went.done.at(-1), went.limit.at(-1), went.generation.at(-1)]).toEqual([0, 24, 4, 1]);
    const { metrics, edgewise } = evaluation.parse(await (await get(`/evaluations/${id}`)).json());
    expect(went.reward.at(-1)).toBeCloseTo(metrics.reward ?? Number.NaN, 5);
    expect([went.lo.at(-1), went.hi.at(-1)]).toEqual(edgewise.reward_ci95?.map((edge) => Number(edge.toPrecision(6))));
    expect(went.input_tokens.at(-1)).toBe(edgewise.tokens.input);
    for (const list of Object.values(went).filter(Array.isArray)) expect(list).toHaveLength(went.t.length);
    await evictDurableObject(rawRun(id));
    expect(await course(id)).toEqual(went);
    // Looks, and whatever happens to a run that rests, take no further ones.
    await run(id).poke();
    expect(await course(id)).toEqual(went);
  });

  it("is one row of its tables, however often it is sampled", async () => {
    const id = await played({ num_examples: 4 });
    const rows = await runInDurableObject(rawRun(id), (_, { storage }) => storage.sql.exec("SELECT value FROM record WHERE key = 'timeline'").toArray());
    expect(rows).toHaveLength(1);
    expect(JSON.parse(String(rows[0]?.value))).toMatchObject({ version: 1 });
  });

  it("is not known of a run that a version of before made, which its address says; a version that nobody knows is refused by name", async () => {
    const id = await played({ num_examples: 2 });
    const write = async (statement: string): Promise<void> => {
      await runInDurableObject(rawRun(id), (_, { storage }) => void storage.sql.exec(statement));
      await evictDurableObject(rawRun(id));
    };
    await write("UPDATE record SET value = '{\"version\":2}' WHERE key = 'timeline'");
    const later = await get(`/evaluations/${id}/timeline`);
    expect([later.status, await later.json()]).toMatchObject([500, { code: "stored_version_unknown" }]);
    // The run itself goes on, and what is stored there stays.
    await run(id).poke();
    expect((await get(`/evaluations/${id}`)).status).toBe(200);
    expect((await get(`/evaluations/${id}/timeline`)).status).toBe(500);
    await write("DELETE FROM record WHERE key = 'timeline'");
    const before = await get(`/evaluations/${id}/timeline`);
    expect([before.status, await before.json()]).toMatchObject([404, { code: "not_found", hint: expect.stringContaining("resume") }]);
    expect((await get("/evaluations/0000dead/timeline")).status).toBe(404);
  });
});

/** What another team asks for, and who has pushed its rows. */
describe("summaries of other runs", { timeout: 60_000 }, () => {
  it("are of no other team", async () => {
    const { run_id } = await storedRun(5, { lineOf: line, summaryOf });
    for (const path of ["distribution", "errors", "timeline"]) {
      const asked = await app.request(`http://localhost/api/v1/evaluations/${run_id}/${path}`, { headers: { "x-edgewise-team": "acme" } }, local);
      expect([path, asked.status]).toEqual([path, 404]);
    }
  });

  it("are there of an evaluation that was pushed, but for how it went", async () => {
    const sent = { name: "pushed", environments: [{ id: "gsm8k" }], model_name: "m", framework: "verifiers" };
    const call = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
      const text = JSON.stringify(body);
      const init = { method, headers: { "content-type": "application/json", "content-length": String(text.length) }, body: text };
      const response = await app.request(`http://localhost/api/v1${path}`, init, local);
      expect([response.status, method, path]).toEqual([200, method, path]);
      return response.json();
    };
    const { evaluation_id: id } = (await call("POST", "/evaluations/", sent)) as { evaluation_id: string };
    const samples = [0, 1, 2].map((example_id) => ({
      example_id,
      reward: example_id / 2,
      ...{ prompt: [{ role: "user", content: "?" }], completion: [{ role: "assistant", content: "so" }], metrics: {} },
      ...(example_id === 2 ? { error: { error: "ModelError", error_chain_repr: MESSAGE, error_chain_str: "ModelError", code: "provider_error" } } : {}),
    }));
    await call("POST", `/evaluations/${id}/samples`, { samples });
    await call("POST", `/evaluations/${id}/finalize`, {});
    const fleet = new Fleet({ model: new ScriptedModel() });
    try {
      await run(id).poke();
      await fleet.settled(id, 30_000);
    } finally {
      await fleet.close();
    }
    expect(await spread(id)).toMatchObject({ rollouts: 3, n: 2, errored: 1, min: 0, max: 0.5 });
    expect((await errors(id)).errors).toMatchObject([{ code: "provider_error", resumable: false, first: { example: 2, example_id: 2, message: MESSAGE } }]);
    expect((await get(`/evaluations/${id}/timeline`)).status).toBe(404);
  });
});
