import type { CacheMode, Order, ResumeField, RunConfig } from "../../src/config/plan/run-config.ts";
import type { Failure, Result } from "../../src/errors/result.ts";
import type { LiveMean } from "../../src/metrics/one-run/live-mean.ts";
import type { Totals } from "../../src/metrics/totals.ts";
import type { HubPushState } from "../../src/report/hub-push-text.ts";
import type { PushedFacts } from "../../src/pushed/pushed-facts.ts";
import type { CellControl, OpenRollouts } from "./reading/cells-protocol.ts";
import type { BatchView } from "./batching/batching-protocol.ts";
import type { PushedView } from "./pushed/pushed-protocol.ts";
import type { RescoredSource, Vitals } from "./protocol.ts";
import type { SummaryControl } from "./reading/row-answers.ts";
import type { RunScores } from "../../src/report/run-scores.ts";
import type { Place } from "../../r2-layout/place.ts";
import type { ResponseModels } from "../../src/metrics/response-models.ts";
import type { RolloutSummary, Unscored } from "../../src/metrics/rollout-summary.ts";
import type { SteerRequest } from "./steering/steer-request.ts";
import type { RunStatus } from "../../src/config/run-status.ts";
import type { StoppedRun } from "../../src/metrics/sequential/stopped-early.ts";
import type { StoredEvent } from "../../src/logging/stored-event.ts";

export type { OpenRollouts } from "./reading/cells-protocol.ts";
export type { SteerRequest } from "./steering/steer-request.ts";

/** What crosses the border between a Run and the HTTP door, the watchdog and viewers. */

/** Where the run stands inside; the public status is terminal before `settled`. */
export type RunPhase = "preparing" | "open" | "draining" | "finalising" | "settled";

/** A finished run continued from a result folder alone: rows uploaded as `datasets/{results}`. */
export interface ImportSource {
  readonly results: string;
  /** What is uploaded there is a manifest (r2-layout/folder-manifest.ts), and the rows are in the parts that it names; absent = they are there themselves. */
  readonly in_parts?: true;
  /** Of the folder's metadata; compared with the digest of the inputs pinned now. Null: the folder does not say (not ours). */
  readonly dataset_digest: string | null;
  readonly keep_errors: boolean;
  /** Digests of the code of its rows, oldest first; the last is that of the code that goes on with them. Absent: the folder does not say. */
  readonly env_digests?: readonly string[];
  /** That code is another than the folder's last, and goes on in its place. */
  readonly code_changed?: boolean;
  /** Examples that the folder says it is of; absent where it does not say, or came from a client of before. */
  readonly num_examples?: number;
}

/** The environment could not be loaded, or its examples not be read, by something that may pass. */
export interface LoadingAgain {
  readonly attempts: number;
  /** Of the last attempt. */
  readonly message: string;
  /** Unix milliseconds. */
  readonly retry_at: number;
}

/** An executor with the code of the run is waited for. */
export interface WaitingFor {
  readonly env_digest: string;
  /** Of the executor that asked last; null: it had no environment of that name. */
  readonly found: string | null;
  /** The run ends then. Unix milliseconds. */
  readonly until: number;
}

export interface CreateRequest {
  readonly config: RunConfig;
  readonly boot: string;
  readonly import: ImportSource | null;
  /** `max_concurrent` as it was asked for, where the team's limits left less; absent = it is as asked for. */
  readonly lowered_from?: number;
  /** Its rows come from elsewhere; absent = they are made here. */
  readonly pushed?: PushedFacts;
}

/** Everything a viewer may know of a run without reading R2; one RPC. */
export interface RunView {
  readonly config: RunConfig;
  readonly status: RunStatus;
  readonly phase: RunPhase;
  /** True when nothing will happen until a resume: interrupted, or attended by a boot that is gone. */
  readonly suspended: boolean;
  /** Nothing begins until somebody continues it, since when in Unix milliseconds; absent = it is not paused. */
  readonly paused?: { readonly at: number };
  readonly generation: number;
  readonly failure: Failure | null;
  /** What ended it, where its status does not say: nothing was left in a budget. */
  readonly ended_by?: "budget";
  readonly units: { readonly total: number; readonly done: number; readonly open: number; readonly pending: number };
  readonly totals: Totals;
  /** What its mean is while it goes on; absent = it does not. */
  readonly live?: LiveMean;
  /** Rollouts that are generated and kept, of units that are not done, and those of them whose unit nobody holds; absent = none. */
  readonly kept?: { readonly rollouts: number; readonly waiting: number };
  /** The run has ended, and what is generated is scored until then, in Unix milliseconds, at most; absent = nothing is. */
  readonly scoring_until?: number;
  /** Its rule to stop by is met, and what is not open then is not played. */
  readonly stopped_early?: StoppedRun;
  readonly vitals: Vitals;
  /** Live tickets, and what they add up to. */
  readonly executors: number;
  readonly lanes: number;
  /** Grants so far, and those that ended because their executor fell silent. */
  readonly grants: number;
  readonly lapses: number;
  /** Rows of a folder are to be taken over and have not all been: what the run has is less than the folder. */
  readonly importing?: boolean;
  /** Of a run whose requests go out in batches. */
  readonly batch?: BatchView;
  /** Of a pushed evaluation alone. */
  readonly pushed?: PushedView;
  /** Rollouts whose rows could not be scored again. */
  readonly unscored?: Unscored;
  /** Of a run that scores again: what its source had, once it is read, and how many examples have other scores now. */
  readonly rescored?: { readonly source: RescoredSource | null; readonly changed: number };
  readonly env_digest: string | null;
  /** Rollouts by the digest of their code, where there are several. */
  readonly env_digests?: Readonly<Record<string, number>>;
  /** What answers said of the model that gave them; absent = nothing. */
  readonly response_models?: ResponseModels;
  /** An executor with the code of the run, which nobody has had since it was last asked for. */
  readonly waiting_for?: WaitingFor;
  readonly loading?: LoadingAgain;
  readonly dataset_digest: string | null;
  /** What people call it; null or absent = the environment has rows of its own, or nobody said. */
  readonly dataset_name?: string | null;
  /** Tasks of the data set that are in no example; absent = nobody counted them. */
  readonly n_not_run?: number;
  /** What kept the final files from being written when it was last tried, which it is again; absent = nothing did. */
  readonly writing_failure?: Failure;
  /** Of the final files; absent until they are written. */
  readonly scores?: RunScores;
  readonly pass_threshold: number;
  /** Absent before the inputs are pinned, and in runs of before = 0 to 1. */
  readonly reward_range?: readonly [number, number];
  /** What each metric counts for in the reward, as far as it can be said; absent from runs of before. */
  readonly reward_weights?: Readonly<Record<string, number>>;
  /** Rows, final files and pinned inputs; absent from Runs of before. */
  readonly stored_bytes?: number;
  /** Of the link by which anybody reads the run; absent = there is none. */
  readonly link_digest?: string;
  /** Of a run that is pushed to the Hub when it has completed, from then on. */
  readonly hub_push?: HubPushState;
  /** Sequence number of the newest stored event. */
  readonly seq: number;
  /** Unix milliseconds. */
  readonly created_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly updated_at: number;
}

/** Rows of one commit that still count, in unit order. */
export interface CommittedRows {
  readonly seq: number;
  readonly places: readonly (Place & { readonly unit: number })[];
}

export interface CommittedPage {
  readonly commits: readonly CommittedRows[];
  /** Sequence number up to which everything was named. */
  readonly next: number;
  readonly more: boolean;
  /** Marks of the events `after` and `next`, by which a history is told from that of another copy of the run; null where there is no such event, absent from versions of before. */
  readonly after_mark?: string | null;
  readonly next_mark?: string | null;
}

/** Rows of one done unit, and how many there are (fewer than rollouts only where an adopted folder lacked some). */
export interface SamplePlace extends Place {
  readonly unit: number;
  readonly rows: number;
}

/** A page of rows by their places: `count` rows of those at `places`, from the one after the first `skip` on. */
export interface SamplePage {
  /** Rows of the run so far. */
  readonly total: number;
  readonly skip: number;
  readonly count: number;
  readonly places: readonly SamplePlace[];
  /** Key of the one object that all places are in; absent = they are in their segments. */
  readonly object?: string;
  /** They follow the rows; where they were asked for, and there are any. */
  readonly open?: OpenRollouts;
}

export interface ResumeRequest {
  readonly boot: string;
  readonly attended: boolean;
  /** Larger or equal; null keeps it. Below 1 = all. */
  readonly num_examples: number | null;
  readonly keep_errors: boolean;
  /** What the caller believes the run to be; every difference is named in the refusal. */
  readonly expect: Partial<Pick<RunConfig, ResumeField | "base_url">> & { readonly order?: Order };
  /** Endpoint of this resume; a change from the stored one is allowed and warned about. */
  readonly base_url: string | null;
  readonly api_key_var: string | null;
  readonly max_concurrent: number | null;
  /** From here to `stall_minutes` they were added later: null or absent keeps what the run has. */
  readonly max_concurrent_generation?: number | null;
  readonly max_concurrent_scoring?: number | null;
  readonly priority?: number | null;
  readonly max_cost?: number | null;
  /** Those that hold from here on, none among them; null or absent keeps what the run has. */
  readonly budgets?: readonly string[] | null;
  readonly limits?: RunConfig["limits"] | null;
  /** Null or absent keeps it, unless `max_concurrent` is given: then it has none any more. */
  readonly common_limit?: RunConfig["common_limit"] | null;
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly headers_from_state?: Readonly<Record<string, string>> | null;
  readonly verbose?: boolean | null;
  /** `off`: without it from here on. */
  readonly cache?: CacheMode | "off" | null;
  readonly cache_days?: number | null;
  /** False: without batches from here on. */
  readonly batch?: boolean | null;
  readonly num_workers?: number | "auto" | null;
  readonly no_interleave_scoring?: boolean | null;
  readonly sandbox?: RunConfig["sandbox"] | null;
  readonly heartbeat_url?: string | null;
  readonly monitor?: RunConfig["monitor"] | null;
  readonly stall_minutes?: number | null;
  readonly max_retries: number | null;
  readonly timeout_minutes: number | null;
  /** `never`: without its rule to stop by from here on; a rule: what the caller believes it to be; null or absent keeps it. */
  readonly stop_when?: string | null;
  /** Of an uploaded data set, for a run that has no row yet. */
  readonly dataset_name?: string | null;
  /** Of the environment as the door has it now; null or absent = not compared. */
  readonly env_digest?: string | null;
  /** Go on though the code is another than the run's. */
  readonly accept_code_change?: boolean;
  /** Names of the secrets that it has from here on; null or absent keeps what the run has. */
  readonly secrets?: readonly string[] | null;
}
export interface Resumed {
  /** Rollouts that the resume does something about: never done, to be repaired, or to be scored again. */
  readonly owed_rollouts: number;
  /** Of them, those that are only scored again: their answers stay. Absent from services of before. */
  readonly owed_scores?: number;
  readonly warnings: readonly string[];
}

/** One packed done row, as a scan of the results reads it (aggregates at the end, metadata while the run goes on). */
export interface DoneRow extends Place {
  readonly unit: number;
  readonly rollouts: readonly RolloutSummary[];
}

/** Uploads that a run points to, by their digests. */
export interface RunUploads {
  readonly digests: readonly string[];
  /** Of them, one that names further ones: the manifest of a folder whose rows are yet to be taken over. */
  readonly manifest: string | null;
}

/** What came of an attempt. `passing`: the same may go well later. */
export type HubPushOutcome =
  | { readonly generation: number; readonly kind: "pushed"; readonly url: string; readonly commit: string | null }
  | { readonly generation: number; readonly kind: "failed"; readonly failure: Failure; readonly passing: boolean };

/** The Run's methods for everyone but executors. `gone` = never created, or deleted: such a call writes nothing. */
export interface RunControl extends CellControl, SummaryControl {
  create(request: CreateRequest): Promise<Result<RunView>>;
  view(): Promise<RunView | null>;
  /** Stored events with `seq > after`, oldest first, at most `limit`. */
  events(after: number, limit: number): Promise<readonly StoredEvent[]>;
  /** Rows of the commits with `seq > after`, oldest first, until about `bytes` are named; `next` goes into the next `after`. */
  committed(after: number, bytes: number): Promise<CommittedPage | null>;
  /** Places of the rows `[offset, offset + limit)` in the order of `results.jsonl`, of a running run too. `open`: rollouts of units that are not done follow them. */
  samples(offset: number, limit: number, open?: boolean): Promise<SamplePage | null>;
  /** The newest log events, at most `limit`, oldest first. */
  logTail(limit: number): Promise<readonly StoredEvent[] | null>;
  cancel(): Promise<Result<RunView>>;
  interrupt(): Promise<Result<RunView>>;
  /** Pauses or continues it, or sets how it works from here on. */
  steer(request: SteerRequest): Promise<Result<RunView>>;
  /** Anybody with the link of this digest may read the run; null: nobody. */
  share(digest: string | null): Promise<Result<RunView>>;
  resume(request: ResumeRequest): Promise<Result<Resumed>>;
  /** Does whatever is due (watchdog, dead-letter consumer, start of the service); harmless at any time. */
  poke(): Promise<void>;
  /** Object for `metadata.json` built from the done rows, verifiers' fields in its order and `edgewise` behind them. */
  metadata(): Promise<Record<string, unknown> | null>;
  /** What must stay while the run is there: its data set, since it may grow, and the folder it is taking over. */
  uploads(): Promise<RunUploads>;
  /** What came of a push to the Hub. */
  hubPushed(outcome: HubPushOutcome): Promise<void>;
  /** Tombstone; refused while work goes on. R2 prefixes and storage are removed in slices by alarms. */
  remove(): Promise<Result<null>>;
}
