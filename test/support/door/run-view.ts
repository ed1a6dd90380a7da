import type { RunView } from "../../../durable-objects/run/control.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { emptyTotals } from "../../../src/metrics/totals.ts";

/** A run as the door is shown it. */
export const CONFIG: RunConfig = {
  version: 1,
  run_id: "0000abcd",
  name: null,
  env_id: "gsm8k",
  env_version: "0.1.0",
  env_args: {},
  model: "openai/gpt-4.1-mini",
  base_url: "http://127.0.0.1:8000/v1",
  api_key_var: "PRIME_API_KEY",
  api_client_type: "openai_chat_completions",
  num_examples: 2,
  rollouts_per_example: 2,
  max_concurrent: 32,
  sampling_args: { max_tokens: null },
  independent_scoring: false,
  max_retries: 0,
  timeout_minutes: 120,
  state_columns: [],
  hosted: {},
  attended: false,
  created_at: 1_790_000_000_000,
};

export function viewFor(config: RunConfig, changes: Partial<RunView> = {}): RunView {
  return {
    config,
    status: "RUNNING",
    phase: "open",
    suspended: false,
    generation: 1,
    failure: null,
    units: { total: 2, done: 0, open: 0, pending: 2 },
    totals: emptyTotals(),
    vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null },
    lanes: 0,
    executors: 0,
    grants: 0,
    lapses: 0,
    env_digest: null,
    dataset_digest: "d".repeat(64),
    pass_threshold: 0.5,
    seq: 0,
    created_at: config.created_at,
    started_at: null,
    ended_at: null,
    updated_at: config.created_at,
    ...changes,
  };
}
