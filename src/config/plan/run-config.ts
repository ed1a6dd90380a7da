import type { RunPrices } from "../../prices/price.ts";
import type { GivenLimit } from "../endpoints/given-limit.ts";
import type { LinkedPin } from "./linked-pin.ts";
import type { PublishedPin } from "./published-pin.ts";
import type { RescoredFrom } from "./rescored-from.ts";
import type { SandboxName } from "../sandbox-names.ts";

/**
 * The resolved configuration of one run: what a command line, a TOML table or an HTTP body becomes, and the only form in which
 * the engine knows a request. Serialised as it is (snake_case), stored by the Run and, redacted by construction (keys are
 * named, never carried), as `runs/{run_id}/config.json`.
 */
export const CLIENT_TYPES = [
  "openai_chat_completions",
  "openai_completions",
  "openai_chat_completions_token",
  "openai_responses",
  "anthropic_messages",
  "workers_ai",
] as const;
export type ClientType = (typeof CLIENT_TYPES)[number];

/** JSON values; `env_args`, `sampling_args` and `info` hold nothing else. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** One of several places that serve the same model. */
export interface Replica {
  readonly base_url: string;
  readonly api_key_var: string;
  /** Under those of the run, by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Shape of rows and metadata: as verifiers had it up to 0.1.9 (milliseconds and metrics among the other fields of a row), up to 0.1.13
 * (`task`, `timing` in milliseconds), or from 0.1.14 on (no `task`, nested seconds, `time`).
 */
export const RESULTS_SHAPES = ["0.1.9", "0.1.13", "0.1.14"] as const;
export type ResultsShape = (typeof RESULTS_SHAPES)[number];

/** In which order examples are played. */
export const ORDERS = ["permuted", "data"] as const;
export type Order = (typeof ORDERS)[number];
/** Of every permuted run: two runs of the same data begin with the same examples, so that of two that are not finished the same are compared. */
export const ORDER_SEED = 0;
export const orderOf = ({ order_seed }: Pick<RunConfig, "order_seed">): Order => (order_seed === undefined ? "data" : "permuted");

/** How a run uses the answers that its team keeps. */
export const CACHE_MODES = ["read", "read-write"] as const;
export type CacheMode = (typeof CACHE_MODES)[number];

/** `read`: takes answers that are there, claims nothing and keeps nothing. `days`: for which an answer is kept that this run adds. */
export interface RunCache {
  readonly mode: CacheMode;
  readonly days: number;
}

export interface RunConfig {
  /** Version of this shape; a stored config of another version is refused by name. */
  readonly version: 1;
  readonly run_id: string;
  readonly name: string | null;
  readonly env_id: string;
  readonly env_version: string;
  readonly env_args: JsonObject;
  readonly model: string;
  readonly base_url: string;
  readonly api_key_var: string;
  readonly api_client_type: ClientType;
  /** Requested examples from the front of the data set; below 1 = all of them. */
  readonly num_examples: number;
  readonly rollouts_per_example: number;
  /** Generation requests in flight at the model server; `<= 0` = unlimited. */
  readonly max_concurrent: number;
  /** Given by the user, nulls kept; `max_tokens` is always present. */
  readonly sampling_args: JsonObject;
  readonly independent_scoring: boolean;
  /** Rollout-level retries (docs/retries.md). */
  readonly max_retries: number;
  /** Minutes from the first grant until status `TIMEOUT`; null = none. */
  readonly timeout_minutes: number | null;
  readonly state_columns: readonly string[];
  // Absent in configs of version 0.1.0, which means the default.
  /** The examples are drawn from the whole data set by this seed; absent = they are the first ones. */
  readonly shuffle_seed?: number;
  /** When it has seen enough (src/config/options/stop-rule.ts), a baseline named by its run id; absent = it plays all of its examples. */
  readonly stop_when?: string;
  /** Chance that such a rule finds what is not so; only with one. */
  readonly stop_alpha?: number;
  /** The run that such a rule holds this one against, and what its files are named after; only where it names one. */
  readonly stop_baseline?: { readonly run_id: string; readonly env_id: string; readonly model: string; readonly dataset_digest: string | null };
  /** The key under which examples share something, a column of `info` or of the row: intervals are over its groups. Absent = over examples. */
  readonly cluster_by?: string;
  /** The examples are pinned in an order that this seed gives (src/pinned-order.ts); absent = in that of the data set, as every run of before. */
  readonly order_seed?: number;
  /** Where the model is called, when there are several places: unit i goes to place i mod n. The first is `base_url` with `api_key_var`. */
  readonly replicas?: readonly Replica[];
  /** Sent with every model request, by name; never a credential (those are named by `api_key_var`). */
  readonly headers?: Readonly<Record<string, string>>;
  /** Header name to the state key whose value it carries. */
  readonly headers_from_state?: Readonly<Record<string, string>>;
  /** Options of the environment's constructor, over those its loader chose. */
  readonly extra_env_kwargs?: JsonObject;
  /** Generation requests in flight where that is to be less than `max_concurrent`; absent or `<= 0` = as many. */
  readonly max_concurrent_generation?: number;
  /** Judge requests in flight; absent = as many as `max_concurrent`, `<= 0` = unlimited. */
  readonly max_concurrent_scoring?: number;
  /** Weight beside other runs that use the same key (src/endpoint-limits/limit-kinds.ts); absent = DEFAULT_PRIORITY. */
  readonly priority?: number;
  /** What the evaluations of one command keep to together (`max_concurrent_total`): all that carry the same `id`; absent = its own limits alone. */
  readonly common_limit?: { readonly id: string; readonly concurrent: number };
  /** What its endpoints bear, as the newest command's file says it (docs/limits.md): it keeps to that together with the team's other runs that were told so. */
  readonly limits?: readonly GivenLimit[];
  /** Whether answers of before are taken, and those that come are kept (docs/cache.md); absent = every request is sent. */
  readonly cache?: RunCache;
  /** Its requests go out in batches of the provider (docs/batch.md); absent = each is sent by itself. */
  readonly batch?: true;
  /** What its answers are priced by for as long as it lives (docs/costs.md); absent, as in runs of before = what they cost is not known. */
  readonly prices?: RunPrices;
  /** Dollars that it may spend (docs/budgets.md), over all its generations; absent = it has no budget of its own. */
  readonly max_cost?: number;
  /** Names of the other Budgets that hold for it (src/budgets/budget-name.ts), as they were when it was created or last resumed; absent = none. */
  readonly budgets?: readonly string[];
  /** Executors that share the run, at most; absent = as many as its requests need. */
  readonly num_workers?: number;
  /** Score when nothing is left to generate (docs/verifiers-compatibility.md). */
  readonly no_interleave_scoring?: boolean;
  /** Whose sandboxes its environment gets, whatever that asks for; absent = the environment's wish, else the service's usual ones. */
  readonly sandbox?: SandboxName;
  /** Called with GET while the run is alive. May hold a secret in its path: see shown-config.ts. */
  readonly heartbeat_url?: string;
  /** The monitor of its team that it reports to, by its name and that of its object (src/monitors/beat-url.ts). Absent = none. */
  readonly monitor?: { readonly name: string; readonly id: string };
  /** Minutes without progress after which the run counts as stalled; absent = 15. */
  readonly stall_minutes?: number;
  /** Of a run that goes on in a folder of verifiers: the shape of the rows there. Absent = "0.1.13", as every run of our own. */
  readonly results_shape?: ResultsShape;
  /** What the uploaded data set is called, by who uploaded it. */
  readonly dataset_name?: string;
  /** Whose run it is (src/teams/team-name.ts); absent = the default team's. */
  readonly team?: string;
  /** Secrets of its team, environment or its own that it has, by name: their values are in the team's Registry, encrypted. Absent = none. */
  readonly secrets?: readonly string[];
  /** Variables of its environment, as they were at its creation. */
  readonly env_variables?: Readonly<Record<string, string>>;
  /** The data set of the Hugging Face Hub that the service pushes it to when it has completed; `name` null = named after the run. Absent = none. */
  readonly hub_push?: { readonly owner: string; readonly name: string | null; readonly public?: true };
  /** The schedule that made it, the due time (Unix milliseconds) it is for, and the digest that its inputs are to have. Absent = nobody's. */
  readonly schedule?: { readonly name: string; readonly due_at: number; readonly dataset_digest?: string };
  /** The evaluator of a training loop that made it, the step that it is reported by, and which of its evaluations it is. Absent = nobody's. */
  readonly evaluator?: { readonly name: string; readonly step: number; readonly evaluation: string };
  /** The published environment that it is of: this version and code for as long as it lives. Absent = `env_id` is one that the service was put together with. */
  readonly published?: PublishedPin;
  /** The link that it is of: its environment is played by whatever is linked under that name, and by nothing else of the name. Absent = none. */
  readonly linked?: LinkedPin;
  /** Digest of the code that has an isolate of its own, where that does not follow from what is published: an executor opens few different ones (walls.ts). Absent = it does, or there is none. */
  readonly wall?: string;
  /** Its rows were made elsewhere and are sent here (src/pushed/); absent = they are made here. */
  readonly origin?: "pushed";
  /** It scores the rollouts of another run again and makes none; absent = it makes its own. */
  readonly rescored_from?: RescoredFrom;
  /** Words by which lists find it; absent = none. Of an evaluation that is pushed they are among what was said of it. */
  readonly tags?: readonly string[];
  /** The user who made it, or made what made it; absent in runs of before. */
  readonly created_by?: string;
  /** Log at debug level. */
  readonly verbose?: boolean;
  /** As accepted: the `allow_*` flags (src/environments/definition/access.ts reads those of sandboxes and instances), and the vendor's team of the owner's client. */
  readonly hosted: JsonObject;
  /**
   * True for `eval run` on the local service: the run works only while the boot that started or resumed it lives, so that a
   * killed terminal does not go on spending. Runs created over HTTP or under `serve` are unattended and continue by themselves.
   */
  readonly attended: boolean;
  /** Unix milliseconds. */
  readonly created_at: number;
}

/** What of a run says which environment it is of. */
export type EnvironmentName = Pick<RunConfig, "env_id" | "team" | "published" | "linked">;

/** What of a run its `env_digest` is made of, beside the code. */
export type EnvironmentOfRun = EnvironmentName & Pick<RunConfig, "env_args" | "extra_env_kwargs" | "rescored_from">;

/** The places a run's model is called at: one, or its replicas. */
export const placesOf = ({ replicas, base_url, api_key_var }: Pick<RunConfig, "replicas" | "base_url" | "api_key_var">): readonly Replica[] =>
  replicas !== undefined && replicas.length > 0 ? replicas : [{ base_url, api_key_var }];

/**
 * What a field is to a run that is gone on with. `measured`: it decides what is measured, so a resume must agree in it. `reached`: how
 * the model is reached; a resume of a named run may bring another, and keeps what it does not bring. `size`: may grow. `command`: how the
 * work is carried out and watched, the newest command's to say. `identity`: of the run itself, asked for by nobody. A run that nobody
 * named is taken up only where everything `measured` and `reached` is as it is asked for now (evaluation-settings.ts).
 */
const FIELD_ROLES = {
  version: "identity",
  run_id: "identity",
  name: "identity",
  env_id: "measured",
  env_version: "measured",
  env_args: "measured",
  model: "measured",
  base_url: "reached",
  api_key_var: "command",
  api_client_type: "measured",
  num_examples: "size",
  rollouts_per_example: "measured",
  max_concurrent: "command",
  sampling_args: "measured",
  independent_scoring: "measured",
  max_retries: "command",
  timeout_minutes: "command",
  state_columns: "measured",
  shuffle_seed: "measured",
  stop_when: "measured",
  stop_alpha: "measured",
  stop_baseline: "identity",
  // What is kept of each example says its group.
  cluster_by: "measured",
  // Which examples come first is nothing that is measured: who names it in a resume is told of a difference, and nobody else.
  order_seed: "identity",
  replicas: "reached",
  headers: "reached",
  headers_from_state: "reached",
  extra_env_kwargs: "measured",
  max_concurrent_generation: "command",
  max_concurrent_scoring: "command",
  priority: "command",
  common_limit: "command",
  limits: "command",
  cache: "command",
  batch: "command",
  prices: "identity",
  max_cost: "command",
  budgets: "identity",
  num_workers: "command",
  no_interleave_scoring: "command",
  // Where code of rollouts runs, and nothing that is measured: what is in a sandbox is the environment's to say.
  sandbox: "command",
  heartbeat_url: "command",
  monitor: "command",
  stall_minutes: "command",
  results_shape: "identity",
  dataset_name: "identity",
  team: "identity",
  secrets: "identity",
  env_variables: "identity",
  hub_push: "command",
  schedule: "identity",
  evaluator: "identity",
  published: "identity",
  linked: "identity",
  wall: "identity",
  origin: "identity",
  rescored_from: "measured",
  tags: "identity",
  created_by: "identity",
  verbose: "command",
  hosted: "identity",
  attended: "identity",
  created_at: "identity",
} as const satisfies Record<keyof RunConfig, "measured" | "reached" | "size" | "command" | "identity">;

type FieldOf<Role> = { [Field in keyof RunConfig]-?: (typeof FIELD_ROLES)[Field] extends Role ? Field : never }[keyof RunConfig];
const fieldsOf = <Role extends "measured" | "reached">(role: Role): readonly FieldOf<Role>[] =>
  (Object.keys(FIELD_ROLES) as (keyof RunConfig)[]).filter((field): field is FieldOf<Role> => FIELD_ROLES[field] === role);

/** In these a resume must agree with the first run (`dataset_digest` is compared when inputs are pinned). */
export const RESUME_FIELDS = fieldsOf("measured");
/** And these a run that nobody named must have too. */
export const REACH_FIELDS = fieldsOf("reached");
export type ResumeField = FieldOf<"measured">;
export type ReachField = FieldOf<"reached">;

/**
 * What loads the environment and its data. A run without a row has measured nothing yet, so that a resume may bring others: the data
 * set that was mended, the environment that did not load, the key that no row of it has.
 */
export const LOADING_FIELDS = ["env_version", "env_args", "extra_env_kwargs", "cluster_by"] as const;
