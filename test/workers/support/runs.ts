import { expect } from "vitest";
import type { ImportSource, RunView } from "../../../durable-objects/run/control.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { bootOf } from "../../../src/env.ts";
import { Aggregator } from "../../../src/metrics/aggregates.ts";
import { summaryOfRow } from "../../../src/metrics/row-summary.ts";
import { addUnit, emptyTotals } from "../../../src/metrics/totals.ts";
import { outputKey } from "../../../r2-layout/keys.ts";
import { registry, run, service, until } from "./service.ts";

let drawn = 0;
/** An id no other test of this file has. */
export const newRunId = (): string => (0xa0000000 + ++drawn).toString(16);

export function configOf(changes: Partial<RunConfig> = {}): RunConfig {
  return {
    version: 1,
    run_id: newRunId(),
    name: null,
    env_id: "reverse-text",
    env_version: "1.0.0",
    env_args: {},
    model: "scripted",
    base_url: "http://127.0.0.1:9/v1",
    api_key_var: "TEST_KEY",
    api_client_type: "openai_chat_completions",
    num_examples: 20,
    rollouts_per_example: 1,
    max_concurrent: 32,
    sampling_args: { max_tokens: null },
    independent_scoring: false,
    max_retries: 0,
    timeout_minutes: null,
    state_columns: [],
    hosted: {},
    attended: false,
    created_at: Date.now(),
    ...changes,
  };
}

/** Reserves the id and creates the run, as the HTTP door does. */
export async function createRun(changes: Partial<RunConfig> = {}, source: ImportSource | null = null): Promise<RunConfig> {
  const config = configOf(changes);
  const reserved = await registry().reserve({ candidates: [config.run_id], idempotency_key: null, body_digest: "", now: Date.now() });
  expect(reserved).toMatchObject({ ok: true });
  expect(await run(config.run_id).create({ config, boot: bootOf(service), import: source })).toMatchObject({ ok: true });
  return config;
}

export async function viewOf(runId: string): Promise<RunView> {
  const view = await run(runId).view();
  if (view === null) throw new Error(`run ${runId} is gone`);
  return view;
}

export const whenSettled = (runId: string, ms?: number): Promise<RunView> =>
  until(
    `run ${runId} to settle`,
    async () => {
      const view = await viewOf(runId);
      return view.phase === "settled" ? view : null;
    },
    ms,
  );

export type ResultRow = JsonObject & { readonly example_id: number; readonly rollout_index: number; readonly reward: number };

/** `results.jsonl` of a settled run, line by line. */
export async function rowsOf({ env_id, model, run_id }: RunConfig): Promise<readonly ResultRow[]> {
  const object = await service.BUCKET.get(outputKey(env_id, model, run_id, "results.jsonl"));
  if (object === null) throw new Error(`run ${run_id} has no results.jsonl`);
  return linesOf(await object.text());
}

const linesOf = (text: string): ResultRow[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ResultRow);

export async function metadataOf({ env_id, model, run_id }: RunConfig): Promise<Record<string, unknown>> {
  const object = await service.BUCKET.get(outputKey(env_id, model, run_id, "metadata.json"));
  if (object === null) throw new Error(`run ${run_id} has no metadata.json`);
  return object.json();
}

/** `example/rollout` of every row that a complete run of `examples` must have, in order. */
export const everyRollout = (examples: number, rollouts: number): string[] =>
  Array.from({ length: examples * rollouts }, (_, index) => `${Math.floor(index / rollouts)}/${index % rollouts}`);

export const namesOf = (rows: readonly ResultRow[]): string[] => rows.map((row) => `${row.example_id}/${row.rollout_index}`);

/** What of a row does not depend on when and by whom it was made. */
export const essenceOf = ({ example_id, rollout_index, prompt, completion, answer, reward, error, metrics }: ResultRow): JsonObject => ({
  example_id,
  rollout_index,
  prompt: prompt ?? null,
  completion: completion ?? null,
  answer: answer ?? null,
  reward,
  error: error ?? null,
  metrics: metrics ?? null,
});

/** The numbers that the Run keeps, and those of `metadata.json`, are those of the rows. */
export async function expectNumbersOfRows(config: RunConfig): Promise<void> {
  const rows = await rowsOf(config);
  const view = await viewOf(config.run_id);
  const summaries = rows.map((row) => summaryOfRow(row));
  const totals = addUnit(emptyTotals(), summaries);
  const { reward_sum, reward_sum_without_errors, metrics, ...counts } = view.totals;
  expect(counts).toEqual({
    rollouts: totals.rollouts,
    input_tokens: totals.input_tokens,
    output_tokens: totals.output_tokens,
    truncated: totals.truncated,
    errors: totals.errors,
    ...(totals.marked === undefined ? {} : { marked: totals.marked }),
    ...(totals.judges === undefined ? {} : { judges: totals.judges }),
    ...(totals.cache === undefined ? {} : { cache: totals.cache }),
  });
  expect(reward_sum).toBeCloseTo(totals.reward_sum, 9);
  expect(reward_sum_without_errors).toBeCloseTo(totals.reward_sum_without_errors, 9);
  expect(Object.keys(metrics).sort()).toEqual(Object.keys(totals.metrics).sort());
  for (const [name, { sum, count }] of Object.entries(totals.metrics)) {
    expect(metrics[name]?.count).toBe(count);
    expect(metrics[name]?.sum).toBeCloseTo(sum, 9);
  }
  const aggregator = new Aggregator({ rolloutsPerExample: config.rollouts_per_example, passThreshold: view.pass_threshold });
  for (const unit of Map.groupBy(rows, (row) => row.example_id).values()) aggregator.addUnit(unit.map((row) => summaryOfRow(row)));
  const { avg_reward, avg_metrics, avg_error, pass_at_k, pass_all_k, usage } = aggregator.result();
  expect(await metadataOf(config)).toMatchObject({ avg_reward, avg_metrics, avg_error, pass_at_k, pass_all_k, usage });
}

/** Exactly the rows of a run that ended well, in order, each once, and numbers that are theirs. */
export async function expectComplete(config: RunConfig, examples = config.num_examples): Promise<readonly ResultRow[]> {
  const rows = await rowsOf(config);
  expect(namesOf(rows)).toEqual(everyRollout(examples, config.rollouts_per_example));
  const view = await viewOf(config.run_id);
  expect(view).toMatchObject({ status: "COMPLETED", units: { total: examples, done: examples, open: 0, pending: 0 }, executors: 0 });
  await expectNumbersOfRows(config);
  return rows;
}
