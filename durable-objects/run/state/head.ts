import type { RowsDigest, RowsDigestState } from "../../../src/rollouts/rows/rows-digest.ts";
import type { JsonObject, RunConfig, ResultsShape } from "../../../src/config/plan/run-config.ts";
import type { SandboxName } from "../../../src/config/sandbox-names.ts";
import type { Failure } from "../../../src/errors/result.ts";
import type { Totals } from "../../../src/metrics/totals.ts";
import type { ImportSource, RunPhase } from "../control.ts";
import { type BatchingHead, freshBatching } from "../batching/batching-head.ts";
import type { AlertDebt } from "./alert-debt.ts";
import type { HubPush } from "./hub-push.ts";
import { freshPushed, type PushedHead } from "../pushed/pushed-head.ts";
import type { MonitorWatch } from "../sending/monitor-watch.ts";
import { freshPulse, type Pulse } from "./pulse.ts";
import type { RescoredSource, UnitRange } from "../protocol.ts";
import type { RunScores } from "../../../src/report/run-scores.ts";
import type { RunStatus } from "../../../src/config/run-status.ts";
import type { StoppedEarly } from "../../../src/metrics/sequential/stopped-early.ts";
import type { ResponseModels } from "../../../src/metrics/response-models.ts";
import type { Unscored } from "../../../src/metrics/rollout-summary.ts";

/** Version of `RunHead`; a head of another version is refused by name (`stored_version_unknown`). */
export const HEAD_VERSION = 1;
/** While further inputs are being pinned: a version that does not know `pinning` would end the run with those that there are. */
export const PINNING_HEAD_VERSION = 2;
/** Of a run whose requests go out in batches: a version that does not know `batching` would send them one by one, for twice the price. */
export const BATCHING_HEAD_VERSION = 3;
export const KNOWN_HEADS: readonly number[] = [HEAD_VERSION, PINNING_HEAD_VERSION, BATCHING_HEAD_VERSION];

/** What a version has to know to go on with the run. */
export function headVersion({ batching, pinning }: Pick<RunHead, "batching" | "pinning">): RunHead["version"] {
  if (batching !== undefined) return BATCHING_HEAD_VERSION;
  return pinning === true ? PINNING_HEAD_VERSION : HEAD_VERSION;
}

/**
 * The hot record of a run: everything a transition decides on that is not per unit. One row, written once per transaction.
 * Times are Unix milliseconds of the Run's own clock.
 */
export interface RunHead {
  version: typeof HEAD_VERSION | typeof PINNING_HEAD_VERSION | typeof BATCHING_HEAD_VERSION;
  status: RunStatus;
  phase: RunPhase;
  generation: number;
  /** Last epoch given out; each grant takes the next one. */
  epoch: number;
  /** Grants that ended because their executor fell silent. */
  lapses: number;
  /** Units that were claimed by those grants. */
  wary: UnitRange[];
  /** The newest of them that had begun something: when it was last heard of, and the last epoch given out when it ended; absent = none. */
  silence?: { readonly at: number; readonly epoch: number };
  /** Boot that created or resumed the run; an attended run works under no other. */
  boot: string;
  interrupted: boolean;
  /** Nothing begins until somebody continues it, since when; absent = it is not paused. */
  paused?: { readonly at: number };
  /** For how long it was paused in this generation, in milliseconds, up to when it was last continued; absent = not at all. */
  paused_ms?: number;
  failure: Failure | null;
  /** How open tickets are to end while draining. */
  drain: "drain" | "abort" | null;
  /** What is generated is scored before the run rests. Absent = it is not. */
  scores_rest?: true;
  /** Of it what nobody held when all that was open had ended (course/last-scores.ts); absent = nothing is scored so. */
  last_scores?: LastScores;

  /** Units pinned; null until the first preparation is accepted. Units are `0…n-1`. */
  n: number | null;
  /** Further units are being pinned while the run is open (course/preparation.ts); absent = these are all. */
  pinning?: true;
  /** `num_examples` for which they were pinned: the data set may have had fewer. */
  pinned_for: number | null;
  dataset_digest: string | null;
  /** What the environment calls its data set; null or absent = it has none but its own rows, or an upload. */
  dataset_name?: string | null;
  /** Of the final files; absent until they are written. */
  scores?: RunScores;
  /** The final files could not be written: a resume writes them. Absent = they could. */
  unwritten?: true;
  /** Of the code the run is pinned to, its arguments among it (src/config/env-digest.ts). */
  env_digest: string | null;
  /** All that it was ever pinned to, oldest first, `env_digest` last; absent where there was but one. */
  env_digests?: readonly string[];
  /** Executors with other code asked; null or absent when none did, or one with the right code came since. */
  code_wait?: CodeWait | null;
  input_bytes: number;
  /** Bytes of the rows that count; absent in runs of before = unknown, and none. */
  row_bytes?: number;
  pass_threshold: number;
  /** Tasks of the data set that are in no example; absent = nobody counted them. */
  n_not_run?: number;
  /** Lowest and highest reward that a rollout can have; absent in runs of before = 0 to 1. */
  reward_range?: readonly [number, number];
  /** What each metric counts for in the reward; absent in runs of before. */
  reward_weights?: Readonly<Record<string, number>>;
  env_sampling_args: JsonObject;
  /** Lanes of all tickets together (`concurrency` of the environment); null or absent = as many as the requests need. */
  concurrency?: number | null;
  /** Units are not divided (any more): rollouts of the environment cannot be kept (grants/spans.ts), or are played with their whole example, or there are none to make; absent = they may be. */
  undivided?: true;
  /** Of rows that the environment gives itself, and of the metadata beside them, where the run names no shape; absent = ours. */
  results_shape?: ResultsShape;
  /** Tools that all rows share; absent in runs of before. */
  tools?: readonly JsonObject[] | null;
  /** First unit never handed out; units below it are claimed, returned, suspect or done. */
  cursor: number;
  /** Units waiting to be claimed: the tail from `cursor`, returned ranges, waiting suspects. */
  pending: number;
  /** Whether rollouts that ended in an infrastructure error stay as they are, as this generation was told. */
  keep_errors: boolean;
  /** Whether rollouts that ended in a scorer error are scored again from their rows, in this generation; absent = no. */
  score_again?: boolean;
  /** Those of them that could not be; absent = none. */
  unscored?: Unscored;
  /** Examples that were scored anew as a group, since some of their rollouts were drawn again; absent = none. */
  scored_anew?: number;
  /** Its rule to stop by is met (stopping/watching.ts); absent = it is not, or the run went on without it. */
  stopped?: StoppedEarly;
  /** Done units are there that the rule has not looked at (stopping/watching.ts); absent = none, or it looks no more. */
  unwatched?: true;
  /** Of a run that scores again: what its source had, and the examples whose scores are others now; absent = it makes its own rollouts. */
  rescored?: { readonly source: RescoredSource | null; readonly changed: number };
  /** Done units are still looked through for what this generation repairs; absent = they are not. */
  repair?: RepairProgress;
  /** Units done and not owed to a repair. */
  done: number;
  totals: Totals;

  attempt: number;
  /** Ends of the local runtime under a boot that goes on, the last minute's; absent = none. */
  runtime_deaths?: readonly RuntimeDeath[];
  /** Preparations, or adoptions, in a row of which nothing was heard again; absent = none. */
  lost_preparations?: number;
  /** Attempts in a row to load the environment, or to read its examples, that came to nothing by something that may pass (load-wait.ts); absent = none. */
  loading?: FailedAttempts & { readonly failure: Failure };
  import: ImportSource | null;
  /** The part of the folder, and its example up to which rows of it were taken over: the next adoption goes on behind it. Absent = none. */
  import_part?: number;
  import_through?: number;
  /** All rows of the folder are taken over, and up to this unit it is known which the folder has no rows of. */
  import_looked?: number;
  /** Units that the folder has rows of which are not taken over yet (adoption.ts). Absent = there is nothing to take over, or nothing is pinned yet. */
  held?: number;
  /** Newest event up to which small segments were merged (course/merging.ts); absent = none was looked at. */
  merged_through?: number;
  /** Newest event when the run was resumed: no segments are merged before as many events as are merged at once have come since (course/merge-need.ts). Absent = it never was. */
  resumed_seq?: number;
  /** Drivers of which its environment has had sandboxes (grants/sandboxes.ts); absent = none, and in runs of before. */
  sandboxes?: readonly SandboxName[];
  /** Of an evaluation that is pushed; absent = it is not. */
  pushed?: PushedHead;
  /** Of a run whose requests go out in batches; absent = each is sent by itself. */
  batching?: BatchingHead;
  finalise: FinaliseState;
  /** `idle`: nobody works for the run; absent = somebody does, or nothing is wanted. */
  offer: { want: number; executors?: number; idle?: boolean; seq: number; due: boolean; retry_at: number; tries: number };
  /** `done`: units done when it was made; absent = none. `owed`: whether it says that a push to the Hub is; absent = it does not. */
  projection: { version: number; due: boolean; retry_at: number; tries: number; done?: number; owed?: boolean };
  health: Health;
  /** Absent in heads of version 0.1.0, until they work again. */
  pulse?: Pulse;
  /** What its monitor has been told; absent = it has none, or has told it nothing yet. */
  watch?: MonitorWatch;

  /** What the alerts of the team are to know of it; absent = they know all. */
  alerts?: AlertDebt;
  /** They were told that nothing progresses, and are to be told of its end; absent = they were not. */
  stall_told?: true;
  /** The push to the Hub of this generation, once it has completed; absent = none is asked for. */
  hub_push?: HubPush;
  /** Digest of the link by which anybody reads the run; absent = there is none. */
  link_digest?: string;
  /** What answers said of the model that gave them, over all generations; absent = nothing, and in runs of before. */
  response_models?: ResponseModels;
  /** Limits of endpoints that the log says it waited for (grants/limited.ts); absent = none. */
  limits_told?: readonly string[];
  /** Lines of the environment in the log; absent = none. */
  environment_lines?: number;
  /** Sequence number of the newest event. */
  seq: number;
  created_at: number;
  started_at: number | null;
  /** `TIMEOUT` from here on; null = no limit. */
  deadline_at: number | null;
  ended_at: number | null;
  settled_at: number | null;
  swept: boolean;
  /** The last sweep failed, after others: the next one; absent = it did not. */
  sweep_retry?: { readonly failures: number; readonly at: number };
  /** Work time of earlier generations plus this one is not cumulative: start of this generation (`time_ms` of the metadata). */
  generation_started_at: number;
  updated_at: number;
}

/** What the end of a run still scores, while nothing more is generated. */
export interface LastScores {
  /** It waits no longer. Unix milliseconds of the Run's clock. */
  readonly until: number;
  /** Units that wait for whoever scores them, and those that were handed out; of the latter what comes back is handed out once more. */
  readonly units: readonly number[];
  readonly given: readonly number[];
  /** They were handed out once, and came back; absent = not yet. */
  readonly again?: true;
}

/** How far a generation has looked for what it repairs: a run of a million units is looked through in turns, beside its first calls. */
export interface RepairProgress {
  /** First unit that was not looked at. */
  readonly from: number;
  readonly score_again: boolean;
}

/** What a run knows of its endpoint in this generation. Times are Unix milliseconds of the Run's clock. */
export interface Health {
  streak: number;
  strikes: number;
  backoff_until: number;
  /** Whether any request was answered; absent = none. */
  answered?: boolean;
  /** First refusal since the last answer, and how many there were; absent = none. */
  refused_since?: number;
  refusals?: number;
}

export const freshHealth = (): Health => ({ streak: 0, strikes: 0, backoff_until: 0 });

/** Waiting for an executor that has the code of the run. Times are Unix milliseconds. */
export interface CodeWait {
  /** Digest that the last one who asked has; null: it had no environment of that name. */
  readonly found: string | null;
  /** Since when nobody has worked who has the run's code; null: somebody does. */
  readonly since: number | null;
  /** Nobody is asked before; 0 = anybody may be. */
  readonly retry_at: number;
  readonly tries: number;
}

/** The end of a local runtime under a boot that goes on, as it is learnt of: by a ticket of a runtime that is not the one the Run works in. */
export interface RuntimeDeath {
  readonly runtime: string;
  readonly at: number;
  /** Whether its tickets end by lease and grace only. */
  readonly waits: boolean;
}

/** Progress of writing `results.jsonl`: survives any crash of the executor that writes it. */
export interface FinaliseState {
  upload_id: string | null;
  /** Etags of the parts written, in order; `parts.length + 1` is the next part. */
  parts: string[];
  /** Next byte to write: `skip` bytes into the rows of `unit`, which counts examples as the data set has them (their rank). */
  unit: number;
  skip: number;
  /** Rows of permuted examples that were put into order (course/sorting.ts), by unit; absent = none. */
  sorted?: readonly SortedRows[];
  /** Of the rows in those parts; absent where an executor of before wrote one. */
  digest?: RowsDigestState;
  /** Of the file, once it is written; absent in runs of before. */
  rows_digest?: RowsDigest;
  /** Attempts in a row that wrote no part; absent = none. */
  failed?: FailedAttempts;
}

/** The rows of units `[lo, hi)` in the order of the data set, one behind the other from the first byte of `segment` on. */
export interface SortedRows extends UnitRange {
  readonly segment: string;
}

export interface FailedAttempts {
  readonly count: number;
  /** What was in the way of the last one; null: nothing was heard of its executor again. */
  readonly failure: Failure | null;
  /** Nobody is asked before; 0 = anybody may be. Unix milliseconds. */
  readonly retry_at: number;
}

export const freshFinalise = (): FinaliseState => ({ upload_id: null, parts: [], unit: 0, skip: 0 });

/** Of an evaluation that is pushed: nothing is prepared, and nothing generated. */
export function newPushedHead(config: RunConfig, boot: string, totals: Totals, now: number): RunHead {
  const head = newHead(config, boot, null, totals, now);
  return { ...head, status: "RUNNING", phase: "open", n: 0, pinned_for: 0, started_at: now, pushed: freshPushed() };
}

export function newHead(config: RunConfig, boot: string, source: ImportSource | null, totals: Totals, now: number): RunHead {
  return {
    version: config.batch === true ? BATCHING_HEAD_VERSION : HEAD_VERSION,
    status: "PENDING",
    phase: "preparing",
    generation: 1,
    epoch: 0,
    lapses: 0,
    wary: [],
    boot,
    interrupted: false,
    failure: null,
    drain: null,
    n: null,
    pinned_for: null,
    dataset_digest: null,
    env_digest: source?.env_digests?.at(-1) ?? null,
    ...(source?.env_digests !== undefined && source.env_digests.length > 1 ? { env_digests: source.env_digests } : {}),
    input_bytes: 0,
    pass_threshold: 0.5,
    env_sampling_args: {},
    cursor: 0,
    pending: 0,
    ...(config.stop_when === undefined ? {} : { unwatched: true }),
    keep_errors: source?.keep_errors ?? false,
    ...(source?.code_changed === true ? { score_again: true } : {}),
    done: 0,
    totals,
    // A span of them would be generated.
    ...(config.rescored_from === undefined ? {} : { undivided: true as const }),
    ...(config.batch === true ? { batching: freshBatching(0) } : {}),
    attempt: 0,
    import: source,
    finalise: freshFinalise(),
    // Above any number of a deleted run under the same id, which the Dispatcher may still remember.
    offer: { want: 0, seq: now, due: false, retry_at: 0, tries: 0 },
    projection: { version: 1, due: true, retry_at: 0, tries: 0 },
    health: freshHealth(),
    pulse: freshPulse(now),
    seq: 0,
    created_at: config.created_at,
    started_at: null,
    deadline_at: null,
    ended_at: null,
    settled_at: null,
    swept: false,
    generation_started_at: now,
    updated_at: now,
  };
}
