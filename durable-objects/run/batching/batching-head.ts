import type { Failure } from "../../../src/errors/result.ts";

/** Why a run takes no more into batches, though units of it are not asked. */
export type ClosingReason = "timeout" | "cancelled" | "budget";

/** Batches under way are cancelled, and what they answered is played; then the run ends. */
export interface Closing {
  readonly why: ClosingReason;
  /** It waits no longer. Unix milliseconds of the Run's clock, as all times here. */
  readonly until: number;
  /** What the run will have ended by; null where somebody cancelled it. */
  readonly failure: Failure | null;
  /** Scores wait for money that nobody has: they are not waited for. Absent = none do. */
  readonly unpaid?: true;
}

/** Part of the head of a run whose requests go out in batches: `pending` counts the units that have their answers, and those before the cursor alone were ever asked. */
export interface BatchingHead {
  /** Units that are not asked: all from the cursor on, and those that its tables name (batch-store.ts). */
  readonly unasked: number;
  /** When a step is due; 0 = one is, null = none until something else happens. */
  readonly next_at: number | null;
  /** Units of a job at most, since the provider took no more at once; absent = as many as fit. */
  readonly most_units?: number;
  /** No job is written before, since nobody had room or money for one; absent = one may be. */
  readonly write_at?: number;
  /** Attempts in a row to write one that came to nothing; absent = none. */
  readonly write_refusals?: number;
  /** Absent = it is not. */
  readonly closing?: Closing;
}

export const freshBatching = (unasked: number): BatchingHead => ({ unasked, next_at: null });

export const withoutClosing = ({ closing: _, ...batching }: BatchingHead): BatchingHead => batching;
