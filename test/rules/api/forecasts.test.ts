import { describe, expect, it } from "vitest";
import type { RunProjection } from "../../../durable-objects/registry/registry-control.ts";
import type { RunView } from "../../../durable-objects/run/control.ts";
import { outputKey } from "../../../r2-layout/keys.ts";
import { forecastAnswer } from "../../../src/api/forecasts/forecast-schemas.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { emptyTotals } from "../../../src/metrics/totals.ts";
import { type Door, openDoor } from "../../support/door/fake-ports.ts";

const PRICES = [{ model: "m", input_usd_per_mtok: 1000, output_usd_per_mtok: 10_000 }];
const creation = (config: JsonObject = {}): JsonObject => ({
  environment_ids: ["gsm8k"],
  inference_model: "m",
  eval_config: { num_examples: 100, rollouts_per_example: 2, prices: PRICES, ...config },
});

/** One call of 100 + 10 tokens and a second; `more`: other fields of the row. */
const row = (example_id: number, rollout_index: number, more: JsonObject = {}): JsonObject => ({
  ...{ example_id, rollout_index, reward: 1, error: null, completion: [{ role: "assistant", content: "4" }] },
  timing: { generation_ms: 900, scoring_ms: 100, total_ms: 1000 },
  token_usage: { input_tokens: 100, output_tokens: 10 },
  ...more,
});
const rowsOf = (examples: number, rollouts: number, more: JsonObject = {}): readonly JsonObject[] =>
  Array.from({ length: examples * rollouts }, (_, i) => row(Math.floor(i / rollouts), i % rollouts, more));

/** A run of `body` that has ended with these rows, the newest of the list. */
async function ended(door: Door, body: JsonObject, rows: readonly JsonObject[], view: Partial<RunView> = {}): Promise<string> {
  const { evaluation_id: id } = (await (await door.call("POST", "/hosted-evaluations", body)).json()) as { evaluation_id: string };
  const run = door.run(id);
  if (run.state === null) throw new Error("the run was not created");
  const { env_id, model, num_examples, rollouts_per_example } = run.state.config;
  const examples = new Set(rows.map(({ example_id }) => example_id)).size;
  run.state = {
    ...run.state,
    ...{ phase: "settled", status: "COMPLETED", totals: { ...emptyTotals(), rollouts: rows.length } },
    units: { total: examples, done: examples, open: 0, pending: 0 },
    ...view,
  };
  door.store.objects.set(outputKey(env_id, model, id, "results.jsonl"), new TextEncoder().encode(rows.map((each) => `${JSON.stringify(each)}\n`).join("")));
  const listed = {
    run_id: id,
    version: 1,
    env_id,
    model,
    name: null,
    status: run.state.status,
    active: false,
    settled: true,
    num_examples,
    rollouts_per_example,
  };
  const counted = { total_rollouts: rows.length, done_rollouts: rows.length, avg_reward: 1, error_message: null, created_at: 0, updated_at: 0 };
  door.registry.projections = [{ ...listed, ...counted } as RunProjection, ...door.registry.projections];
  return id;
}

async function forecast(door: Door, body: JsonObject, pilot?: string) {
  const response = await door.call("POST", `/evaluation-forecasts${pilot === undefined ? "" : `?pilot=${pilot}`}`, body);
  const answer: unknown = await response.json();
  if (response.status !== 200) return { status: response.status, problem: JSON.stringify(answer) };
  expect(forecastAnswer.parse(answer)).toEqual(answer);
  return { status: 200, ...(answer as { evaluations: readonly Record<string, unknown>[] }).evaluations[0] };
}

describe("a forecast from finished runs", () => {
  it("is of the whole run, at the prices of now, and creates nothing", async () => {
    const door = openDoor();
    const id = await ended(door, creation({ num_examples: 10 }), rowsOf(10, 2));
    const runs = door.runs.size;
    expect(await forecast(door, creation())).toMatchObject({
      ...{ environment: "gsm8k", model: "m", num_examples: 100, forecast_examples: 100, rollouts_per_example: 2, max_concurrent: 32 },
      from: { runs: [id], examples: 10, rollouts: 20 },
      forecast: {
        calls: { spent: 0, expected: 200 },
        input_tokens: { expected: 20_000 },
        output_tokens: { expected: 2000 },
        judge_calls: { expected: 0 },
        // 200 times 100 tokens at a thousandth of a dollar, and 10 at a hundredth.
        cost_usd: { spent: 0, expected: expect.closeTo(40, 6) },
        // 200 rollouts of a second on 32 lanes, and the half of the last one.
        seconds: { expected: expect.closeTo(200 / 32 + 0.5, 6) },
      },
    });
    expect(door.runs.size).toBe(runs);
    const dearer = { ...PRICES[0], output_usd_per_mtok: 20_000 };
    expect(await forecast(door, creation({ prices: [dearer] as unknown as JsonObject[] }))).toMatchObject({
      forecast: { cost_usd: { expected: expect.closeTo(60, 6) } },
    });
  });

  it("takes what the row says that it cost where it was priced alike, judges with it, and knows no cost where a judge's is not known", async () => {
    const door = openDoor();
    const judges = { requests: 1, input_tokens: 50, output_tokens: 5 };
    const cost = { requests: 1, input_usd: 0.25, output_usd: 0.25, total_usd: 0.5 };
    const usage_cost = { input_usd: 0.01, output_usd: 0.09, total_usd: 0.1 };
    await ended(door, creation({ num_examples: 10 }), rowsOf(10, 2, { usage_cost, judge_usage: { ...judges, cost } }));
    expect(await forecast(door, creation())).toMatchObject({
      forecast: { judge_calls: { expected: 200 }, judge_input_tokens: { expected: 10_000 }, cost_usd: { expected: expect.closeTo(120, 6) } },
    });
    await ended(door, creation({ num_examples: 10 }), rowsOf(10, 2, { usage_cost, judge_usage: judges }));
    expect(await forecast(door, creation())).toMatchObject({ forecast: { cost_usd: null, judge_calls: { expected: 200 } } });
  });

  it("takes what rows of a run in batches say at twice that, what is in the server's cache with it, and no time of them", async () => {
    const door = openDoor();
    const usage_cost = { input_usd: 0.01, output_usd: 0.04, total_usd: 0.05 };
    const { state, ...run } = door.run(await ended(door, creation({ num_examples: 10 }), rowsOf(10, 2, { usage_cost })));
    if (state === null) throw new Error("the run was not created");
    Object.assign(door.run(state.config.run_id), { ...run, state: { ...state, config: { ...state.config, batch: true } } });
    expect(await forecast(door, creation())).toMatchObject({ forecast: { cost_usd: { expected: expect.closeTo(20, 6) }, seconds: null } });
  });

  it("has calls, tokens and time where nobody knows the price", async () => {
    const door = openDoor();
    await ended(door, creation({ num_examples: 10, prices: [] }), rowsOf(10, 2));
    expect(await forecast(door, creation({ prices: [] }))).toMatchObject({ forecast: { cost_usd: null, calls: { expected: 200 } } });
  });

  it("is from runs of the same environment, arguments, model, address and sampling that completed, and from nothing else", async () => {
    const door = openDoor();
    const others: readonly JsonObject[] = [
      { sampling_args: { temperature: 1 } },
      { extra_env_kwargs: { max_turns: 3 } },
      { api_client_type: "openai_completions" },
    ];
    for (const other of others) await ended(door, creation(other), rowsOf(10, 2));
    await ended(door, { ...creation(), inference_model: "other" }, rowsOf(10, 2));
    const elsewhere = door.run(await ended(door, creation(), rowsOf(10, 2)));
    if (elsewhere.state !== null) elsewhere.state = { ...elsewhere.state, config: { ...elsewhere.state.config, base_url: "https://elsewhere.example/v1" } };
    await ended(door, creation(), rowsOf(10, 2), { status: "FAILED" });
    expect(await forecast(door, creation())).toMatchObject({ from: { runs: [], examples: 0, rollouts: 0 }, forecast: null, forecast_examples: null });
    const same = await ended(door, creation({ num_examples: 10, rollouts_per_example: 1, max_concurrent: 4, state_columns: ["x"] }), rowsOf(10, 1));
    expect(await forecast(door, creation())).toMatchObject({ from: { runs: [same], examples: 10, rollouts: 10 }, forecast: { calls: { expected: 200 } } });
  });

  it("has of each example the newest row, of as many attempts as it will have, and none from fewer than five examples", async () => {
    const door = openDoor();
    const older = await ended(door, creation(), [...rowsOf(8, 3, { token_usage: { input_tokens: 1000, output_tokens: 0 } })]);
    const newer = await ended(door, creation(), rowsOf(4, 3));
    expect(await forecast(door, creation())).toMatchObject({ from: { runs: [newer, older], examples: 8, rollouts: 16 } });
    const few = openDoor();
    await ended(few, creation(), rowsOf(4, 3));
    expect(await forecast(few, creation())).toMatchObject({ from: { examples: 4 }, forecast: null });
  });

  it("is of a hundred examples where all are asked for and nobody knows how many there are", async () => {
    const door = openDoor();
    await ended(door, creation({ num_examples: 10 }), rowsOf(10, 2));
    expect(await forecast(door, creation({ num_examples: -1 }))).toMatchObject({
      num_examples: -1,
      forecast_examples: 100,
      forecast: { calls: { expected: 200 } },
    });
    await ended(door, creation({ num_examples: -1 }), rowsOf(12, 2));
    expect(await forecast(door, creation({ num_examples: -1 }))).toMatchObject({
      num_examples: 12,
      forecast_examples: 12,
      forecast: { calls: { expected: 24 } },
    });
  });

  it("is no faster than the limits that are given", async () => {
    const door = openDoor();
    await ended(door, creation({ num_examples: 10 }), rowsOf(10, 2));
    const limits = [{ api_base_url: "https://models.example/v1", requests_per_minute: 20 }];
    expect(await forecast(door, creation({ limits }))).toMatchObject({ forecast: { seconds: { expected: 600 } } });
  });
});

describe("a forecast from a pilot", () => {
  it("counts what the pilot took as spent", async () => {
    const door = openDoor();
    const pilot = await ended(door, creation({ num_examples: 10 }), rowsOf(10, 2));
    expect(await forecast(door, creation(), pilot)).toMatchObject({
      from: { runs: [pilot], examples: 10 },
      forecast: { calls: { spent: 20, expected: 200 }, cost_usd: { spent: expect.closeTo(4, 6), expected: expect.closeTo(40, 6) } },
    });
  });

  it("has answers of a cache as if they had been asked for, and as nothing spent", async () => {
    const door = openDoor();
    const free = { usage_cost: { input_usd: 0, output_usd: 0, total_usd: 0 }, cache_usage: { calls: 1, cached: 1, input_tokens: 100, output_tokens: 10 } };
    const pilot = await ended(door, creation({ num_examples: 10 }), rowsOf(10, 2, free));
    expect(await forecast(door, creation(), pilot)).toMatchObject({ forecast: { cost_usd: { spent: 0, expected: expect.closeTo(36, 6) } } });
    // Of other runs they say too little: their times are those of nobody.
    expect(await forecast(door, creation())).toMatchObject({ from: { examples: 0 }, forecast: null });
  });

  it("is refused where the pilot is another evaluation, is not there, or has not ended, and where several evaluations share it", async () => {
    const door = openDoor();
    const pilot = await ended(door, creation({ num_examples: 10 }), rowsOf(10, 2));
    expect(await forecast(door, creation({ sampling_args: { temperature: 1 } }), pilot)).toMatchObject({
      status: 422,
      problem: expect.stringContaining("sampling_args"),
    });
    expect(await forecast(door, creation(), "0000ffff")).toMatchObject({ status: 404 });
    expect(await forecast(door, creation(), "../..")).toMatchObject({ status: 422 });
    const run = door.run(pilot);
    if (run.state !== null) run.state = { ...run.state, phase: "open" };
    expect(await forecast(door, creation(), pilot)).toMatchObject({ status: 409 });
    expect(await forecast(door, { ...creation(), environment_ids: ["gsm8k", "gsm8k"] }, pilot)).toMatchObject({ status: 422 });
    expect(await forecast(door, { ...creation(), environment_ids: ["nope"] })).toMatchObject({ status: 404 });
  });
});
