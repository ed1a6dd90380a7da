import type { Failure } from "../../../src/errors/result.ts";
import type { Ack, TicketId } from "../protocol.ts";
import type { CollectedJob, InputChunk, JobNumber, Piece, Redo, UnitRange } from "../work.ts";

/**
 * What crosses the border between a Run whose requests go out in batches (`--batch`) and the executor that carries them, under a ticket of their own
 * (`batch`), of which there is one at a time. The Run owns the jobs and says the next step; the executor does it and tells what became of it, so that whoever
 * comes after a kill goes on with the step that was not told.
 */

/**
 * `written`: its requests are in storage. `uploaded`: the provider has them as a file (OpenAI's route alone). `creating`: it may have been created there, which
 * nobody was told yet: it is looked for before it is created. `submitted`: the provider works on it. `cancelling`: it was asked to stop. `ended`: it is over there, its
 * answers are to be fetched. `collected`: they are in storage. `dropped`: it never began there, and its units are to be asked again.
 */
export const JOB_STATES = ["written", "uploaded", "creating", "submitted", "cancelling", "ended", "collected", "dropped"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** How many of its requests have come to which end at the provider. */
export interface JobCounts {
  readonly answered: number;
  readonly failed: number;
}

/** The next step. `until`: nothing is to be done before then, in milliseconds from now. */
export type BatchPlan =
  /**
   * Requests of these units are to be written, as far as they fit into one job; of those in `known` what was answered is not asked again, nor are rollouts that
   * a `redo` keeps or that are generated in `pieces`. `first`: no job of this generation is written yet: whether a unit asks the same twice is tried.
   */
  | {
      readonly kind: "write";
      readonly job: JobNumber;
      readonly first: boolean;
      readonly units: readonly UnitRange[];
      readonly chunks: readonly InputChunk[];
      readonly redo: readonly Redo[];
      readonly pieces: readonly Piece[];
      readonly known: readonly CollectedJob[];
    }
  | { readonly kind: "upload"; readonly job: JobNumber; readonly place: number; readonly object: string; readonly bytes: number }
  /**
   * `creating_at`: somebody began to (Unix milliseconds): it is looked for first. Null: nobody did. `find_only`: the run takes no more into batches, so it is not
   * created where it is not found (`absent`).
   */
  | {
      readonly kind: "create";
      readonly job: JobNumber;
      readonly place: number;
      readonly object: string;
      readonly bytes: number;
      readonly requests: number;
      readonly file_id: string | null;
      readonly creating_at: number | null;
      readonly find_only?: true;
      /** The most that it can cost, as it was written. */
      readonly bound: number | null;
      /** Batches of the provider's that other jobs are, or that failed as a whole. */
      readonly taken: readonly string[];
    }
  | { readonly kind: "look" | "cancel"; readonly job: JobNumber; readonly place: number; readonly batch_id: string }
  /** Its answers are to be put into storage. `units`: those that it was made of. */
  | {
      readonly kind: "collect";
      readonly job: JobNumber;
      readonly place: number;
      readonly batch_id: string;
      readonly object: string;
      readonly requests: number;
      readonly units: readonly UnitRange[];
      readonly redo: readonly Redo[];
      readonly pieces: readonly Piece[];
      readonly known: readonly CollectedJob[];
    }
  /** It was dropped, and nothing of it is at its provider, nor will be: what is held for it in budgets is to be given back. */
  | { readonly kind: "release"; readonly job: JobNumber; readonly place: number }
  | { readonly kind: "wait"; readonly until_ms: number }
  | { readonly kind: "none" | "lost" | "gone" };

/** What a step has come to. Repeating one that is known already changes nothing. */
export type BatchOutcome =
  /** `units`: what it was made of, a front part of what was planned. `ready`: units of them with nothing to ask (all is answered already, or they cannot be asked): they are played. */
  | {
      readonly kind: "wrote";
      readonly job: JobNumber;
      readonly place: number;
      readonly object: string | null;
      readonly bytes: number;
      readonly requests: number;
      readonly units: readonly UnitRange[];
      readonly ready: readonly UnitRange[];
      /** Of the one unit that it asks for there was room for some requests only: the others are in no job yet. Absent = for all. */
      readonly cut?: true;
      /** The most that it can cost, in nano-dollars; null = no price is known, and no budget holds. */
      readonly bound: number | null;
    }
  /** `file_id`: null where a batch is created with its requests. */
  | { readonly kind: "uploaded"; readonly job: JobNumber; readonly file_id: string | null }
  /** It is about to be created: told before each request that may create it, which is sent after `ok` alone. */
  | { readonly kind: "creating"; readonly job: JobNumber }
  | { readonly kind: "submitted"; readonly job: JobNumber; readonly batch_id: string; readonly expires_at: number | null }
  | { readonly kind: "seen"; readonly job: JobNumber; readonly state: "submitted" | "cancelling" | "ended"; readonly counts: JobCounts }
  | { readonly kind: "released"; readonly job: JobNumber }
  /** It was looked for, and nobody created it (`find_only`). */
  | { readonly kind: "absent"; readonly job: JobNumber }
  /**
   * The step was not done, or of a job that is to be written nothing was. `full`: the provider takes no more until others are over, and nothing was created, or what was failed as a whole; `passing`: it is tried
   * again, and what it may have created is looked for; `missing`: the provider knows no such batch (any more), or not its results, and its requests are asked again;
   * `for-good`: the run cannot go on. `batch_id`: of one that failed as a whole, before a request was answered.
   */
  | {
      readonly kind: "refused";
      readonly job: JobNumber;
      readonly failure: Failure;
      readonly how: "full" | "passing" | "missing" | "for-good";
      readonly batch_id?: string;
    }
  /** `ready`: units that have all their answers, or none to wait for; `again`: units with requests that were lost or expired. */
  | {
      readonly kind: "collected";
      readonly job: JobNumber;
      readonly index: string;
      readonly counts: JobCounts;
      /** Requests that came back without an answer, by why. */
      readonly lost: Readonly<Record<string, number>>;
      readonly ready: readonly UnitRange[];
      readonly again: readonly UnitRange[];
    };

export interface BatchPlanRequest extends TicketId {
  /** Milliseconds that the executor has left for steps. */
  readonly left_ms: number;
}
export interface BatchToldRequest extends TicketId {
  readonly outcome: BatchOutcome;
}

/** The Run's methods for whoever holds its ticket of the kind `batch`. `lost`: the grant has ended, or the step is not to be done any more. */
export interface BatchExecution {
  /** What is to be done next; the same again until it is told what became of it. */
  batchPlan(request: BatchPlanRequest): Promise<BatchPlan>;
  batchTold(request: BatchToldRequest): Promise<Ack>;
}

/** What people see of it. */
export interface BatchView {
  /** Units that are not asked yet. */
  readonly unasked: number;
  readonly jobs: readonly {
    readonly job: JobNumber;
    readonly state: JobState;
    readonly requests: number;
    readonly counts: JobCounts;
    readonly batch_id: string | null;
    readonly submitted_at: number | null;
    readonly ended_at: number | null;
    readonly expires_at: number | null;
  }[];
  /** Requests in all jobs that there were, and their ends; `lost` by why. */
  readonly requests: number;
  readonly answered: number;
  readonly failed: number;
  readonly lost: Readonly<Record<string, number>>;
  /** When the provider is looked at next; null = not until something else happens. */
  readonly look_at: number | null;
  /** It takes no more into batches, cancels those that are under way, and ends with what they answered; null = it does not. */
  readonly closing: "timeout" | "cancelled" | "budget" | null;
}
