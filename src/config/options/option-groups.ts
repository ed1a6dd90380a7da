import type { OPTIONS, OptionName } from "./options.ts";

/** What options are about, in the order in which people are shown them. */
export const OPTION_GROUPS = [
  "environment",
  "model",
  "numbers",
  "sampling",
  "speed",
  "stopping",
  "money",
  "statistics",
  "push",
  "access",
  "log",
  "command",
] as const;
export type OptionGroup = (typeof OPTION_GROUPS)[number];

/** Options that a creation carries. */
type OfCreation = { [Name in OptionName]: (typeof OPTIONS)[Name]["http"] extends null ? never : Name }[OptionName];

/** What is not here is about a command and its terminal. */
const GROUPS: Readonly<Record<OfCreation, OptionGroup>> & Readonly<Partial<Record<OptionName, OptionGroup>>> = {
  env_args: "environment",
  extra_env_kwargs: "environment",
  timeout: "environment",
  sandbox: "environment",
  model: "model",
  endpoint_id: "model",
  provider: "model",
  api_base_url: "model",
  api_key_var: "model",
  api_client_type: "model",
  headers: "model",
  headers_from_state: "model",
  num_examples: "numbers",
  rollouts_per_example: "numbers",
  shuffle: "numbers",
  shuffle_seed: "numbers",
  order: "numbers",
  sampling_args: "sampling",
  max_tokens: "sampling",
  temperature: "sampling",
  max_concurrent: "speed",
  max_concurrent_total: "speed",
  max_concurrent_generation: "speed",
  max_concurrent_scoring: "speed",
  priority: "speed",
  limits: "speed",
  num_workers: "speed",
  no_interleave_scoring: "speed",
  stop_when: "stopping",
  stop_alpha: "stopping",
  max_retries: "stopping",
  timeout_minutes: "stopping",
  stall_minutes: "stopping",
  max_cost: "money",
  prices: "money",
  cache: "money",
  cache_days: "money",
  batch: "money",
  independent_scoring: "statistics",
  cluster_by: "statistics",
  state_columns: "statistics",
  save_to_hf_hub: "push",
  hf_hub_dataset_name: "push",
  hf_hub_public: "push",
  allow_sandbox_access: "access",
  allow_instances_access: "access",
  allow_tunnel_access: "access",
  custom_secrets: "access",
  eval_name: "log",
  heartbeat_url: "log",
  monitor: "log",
  verbose: "log",
};

export const groupOf = (name: OptionName): OptionGroup => GROUPS[name] ?? "command";
