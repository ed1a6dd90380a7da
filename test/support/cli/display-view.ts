import type { Evaluation, RunState } from "../../../src/cli/connection/api-types.ts";
import { type RunNumbers, RunView } from "../../../src/cli/display/run-view.ts";

export const displayState = (change: Partial<RunState> = {}): RunState => ({
  run_id: "1a2b3c4d",
  phase: "open",
  settled: false,
  suspended: false,
  done_units: 6,
  total_units: 20,
  done_rollouts: 12,
  total_rollouts: 40,
  owed_rollouts: 28,
  reward: 0.41666,
  errors: {},
  tokens: { input: 12_345, output: 678 },
  vitals: { in_flight: 4, retries: 3, waiting: 0, paused_until: null },
  seq: 1,
  env_version: "1",
  dataset_digest: null,
  ...change,
});

export const displayedEvaluation = (change: Partial<Evaluation["metadata"]> = {}): Evaluation => ({
  evaluation_id: "1a2b3c4d",
  name: "",
  status: "RUNNING",
  viewer_url: "http://127.0.0.1/",
  error_message: null,
  eval_config: { max_concurrent: 8 },
  metrics: {},
  created_at: "2026-11-21T12:00:00Z",
  started_at: null,
  finalized_at: null,
  metadata: {
    env_id: "gsm8k",
    model: "org/model",
    env_args: {},
    base_url: "https://api.example/v1",
    num_examples: 20,
    rollouts_per_example: 2,
    sampling_args: { n: 1, extra_body: {}, temperature: 0.5 },
    state_columns: [],
    pass_threshold: 0.5,
    ...change,
  },
  edgewise: displayState(),
});

export const NUMBERS: RunNumbers = {
  avg_reward: 0.4,
  avg_metrics: { exact: 0.25, format_reward: 1, num_turns: 2.5 },
  pass_at_k: { 1: 0.4, 2: 0.6 },
  pass_all_k: { 1: 0.4, 2: 0.2 },
  usage: { input_tokens: 1028.75, output_tokens: 56.5 },
  edgewise: { reward_ci95: [0.3, 0.55], n_clusters: 6 },
};

/** Of a run with some results, as the display knows it. */
export function runningView(label = "gsm8k", change: Partial<RunState> = {}): RunView {
  const view = new RunView(label);
  view.start(displayedEvaluation(), "/home/me/outputs/evals/gsm8k--org--model/1a2b3c4d", 0);
  view.update(displayState(change), 1000);
  view.numbers = NUMBERS;
  view.say({ level: "INFO", message: "20 examples x 2 rollouts pinned" }, 0);
  return view;
}
