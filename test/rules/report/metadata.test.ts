import { describe, expect, it } from "vitest";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { Aggregator } from "../../../src/metrics/aggregates.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { wilsonInterval } from "../../../src/metrics/wilson.ts";
import { buildMetadata, type MetadataInput, metadataText, type RunMetadata } from "../../../src/report/metadata.ts";

const CONFIG: RunConfig = {
  version: 1,
  run_id: "0a1b2c3d",
  name: null,
  env_id: "my-env",
  env_version: "0.2.0",
  env_args: { difficulty: "hard" },
  model: "openai/gpt-4.1-mini",
  base_url: "https://api.pinference.ai/api/v1",
  api_key_var: "SECRET_NAME",
  api_client_type: "openai_chat_completions",
  num_examples: -1,
  rollouts_per_example: 2,
  max_concurrent: 32,
  sampling_args: { max_tokens: null },
  independent_scoring: false,
  max_retries: 0,
  timeout_minutes: null,
  state_columns: [],
  hosted: {},
  attended: true,
  created_at: 0,
};

const rollout = (reward: number, rest: Partial<RolloutSummary> = {}): RolloutSummary => ({
  reward,
  error: null,
  input_tokens: 21,
  output_tokens: 9,
  truncated: false,
  metrics: { correct: reward, length: 11 + 7 * reward, num_turns: 1 },
  final_input_tokens: 21,
  final_output_tokens: 9,
  ...rest,
});

function metadataOf(units: readonly (readonly RolloutSummary[])[], rest: Partial<MetadataInput> = {}): RunMetadata {
  const aggregator = new Aggregator({ rolloutsPerExample: 2, passThreshold: 0.5 });
  for (const unit of units) aggregator.addUnit(unit);
  return buildMetadata({
    config: CONFIG,
    aggregates: aggregator.result(),
    status: "COMPLETED",
    time_ms: 1719.4,
    num_examples: 2,
    pass_threshold: 0.5,
    reward_range: [0, 1],
    env_sampling_args: {},
    tools: null,
    env_digest: "e".repeat(64),
    env_digests: null,
    dataset_digest: "d".repeat(64),
    dataset_name: "questions.jsonl",
    version: "0.1.0",
    ...rest,
  });
}

const UNITS = [
  [rollout(1), rollout(0)],
  [rollout(1), rollout(0)],
];

describe("metadata.json", () => {
  it("has the keys of the reference in its order, and one of ours at the end", () => {
    expect(JSON.stringify(metadataOf(UNITS), null, 1)).toBe(
      JSON.stringify(
        {
          env_id: "my-env",
          env_args: { difficulty: "hard" },
          model: "openai/gpt-4.1-mini",
          base_url: "https://api.pinference.ai/api/v1",
          num_examples: 2,
          rollouts_per_example: 2,
          sampling_args: { n: 1, extra_body: {}, max_tokens: null },
          time_ms: 1719.4,
          avg_reward: 0.5,
          avg_metrics: { correct: 0.5, length: 14.5, num_turns: 1 },
          avg_error: 0,
          pass_at_k: { "1": 0.5, "2": 1 },
          pass_all_k: { "1": 0.5, "2": 0 },
          pass_threshold: 0.5,
          usage: { input_tokens: 21, output_tokens: 9, final_input_tokens: 21, final_output_tokens: 9 },
          version_info: { vf_version: "edgewise 0.1.0", vf_commit: null, env_version: "0.2.0", env_commit: null },
          state_columns: [],
          tools: null,
          edgewise: {
            run_id: "0a1b2c3d",
            status: "COMPLETED",
            version: "0.1.0",
            env_version: "0.2.0",
            env_digest: "e".repeat(64),
            dataset_digest: "d".repeat(64),
            dataset_name: "questions.jsonl",
            settings: {
              sampling_args: { max_tokens: null },
              api_client_type: "openai_chat_completions",
              independent_scoring: false,
              headers: {},
              headers_from_state: {},
              replicas: [],
            },
            reward_stderr: null,
            reward_ci95: wilsonInterval(1, 2),
            reward_range: [0, 1],
            n_clusters: 2,
            metric_estimates: {
              correct: { n: 2, mean: 0.5, stderr: null, ci95: wilsonInterval(1, 2) },
              length: { n: 2, mean: 14.5, stderr: null, ci95: null },
              num_turns: { n: 2, mean: 1, stderr: null, ci95: null },
            },
            // Every example passes one of two, which says nothing of how examples differ.
            pass_at_k_ci95: { "1": null, "2": wilsonInterval(2, 2) },
            pass_all_k_ci95: { "1": null, "2": wilsonInterval(0, 2) },
            errored_rollouts: 0,
            truncated_rollouts: 0,
            reward_without_errors: 0.5,
            tokens_total: { input_tokens: 84, output_tokens: 36 },
          },
        },
        null,
        1,
      ),
    );
  });

  it("in a folder of the newer shape has seconds in the same place, and all else as it was", () => {
    const usual = metadataOf(UNITS);
    const newer = metadataOf(UNITS, { config: { ...CONFIG, results_shape: "0.1.14" } });
    expect(Object.keys(newer)).toEqual(Object.keys(usual).map((key) => (key === "time_ms" ? "time" : key)));
    expect(newer.time).toBeCloseTo(1.7194);
    expect({ ...newer, time: 0, time_ms: 0 }).toEqual({ ...usual, time: 0, time_ms: 0 });
  });

  it("merges sampling arguments: the run over the environment over the defaults, nulls kept", () => {
    const { sampling_args } = metadataOf(UNITS, {
      env_sampling_args: { temperature: 0.7, top_p: 0.9, extra_body: { min_p: 0.1 } },
      config: { ...CONFIG, sampling_args: { temperature: 0, max_tokens: null } },
    });
    expect(JSON.stringify(sampling_args)).toBe('{"n":1,"extra_body":{"min_p":0.1},"temperature":0,"top_p":0.9,"max_tokens":null}');
    const bounded = (run: object) =>
      metadataOf(UNITS, { env_sampling_args: { max_tokens: 10 }, config: { ...CONFIG, sampling_args: run as typeof CONFIG.sampling_args } }).sampling_args
        .max_tokens;
    expect([bounded({ max_tokens: null }), bounded({ max_tokens: 5 }), bounded({ max_tokens: null, max_completion_tokens: 7 })]).toEqual([10, 5, null]);
  });

  it("has no usage when no row reported any", () => {
    const silent = { input_tokens: 0, output_tokens: 0 };
    expect(metadataOf([[rollout(1, silent), rollout(0, silent)]]).usage).toBeNull();
    expect(metadataOf([[rollout(1, silent), rollout(0)]]).usage).toMatchObject({ input_tokens: 21, output_tokens: 9 });
  });

  it("is strict JSON from the first moment of a run on", () => {
    const metadata = metadataOf([], { status: "RUNNING", env_digest: null, dataset_digest: null, dataset_name: null, time_ms: 0 });
    expect(JSON.parse(JSON.stringify(metadata))).toEqual(metadata);
    expect(metadata).toMatchObject({ avg_reward: 0, avg_metrics: {}, avg_error: 0, pass_at_k: {}, pass_all_k: {}, usage: null });
    expect(metadata.edgewise).toMatchObject({ status: "RUNNING", n_clusters: 0, reward_without_errors: null });
  });

  it("tells errors apart from results", () => {
    const { avg_reward, avg_error, edgewise } = metadataOf([
      [rollout(1), rollout(0, { error: "timeout" })],
      [rollout(0), rollout(0, { error: "rate_limited" })],
    ]);
    expect([avg_reward, avg_error, edgewise.errored_rollouts, edgewise.reward_without_errors]).toEqual([0.25, 0.5, 2, 0.5]);
    expect(edgewise.reward_ci95?.[0]).toBeLessThan(0.25);
    expect(edgewise.error_bounds).toEqual({ answered: 0.5, worst: 0.25, best: 0.75, unresolved: 0.5 });
  });

  it("counts the rollouts whose answers were cut off", () => {
    const { edgewise } = metadataOf([
      [rollout(1, { truncated: true }), rollout(0)],
      [rollout(0, { truncated: true }), rollout(0, { truncated: true })],
    ]);
    expect(edgewise.truncated_rollouts).toBe(3);
  });

  it("says nothing of where the key is", () => {
    expect(JSON.stringify(metadataOf(UNITS))).not.toContain("SECRET_NAME");
  });

  it("writes floats where the Python library has them, and counts as counts", () => {
    const text = metadataText(
      metadataOf(
        [
          [rollout(1), rollout(1)],
          [rollout(0), rollout(0)],
        ],
        { config: { ...CONFIG, sampling_args: { max_tokens: 100, temperature: 1 } }, time_ms: 2000 },
      ),
    );
    for (const part of [
      '"num_examples":2,"rollouts_per_example":2,"sampling_args":{"n":1,"extra_body":{},"max_tokens":100,"temperature":1.0},"time_ms":2000.0,"avg_reward":0.5',
      '"avg_metrics":{"correct":0.5,"length":14.5,"num_turns":1.0},"avg_error":0.0,"pass_at_k":{"1":0.5,"2":0.5},"pass_all_k":{"1":0.5,"2":0.5},"pass_threshold":0.5',
      '"usage":{"input_tokens":21.0,"output_tokens":9.0,"final_input_tokens":21.0,"final_output_tokens":9.0}',
      '"reward_range":[0.0,1.0],"n_clusters":2,"metric_estimates":{"correct":{"n":2,"mean":0.5,"stderr":0.5,"ci95":[0.0,1.0]}',
      '"errored_rollouts":0,"truncated_rollouts":0,"reward_without_errors":0.5,"tokens_total":{"input_tokens":84,"output_tokens":36}',
    ])
      expect(text).toContain(part);
    expect(text.endsWith("}\n")).toBe(true);
  });
});
