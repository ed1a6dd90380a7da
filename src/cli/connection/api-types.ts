import type { RescoredMetadata } from "../../report/metadata.ts";
import type { LoadingAgain, RunPhase, WaitingFor } from "../../../durable-objects/run/control.ts";
import type { BatchView } from "../../../durable-objects/run/batching/batching-protocol.ts";
import type { Vitals } from "../../../durable-objects/run/protocol.ts";
import type { RunStatus } from "../../config/run-status.ts";
import type { Prospects } from "../../errors/leftovers.ts";
import type { ClientType, JsonObject } from "../../config/plan/run-config.ts";
import type { StoppedRun } from "../../metrics/sequential/stopped-early.ts";
import type { HubPushState } from "../../report/hub-push-text.ts";
import type { CacheUsage } from "../../metrics/cache-usage.ts";
import type { LiveMean } from "../../metrics/one-run/live-mean.ts";
import type { ResponseModels } from "../../metrics/response-models.ts";
import type { JudgeFields } from "../../metrics/judge-fields.ts";
import type { Cost } from "../../prices/price.ts";
import type { PassIntervals } from "../../metrics/pass-at-k.ts";
import type { RunForecast } from "../../forecast/run-forecast.ts";

export type { RunForecast };

export type { Vitals };

/** Dollars; `unpriced_rollouts`: those that it is not of. */
export type KnownCost = Cost & { readonly unpriced_rollouts?: number };

/** An endpoint that the service keeps for a team. */
export interface KeptEndpoint {
  readonly endpoint_id: string;
  readonly model: string;
  readonly api_client_type: ClientType | null;
  readonly replicas: readonly { readonly api_base_url: string; readonly api_key_var: string; readonly headers: Readonly<Record<string, string>> }[];
}

/** The parts of the service's answers that the command line reads. */

/** `edgewise` of an evaluation, and the data of `progress` and `end` events. */
export interface RunState {
  readonly run_id: string;
  readonly phase: RunPhase;
  /** The final files are written; nothing changes until a resume. */
  readonly settled: boolean;
  /** Nothing happens until a resume. */
  readonly suspended: boolean;
  /** Nothing begins until somebody continues it, since then (Unix milliseconds); absent = it is not paused. */
  readonly paused?: { readonly at: number };
  /** Model requests at once, 0 or less = no limit; absent from services of before. */
  readonly max_concurrent?: number;
  /** It stays, however old; absent = it is not kept. */
  readonly kept?: boolean;
  /** ISO 8601: it is removed then; absent = it has no notice. */
  readonly removal_at?: string | null;
  /** Units that executors hold now: none of them = everything that was finished is committed. */
  readonly open_units?: number;
  readonly done_units: number;
  readonly total_units: number;
  readonly done_rollouts: number;
  /** With those that have finished in units that are not done; absent from services of before. */
  readonly finished_rollouts?: number;
  /** Generated and kept, of units that are not done; absent from services of before. */
  readonly kept_rollouts?: number;
  /** The run has ended, and what is generated is scored until then at most (Unix milliseconds); absent = nothing is. */
  readonly scoring_until?: number;
  readonly total_rollouts: number;
  /** Never done, or to be repaired. */
  readonly owed_rollouts: number;
  readonly reward: number | null;
  /** What the mean is while the run goes on; absent from services of before, and once it has settled. */
  readonly live?: LiveMean;
  /** Rollouts by error code. */
  readonly errors: Readonly<Record<string, number>>;
  readonly tokens: { readonly input: number; readonly output: number };
  /** Only where a judge was asked; its tokens are not among the model's. */
  readonly judges?: { readonly requests: number; readonly input: number; readonly output: number; readonly cost?: JudgeFields["cost"] };
  /** Dollars that it may spend, and what is spent of it where one run is asked for; absent = it has no budget of its own. */
  readonly max_cost?: number;
  readonly budget?: {
    readonly settled_usd: number;
    readonly unseen_usd: number;
    readonly unseen_calls: number;
    readonly batches_usd?: number;
    readonly batches?: number;
  };
  /** Of the model's answers; null where it is known of no rollout, absent from services of before. */
  readonly cost?: KnownCost | null;
  /** Of a run whose requests go out in batches. */
  readonly batch?: BatchView;
  /** How calls were answered; absent where the run does not read the cache. */
  readonly cache?: CacheUsage;
  /** Why there is neither pass@k nor an interval; only where that is so. */
  readonly grouping_problem?: string;
  /** Its rule to stop by was met. */
  readonly stopped_early?: StoppedRun;
  readonly vitals: Vitals;
  /** Of the newest stored event. */
  readonly seq: number;
  /** Rows of a folder have not all been taken over: the folder has more than the run. */
  readonly importing?: boolean;
  /** What a resume would do with the code that the service has; absent while the run works, and from services of before. */
  readonly resumable?: Prospects;
  /** Of a run that scores another's rollouts again. */
  readonly rescored_from?: RescoredMetadata;
  /** Rollouts that could not be scored again, and the state keys that their rows lack. */
  readonly unscored?: { readonly rollouts: number; readonly state: readonly string[] };
  readonly env_version: string;
  /** Rollouts by the digest of their code; absent where there is one. */
  readonly env_digests?: Readonly<Record<string, number>>;
  /** What answers said of the model that gave them; absent = nothing, and from services of before. */
  readonly response_models?: ResponseModels;
  readonly waiting_for?: WaitingFor;
  readonly loading?: LoadingAgain;
  /** Of a run that has completed and is to be pushed to the Hub. */
  readonly hub_push?: HubPushState;
  readonly dataset_digest: string | null;
  // Absent from services of before.
  readonly dataset_name?: string | null;
  /** Tasks of the data set that are in no example; absent = nobody counted them. */
  readonly n_not_run?: number;
  /** What ended it, where its status does not say. */
  readonly ended_by?: "budget";
  readonly failure?: { readonly code: string; readonly message: string; readonly hint?: string } | null;
}

/** All that can be set of a run that works, as it is now; null = nobody said. */
export interface SteeredAnswer {
  readonly settings: Readonly<Record<string, number | null>>;
  readonly warnings: readonly string[];
}

/** Of a service that is there; the local one says more. */
export interface Health {
  readonly status: "ok";
  readonly version: string;
}

export interface Evaluation {
  readonly evaluation_id: string;
  readonly name: string;
  readonly status: RunStatus;
  readonly error_message: string | null;
  /** Rows that there are. */
  readonly total_samples?: number;
  /** The run's page. */
  readonly viewer_url: string;
  readonly eval_config: JsonObject;
  /** Empty before the first row. */
  readonly metrics: { readonly reward?: number; readonly metrics?: Readonly<Record<string, number>>; readonly error?: number };
  /** ISO 8601. */
  readonly created_at: string;
  readonly started_at: string | null;
  /** When the status became terminal. */
  readonly finalized_at: string | null;
  readonly metadata: {
    readonly env_id: string;
    readonly model: string;
    readonly env_args: JsonObject;
    readonly base_url: string;
    readonly num_examples: number;
    readonly rollouts_per_example: number;
    readonly sampling_args: JsonObject;
    readonly extra_env_kwargs?: JsonObject;
    readonly state_columns: readonly string[];
    readonly pass_threshold: number;
    /** Absent from services of before. */
    readonly reward_range?: readonly [number, number];
    /** What each metric counts for in the reward, as far as it can be said. */
    readonly reward_weights?: Readonly<Record<string, number>>;
    /** The key over whose groups intervals are; absent = they are over examples. */
    readonly cluster_by?: string;
  };
  /** `settings`: what is measured and how the model is reached; services of before do not say it. */
  readonly edgewise: RunState & { readonly settings?: JsonObject };
}

/** What a creation would measure, defaults filled in. */
export interface AskedEvaluation {
  /** Below 1 = all. */
  readonly num_examples: number;
  readonly settings: JsonObject;
}

/** What an evaluation will take. */
export interface ForecastEvaluation {
  /** Of the whole run; below 1 = all, and nobody knows how many those are. */
  readonly num_examples: number;
  readonly rollouts_per_example: number;
  readonly max_concurrent: number;
  readonly from: { readonly runs: readonly string[]; readonly examples: number; readonly rollouts: number };
  /** Examples that the forecast is of, where it is not known how many there are in all; else `num_examples`. Null = there is none. */
  readonly forecast_examples: number | null;
  /** Null: the examples are too few. */
  readonly forecast: RunForecast | null;
}

/** A row of the list: less than the run itself says. */
export interface ListedEvaluation {
  readonly evaluation_id: string;
  /** Environment and model where it was given none. */
  readonly name?: string;
  readonly status: RunStatus;
  /** Services of before say none. */
  readonly tags?: readonly string[];
  readonly metadata: { readonly env_id: string; readonly model: string; readonly extra_env_kwargs?: JsonObject };
  /** ISO 8601. */
  readonly created_at: string;
  readonly edgewise: {
    readonly settled: boolean;
    readonly active: boolean;
    readonly suspended: boolean;
    /** For an executor with its code. */
    readonly waiting?: boolean;
    readonly stopped_early?: boolean;
    readonly done_rollouts: number;
    readonly total_rollouts: number;
    readonly reward: number | null;
    // Absent from services of before.
    readonly dataset_name?: string | null;
    readonly errored_rollouts?: number | null;
    readonly kept?: boolean;
    /** ISO 8601: it is removed then. */
    readonly removal_at?: string | null;
    readonly reward_ci95?: readonly [number, number] | null;
    readonly pass_at_k?: Readonly<Record<string, number>>;
    readonly pass_at_k_ci95?: PassIntervals;
    /** Absent where it is known of no rollout. */
    readonly cost?: KnownCost;
    readonly judges_cost_usd?: number;
    readonly created_by?: string;
  };
}

/** Which runs of a list are meant; absent = all. */
export interface RunFilters {
  /** `gsm8k` or `owner/gsm8k`. */
  readonly environment_name?: string;
  readonly tag?: string;
  /** A user. */
  readonly created_by?: string;
}

export interface EvaluationPage {
  readonly evaluations: readonly ListedEvaluation[];
  readonly total: number;
}

/** Rows as they stand in `results.jsonl`; behind them, with `open: true`, rollouts of examples that are not complete. */
export interface SamplePage {
  readonly samples: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
  readonly has_more: boolean;
  /** Of the total, those of incomplete examples; absent = none, or not asked for. */
  readonly open?: number;
}

export interface Cancelled {
  readonly message: string;
}

export interface Resumed {
  readonly evaluation_id: string;
  readonly owed_rollouts: number;
  /** Of them, those that are only scored again; absent from services of before. */
  readonly owed_scores?: number;
  readonly warnings: readonly string[];
}

/** Data of a `log` event. */
export interface LogEvent {
  readonly seq: number;
  /** Unix milliseconds. */
  readonly time: number;
  readonly level: "DEBUG" | "INFO" | "WARNING" | "ERROR";
  readonly message: string;
}
