import type { BaselineControl } from "./baselines/baseline-control.ts";
import type { KeptBudgetControl } from "./budgets/kept-budget-control.ts";
import type { EndpointControl } from "./endpoint-control.ts";
import type { LimiterIndexControl } from "./limiters/limiter-index-control.ts";
import type { RunListQuery } from "./lists/list-query.ts";
import type { LinkControl } from "./links/link-control.ts";
import type { NamedDatasetControl } from "./named-dataset-control.ts";
import type { PublishedControl } from "./published/published-control.ts";
import type { SecretControl } from "./secrets/secret-control.ts";
import type { AuditEnd, AuditEntry, NewAuditEntry } from "./audit-control.ts";
import type { JsonObject } from "../../src/config/plan/run-config.ts";
import type { Result } from "../../src/errors/result.ts";
import type { Estimate } from "../../src/metrics/one-run/estimate.ts";
import type { PassIntervals } from "../../src/metrics/pass-at-k.ts";
import type { RunStatus } from "../../src/config/run-status.ts";
import type { Cost } from "../../src/prices/price.ts";
import type { TokenUse, Use } from "../../src/teams/admission.ts";
import type { TeamLimitName, TeamLimits } from "../../src/teams/limits.ts";
import type { TeamOf } from "../../src/teams/team-name.ts";

/** A versioned copy of what lists show of a run; the Run is the owner, a lower version never overwrites a higher one. */
export interface RunProjection {
  readonly run_id: string;
  readonly version: number;
  readonly env_id: string;
  readonly model: string;
  readonly name: string | null;
  readonly status: RunStatus;
  /** At work, and poked by the watchdog: not settled and not suspended. */
  readonly active: boolean;
  readonly settled: boolean;
  /** In which it is; absent in projections of before. */
  readonly generation?: number;
  readonly num_examples: number;
  readonly rollouts_per_example: number;
  readonly total_rollouts: number;
  readonly done_rollouts: number;
  readonly avg_reward: number | null;
  // Absent in projections of before.
  /** For an executor with its code. */
  readonly waiting?: true;
  /** Nothing of it begins until somebody continues it; absent = it is not paused. */
  readonly paused?: true;
  /** Its rule to stop by was met; absent = it was not, or it has none. */
  readonly stopped_early?: true;
  /** There is a link by which anybody reads it. */
  readonly is_public?: true;
  /** It has settled, and is to be pushed to the Hub yet: poked by the watchdog, and counted by no limit. */
  readonly owes_push?: true;
  /** Its rows were made elsewhere. */
  readonly pushed?: true;
  readonly dataset_name?: string | null;
  readonly extra_env_kwargs?: JsonObject;
  readonly errored_rollouts?: number;
  /** These of settled runs; of metrics those that have room in a list. */
  readonly reward_ci95?: readonly [number, number] | null;
  readonly pass_at_k?: Readonly<Record<string, number>>;
  readonly pass_at_k_ci95?: PassIntervals;
  readonly metric_estimates?: Readonly<Record<string, Estimate>>;
  /** Dollars; absent where the cost is known of no rollout. */
  readonly cost?: Cost & { readonly unpriced_rollouts?: number };
  readonly tokens?: { readonly input: number; readonly output: number };
  /** Of its judges, as far as it is known. */
  readonly judges_cost_usd?: number;
  /** Rows, final files and pinned inputs. */
  readonly stored_bytes?: number;
  /** Absent = none. */
  readonly tags?: readonly string[];
  readonly created_by?: string;
  /** Unix milliseconds; null = not yet. */
  readonly started_at?: number | null;
  readonly ended_at?: number | null;
  readonly error_message: string | null;
  /** Unix milliseconds. */
  readonly created_at: number;
  readonly updated_at: number;
}

export interface ReserveRequest extends TeamOf {
  /** Wanted ids in order of preference; the first free ones are taken. */
  readonly candidates: readonly string[];
  /** Ids to take; one when absent. */
  readonly count?: number;
  readonly idempotency_key: string | null;
  /** Digest of the request body: the same key with another body is a conflict. */
  readonly body_digest: string;
  /** Uploads that the runs will point to; absent = none. */
  readonly uploads?: readonly string[];
  /** `max_concurrent` of each run; absent = from a door of before, which asks for no limit. */
  readonly rollouts?: readonly number[];
  /** Whose they are to count as too; null or absent = no token's. */
  readonly token?: TokenUse | null;
  /** Unix milliseconds. */
  readonly now: number;
}

export interface Reservation {
  readonly run_ids: readonly string[];
  /** The key was used before with the same body: these are the ids of then. */
  readonly existing: boolean;
  /** Of them, those whose runs were deleted meanwhile. */
  readonly deleted: readonly string[];
  /** `max_concurrent` that each is given; absent where the request names none. */
  readonly rollouts?: readonly number[];
}

/** A run that rests and is to begin again; times in Unix milliseconds. */
export interface ResumeAdmission extends TeamOf {
  readonly run_id: string;
  /** Its `max_concurrent` from then on. */
  readonly rollouts: number;
  readonly token: TokenUse | null;
  readonly now: number;
}

/** An upload that is about to be stored. */
export interface UploadAdmission extends TeamOf {
  readonly digest: string;
  readonly bytes: number;
  readonly now: number;
}

/** `null`: no limit; `default`: what holds where nobody says. */
export type LimitChanges = { readonly [Name in TeamLimitName]?: number | null | "default" };

/** What becomes of a settled run. */
export interface RunStanding {
  /** It stays, however old. */
  readonly kept: boolean;
  /** The notice: it is removed then, in Unix milliseconds. Null = it has none. */
  readonly removal_at: number | null;
}

/** A run as lists show it. */
export type ListedRun = RunProjection & Partial<RunStanding>;

export interface LimitFacts {
  /** As somebody set them. */
  readonly set: TeamLimits;
  /** As they hold. */
  readonly limits: Readonly<Record<TeamLimitName, number | null>>;
  readonly used: Use & { readonly stored_bytes: number };
}

/** Milliseconds and runs. */
export interface SweepRequest {
  /** Whose uploads; absent = the default team's. */
  readonly team?: string;
  readonly grace_ms: number;
  readonly limit: number;
}

/** `ask`: these runs are to be asked what they point to; `more`: uploads are left to look at; `idle`: nothing is to be done now. */
export type SweepTurn = { readonly kind: "ask"; readonly round: number; readonly runs: readonly string[] } | { readonly kind: "more" | "idle" };

/** Uploads that runs point to. */
export interface InUse {
  readonly round: number;
  readonly digests: readonly string[];
  /** All runs up to this one are told with this; "" where more of them follows. */
  readonly through: string;
}

export interface RegistryControl
  extends EndpointControl,
    BaselineControl,
    NamedDatasetControl,
    PublishedControl,
    LinkControl,
    LimiterIndexControl,
    KeptBudgetControl,
    SecretControl {
  /** The number of the entry. */
  noteAudit(entry: NewAuditEntry): Promise<number>;
  endAudit(end: AuditEnd): Promise<void>;
  /** Entries after this number, oldest first; or those before it, newest first, where 0 is behind the newest. */
  listAudit(after: number, limit: number, newestFirst?: boolean): Promise<readonly AuditEntry[]>;
  /** One transaction: ids and, when given, their idempotency key. */
  reserve(request: ReserveRequest): Promise<Result<Reservation>>;
  /** `max_concurrent` with which the run may begin again; it counts from here on, for a minute or until it says so itself. */
  admitResume(request: ResumeAdmission): Promise<Result<number>>;
  /** It was not resumed. */
  withdrawResume(runId: string): Promise<void>;
  /** Counts an upload that is about to be stored. */
  admitUpload(request: UploadAdmission): Promise<Result<null>>;
  /** It was not stored. */
  dropUpload(digest: string): Promise<void>;
  /** The limits of the team, and what is used of them. */
  limits(team: TeamOf): Promise<LimitFacts>;
  setLimits(team: TeamOf, changes: LimitChanges): Promise<LimitFacts>;
  /** Gives a reserved id back when the Run could not be created. */
  release(runId: string): Promise<void>;
  project(projection: RunProjection): Promise<void>;
  /** Whether the id is that of a run of the team, or reserved for one. */
  has(runId: string): Promise<boolean>;
  list(query: RunListQuery): Promise<{ readonly runs: readonly ListedRun[]; readonly total: number }>;
  /** Another text whenever the list of runs may be another one. */
  listChanges(): Promise<string>;
  /** Of a run that there is. */
  standing(runId: string): Promise<RunStanding>;
  /** Keeps a run, or lets its time go on; refused for one that is being removed. */
  keep(runId: string, kept: boolean): Promise<Result<RunStanding>>;
  /** Gives notices and prunes the audit, each a bounded part, and names runs that are to be removed now, at most `most`. */
  retain(request: TeamOf & { readonly most: number }): Promise<readonly string[]>;
  /** Ids of runs the watchdog pokes (active, or owing something), at most `limit`: each time the next ones, round and round. */
  turn(limit: number): Promise<readonly string[]>;
  forget(runId: string): Promise<void>;
  /** Somebody is about to name these uploads: whichever of them is there when this is answered stays for a grace. */
  keepUploads(digests: readonly string[]): Promise<void>;
  /** One turn of the sweep of uploads that no run points to. */
  sweepUploads(request: SweepRequest): Promise<SweepTurn>;
  markUploads(inUse: InUse): Promise<void>;
}
