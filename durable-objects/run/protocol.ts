import type { RowsDigest, RowsDigestState } from "../../src/rollouts/rows/rows-digest.ts";
import type { Failure } from "../../src/errors/result.ts";
import type { JsonObject, RunConfig, ResultsShape } from "../../src/config/plan/run-config.ts";
import type { RunScores } from "../../src/report/run-scores.ts";
import type { SandboxName } from "../../src/config/sandbox-names.ts";
import type { EnvironmentLine } from "../../src/logging/environment-line.ts";
import type { RolloutSummary, Unscored } from "../../src/metrics/rollout-summary.ts";
import type { Overspent } from "../budget/budget-control.ts";
import type { TicketTask } from "./ticket-task.ts";
import type { BaselineScores } from "./stopping/stopping-store.ts";
import type { Vitals } from "./vitals.ts";
import type { WindowAnswer } from "./window-answer.ts";
import type { Allowance, GivesBack, Holding } from "./holding.ts";
import type { CollectedJob, GrantedSandboxes, InputChunk, MergeSource, Piece, Redo, RescoredSource, RolloutSpan, UnitRange } from "./work.ts";

export type { Allowance, GivesBack, Holding } from "./holding.ts";
export type {
  CollectedJob,
  FolderSource,
  GrantedSandboxes,
  InputChunk,
  JobNumber,
  MergeSource,
  Piece,
  Redo,
  RescoredSource,
  RolloutSpan,
  UnitRange,
} from "./work.ts";
export type { TicketTask } from "./ticket-task.ts";
export type { Vitals } from "./vitals.ts";
export type { WindowAnswer } from "./window-answer.ts";

/**
 * What crosses the border between a Run and its executors. Every argument carries `protocol`, since a Worker and its Durable
 * Objects may run different versions for a while; every answer is a value (`kind`), never an exception.
 */
export const PROTOCOL = 1;

/** Identity of a grant. `epoch` is unique per grant within a run; a ticket number is reused, an epoch never is. */
export interface TicketId {
  readonly protocol: typeof PROTOCOL;
  readonly ticket: number;
  readonly epoch: number;
}

/** Part of a call under a grant that renews its lease: what a beat tells. Absent from claims and commits of executors of before. */
export interface Report {
  /** Units of which at least one rollout has begun, and which are not committed. */
  readonly started: readonly number[];
  readonly vitals: Vitals;
}

/** Part of an answer with the order `abort`. Executors of before stop as for any. */
export interface Ending {
  /**
   * The run has ended, and what is open is closed instead of left for whoever goes on with it; with `scored` what is generated of it is scored
   * first. Absent = it may go on in a moment.
   */
  readonly ends?: "closed" | "scored";
}

/** Part of the answer to a call that renews the lease. */
export interface Steering {
  /** What the grant lets be under way from now on, until the executor has said that it heard; absent = nothing else than before, and from Runs of before. */
  readonly allows?: Allowance;
}

/** Part of the answer: what that of a beat would say. Absent where the lease had ended, and from Runs of before, which beats alone renew. */
export interface Renewal extends Ending, Steering {
  readonly renewed?: true;
  readonly orders?: Orders;
}

export interface Grant extends TicketId, Holding {
  readonly kind: "grant";
  readonly task: TicketTask;
  readonly config: RunConfig;
  /** Whether anything was answered in this generation of the run; absent = no, and from runs of before. */
  readonly answered?: boolean;
  /** Milliseconds from the sending of an accepted join, claim, commit or beat until the lease ends. */
  readonly lease_ms: number;
  readonly beat_ms: number;
  /** Digest of the environment that the run is pinned to: who has another one says so (`otherCode`) instead of working. Absent: nothing is pinned. */
  readonly env_digest?: string;
  /** Rows carry `env_digest`: the run has rows of other code. */
  readonly marked?: boolean;
  /** The run has ended: units are scored that are generated, and nothing is generated; absent = it has not. */
  readonly scores_only?: true;
  /** Drivers whose sandboxes the run had, and what of them may be in use beside this grant; absent = it had none, and from Runs of before. */
  readonly sandboxes?: GrantedSandboxes;
  /** Number of the allowance that its numbers are of (`Allowance.size`); absent = 0, those of the join. */
  readonly size?: number;
  /** The Run tries again where loading or reading failed by something that may pass (`FailRequest.passing`); absent from Runs of before. */
  readonly tries_again?: true;
}

/** The environment is about to have its first sandbox of this driver under the grant. */
export interface SandboxRequest extends TicketId {
  readonly driver: SandboxName;
}

export interface JoinRequest {
  readonly protocol: typeof PROTOCOL;
  readonly executor: string;
  /** Raised by the executor once its earlier session of this run is over; the same number means that an answer was lost. */
  readonly seq: number;
  /** Model requests this executor can still carry; bounds the grant. */
  readonly free: number;
  /** Streamed requests that count as one of `free`, since they hold no connection while the model writes; absent = 1. */
  readonly streams?: number;
  readonly boot: string;
  /** Life of its process; absent from executors of before. */
  readonly runtime?: string;
  /** It compares the digest of its environment with the grant's; absent from executors of before. */
  readonly checks_code?: boolean;
  /** It takes rows of a result folder over beside its units, under a ticket of their own; absent from executors of before. */
  readonly adopts?: boolean;
  /** It takes a grant under which it only scores; absent from executors of before. */
  readonly scores_only?: true;
  /** It merges small segments beside its units, under a ticket of their own; absent from executors of before. */
  readonly merges?: boolean;
  /** It puts rows of permuted examples into order before it writes the final files; absent from executors of before. */
  readonly sorts?: true;
  /** It takes pushed samples in, under a ticket of their own; absent from executors of before. */
  readonly intakes?: boolean;
  /** It puts requests into batches and fetches their answers, under a ticket of their own, and answers units from them; absent from executors of before. */
  readonly batches?: true;
  /** It scores the rollouts of another run again; absent from executors of before, which would make some. */
  readonly rescores?: true;
  /** It takes another allowance while its grant lives; absent from executors of before, which are told to end where one is due. */
  readonly steers?: true;
}
/** `none`: nothing to do now; `closed`: the run has ended; `gone`: never created, or deleted. */
export type JoinAnswer = Grant | { readonly kind: "none" | "closed" | "gone" };

export interface ClaimRequest extends TicketId, GivesBack, Pick<Report, "started">, Partial<Pick<Report, "vitals">> {
  /** Raised by one per new claim; the same `seq` gets the same answer. */
  readonly seq: number;
  /** Lanes without a unit. */
  readonly free: number;
  /** Lanes expected to become free within a second. */
  readonly soon: number;
  /** Units of this ticket claimed and not yet committed, queued ones included. */
  readonly open: number;
  /** It takes a span of a unit's rollouts, generates it and has it kept; absent from executors of before. */
  readonly spans?: true;
}

export interface Block extends UnitRange {
  readonly kind: "block";
  /** A suspect unit: nothing else of this ticket may be open beside it. */
  readonly alone: boolean;
  /** The unit is not to be run: its error rows are to be written. */
  readonly poisoned: boolean;
  /** Some of it was open when an executor fell silent: each start is reported at once, so that a unit that kills quickly is found out. */
  readonly wary: boolean;
  readonly redo: readonly Redo[];
  /** Rollouts that are generated already, by unit; absent = none, and to executors of before, which generate them again. */
  readonly pieces?: readonly Piece[];
  /**
   * The unit is divided: these of its rollouts are to be generated, but for those in `pieces`, and kept without scores. All of them are, whatever they
   * ended in. Absent = whole units.
   */
  readonly span?: RolloutSpan;
  readonly chunks: readonly InputChunk[];
  /** Of a run whose requests go out in batches: those collected jobs that were made of its units, oldest first; absent = none. */
  readonly jobs?: readonly CollectedJob[];
}
/**
 * `empty`: nothing to hand out at present (`pending` tells whether that may change while this ticket lives). `divided`: there are rollouts for it once the
 * span that it has of their unit is over; absent = there are none.
 */
export type ClaimDecision =
  | Block
  | { readonly kind: "empty"; readonly pending: number; readonly divided?: true }
  | { readonly kind: "lost" | "closed" | "gone" };
export type ClaimAnswer = ClaimDecision & Renewal;

export interface CommitUnit {
  readonly unit: number;
  readonly offset: number;
  readonly length: number;
  readonly rollouts: readonly RolloutSummary[];
  readonly unscored?: Unscored;
  /** Its group was scored anew, as it had not been before; absent = it was not, and from executors of before. */
  readonly scored_anew?: true;
  /** Of a run that scores again: its source had others. */
  readonly scores_changed?: true;
}

/** Generated rollouts of a unit that is not done, in the segment of the commit. */
export type CommitPiece = Omit<Piece, "segment">;
export interface CommitRequest extends TicketId, GivesBack, Partial<Report> {
  readonly segment: string;
  readonly units: readonly CommitUnit[];
  /** Absent = none, and from executors of before. */
  readonly pieces?: readonly CommitPiece[];
}
/** How a commit crosses the border: its units as one JSON text, which costs about half of what as many objects do (docs/decisions/commit-as-text.md). */
export interface CommitCall extends TicketId, GivesBack, Partial<Report> {
  readonly segment: string;
  readonly units: string;
  readonly pieces?: string;
}
/** A unit taken over from a result folder: rollouts that the folder lacks are null, and its rows hold the others in order. */
export interface AdoptedUnit extends Omit<CommitUnit, "rollouts"> {
  readonly rollouts: readonly (RolloutSummary | null)[];
}
/** Under an `adopt` ticket. With this all parts before `part` are taken over, and of it all rows up to the example `through`. */
export interface AdoptRequest extends TicketId {
  readonly segment: string;
  readonly units: readonly AdoptedUnit[];
  readonly part: number;
  readonly through: number;
}
/** How it crosses the border, as a commit does. */
export interface AdoptCall extends Omit<AdoptRequest, "units"> {
  readonly units: string;
}
/** Where the pinned examples are. */
export type InputsAnswer = { readonly kind: "inputs"; readonly chunks: readonly InputChunk[] } | { readonly kind: "lost" | "gone" };
/** `accepted` also when repeated with the same segment; `duplicate`: done from another; `stale`: not this ticket's any more. */
export type CommitVerdict = "accepted" | "duplicate" | "stale" | "closed";
/** `orders`: what a beat would be told now, so that a cancelled run starts nothing more from what it has already claimed. */
export type CommitAnswer =
  | ({ readonly kind: "committed"; readonly verdicts: readonly CommitVerdict[]; readonly orders: Orders; readonly renewed?: true } & Ending & Steering)
  | { readonly kind: "gone" };
export type Orders = "continue" | "drain" | "abort";

/** Sent when no claim and no commit has renewed the lease for `beat_ms`. */
export interface BeatRequest extends TicketId, GivesBack, Report {}
/** `drain`: finish what is open; `abort`: stop now; `lost`: this grant is over. */
export type BeatAnswer = { readonly kind: "continue" | "drain" | "abort" | "lost" | "gone" } & Ending & Steering;

export interface PreparedRequest extends TicketId {
  readonly attempt: number;
  /** Those that no call has named yet: all of a first preparation, the appended ones of a growth, of either the ones since the last part. */
  readonly chunks: readonly InputChunk[];
  readonly count: number;
  /** Further examples are being read, and pinned by calls to come; absent = these are all. Only where the task is `in_parts`. */
  readonly more?: true;
  /** Chain digest over all `count` rows. */
  readonly digest: string;
  readonly env_digest: string;
  /** What the data set is called; null or absent where nobody but who uploaded it knows. */
  readonly dataset_name?: string | null;
  /** Tasks of the data set that are in no example; absent = nobody counted them. */
  readonly n_not_run?: number;
  readonly pass_threshold: number;
  /** Lowest and highest reward that a rollout can have; absent from executors of before = 0 to 1. */
  readonly reward_range?: readonly [number, number];
  /** What each metric counts for in the reward, as far as it can be said; absent from executors of before. */
  readonly reward_weights?: Readonly<Record<string, number>>;
  /** Defaults of the environment, for `metadata.json`. */
  readonly env_sampling_args: JsonObject;
  /** The tools that all rows share, for `metadata.json`; absent from executors of before, and null when they differ or take too many bytes. */
  readonly tools?: readonly JsonObject[] | null;
  /** Lanes of the whole run, where the environment or its options say; null or absent = as many as the requests need. */
  readonly concurrency?: number | null;
  /** Units are played in one piece: nothing of one is kept before it is over, and none is divided; absent = they are not. */
  readonly whole?: true;
  /** Of the rows that the environment gives itself, where that is not ours. */
  readonly results_shape?: ResultsShape;
  /** What the run that this one is held against scored at the units that the call adds. */
  readonly baseline?: BaselineScores;
  /** Units that a result folder has no row of, where one is to be taken over; absent = it may have rows of all. */
  readonly lacks?: readonly UnitRange[];
  /** Of a run that scores again, with its last part. */
  readonly source?: RescoredSource;
  /** Parts of the newly pinned examples that stand in an order of their own, ascending, by the seed of the run (`RunConfig.order_seed`); absent = none, and from executors of before. */
  readonly permuted?: readonly UnitRange[];
}

/** A first-of-its-kind error, a retry burst, a warning: shown by viewers, written to `eval.log`. */
export interface NoteRequest extends TicketId {
  readonly level: "DEBUG" | "INFO" | "WARNING" | "ERROR";
  readonly message: string;
  /** Lines that the environment printed: then these are what is noted, and `level` and `message` are the first's. */
  readonly environment?: readonly EnvironmentLine[];
}

export interface LeaveRequest extends TicketId {
  /** Rollouts of this environment cannot be kept, so its units are not to be divided; absent = they can, as far as is known. */
  readonly undivided?: true;
}

/** Nothing is left in this Budget (src/budgets/budget-name.ts) for the least of what waits under the grant. */
export interface OverBudgetRequest extends TicketId {
  readonly budget: string;
  readonly over: Overspent;
}

/** The environment of this executor has another digest than the grant names; null: it has none of that name. */
export interface OtherCodeRequest extends TicketId {
  readonly env_digest: string | null;
}

/** Ends the run `FAILED` (fatal provider answer, environment that does not load, data set that cannot be read). */
export interface FailRequest extends TicketId {
  readonly failure: Failure;
  /**
   * It may pass: the run tries again, up to a bound, to write its files, to load its environment or to read its examples. Absent = it does not. Runs
   * of before do so under a `finalise` ticket only (`Grant.tries_again`).
   */
  readonly passing?: boolean;
  /** As in `Vitals`: answers that no beat has told yet. Absent from executors of before. */
  readonly progress?: number;
}
/** With `pause_ms` the run goes on: the executor finishes what it has open, and joins again so many milliseconds later. */
export type FailAnswer = Ack & { readonly pause_ms?: number };

/** `segment` is stored, and holds the rows of these units as a window of the kind `sort` named them. */
export interface SortedRequest extends TicketId, UnitRange {
  readonly segment: string;
}
export interface PartRequest extends TicketId {
  readonly part: number;
  readonly etag: string;
  /** Of all parts up to this one; absent from executors of before. */
  readonly digest?: RowsDigestState;
}
export interface UploadRequest extends TicketId {
  readonly upload_id: string;
}
/** Of `metadata.json` as it was written, for lists; absent from executors of before. */
export interface FinalisedRequest extends TicketId {
  readonly scores?: RunScores;
  /** Of `results.jsonl` as it was written. */
  readonly rows_digest?: RowsDigest;
}
export type Ack = { readonly kind: "ok" | "lost" | "gone" };
/** `more`: the run is not looked through yet, and is to be told again. */
export type AdoptedAnswer = Ack | { readonly kind: "more" };

/** Under a `merge` ticket: what is to be merged next. `through`: of the last plan, all of which is done; null = there was none. */
export interface MergePlanRequest extends TicketId {
  readonly through: number | null;
}
/** `sources`: in the order in which their rows are in `results.jsonl`. `none`: nothing more for now. */
export type MergePlanAnswer =
  | { readonly kind: "plan"; readonly through: number; readonly sources: readonly MergeSource[] }
  | { readonly kind: "none" | "lost" | "gone" };
/** `target` is stored, and holds the sources one behind the other. */
export interface MergedRequest extends TicketId {
  readonly target: string;
  readonly sources: readonly MergeSource[];
}

/** The Run's methods for executors. */
export interface RunExecution {
  join(request: JoinRequest): Promise<JoinAnswer>;
  claim(request: ClaimRequest): Promise<ClaimAnswer>;
  commit(call: CommitCall): Promise<CommitAnswer>;
  beat(request: BeatRequest): Promise<BeatAnswer>;
  leave(request: LeaveRequest): Promise<Ack>;
  prepared(request: PreparedRequest): Promise<Ack>;
  inputs(request: TicketId): Promise<InputsAnswer>;
  adopt(call: AdoptCall): Promise<Ack>;
  /** Ends an adoption: units that the folder turned out to have no rows of become pending. */
  adopted(request: TicketId): Promise<AdoptedAnswer>;
  note(request: NoteRequest): Promise<Ack>;
  fail(request: FailRequest): Promise<FailAnswer>;
  /** Ends it in order, `CANCELLED`; as often as it is told. */
  endOverBudget(request: OverBudgetRequest): Promise<Ack>;
  /** Kept before there is one, so that whoever comes after a killed executor knows where to look. */
  sandbox(request: SandboxRequest): Promise<Ack>;
  /** `ok`: go on, with marked rows; `lost`: the grant has ended. */
  otherCode(request: OtherCodeRequest): Promise<Ack>;
  mergePlan(request: MergePlanRequest): Promise<MergePlanAnswer>;
  merged(request: MergedRequest): Promise<Ack>;
  window(request: TicketId): Promise<WindowAnswer>;
  sorted(request: SortedRequest): Promise<Ack>;
  upload(request: UploadRequest): Promise<Ack>;
  part(request: PartRequest): Promise<Ack>;
  finalised(request: FinalisedRequest): Promise<Ack>;
}
