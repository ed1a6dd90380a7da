import type { JobNumber, UnitRange } from "../work.ts";
import type { JobCounts, JobState } from "./batching-protocol.ts";

/** Units that are asked together, or are to be: `tries` says how often they were in this generation, and came back without all their answers. */
export interface AskedRange extends UnitRange {
  readonly tries: number;
}

/** One batch at the provider, as its Run knows it; of which units it is, is kept beside it (batch-store.ts). Times are Unix milliseconds of the Run's clock. */
export interface Job {
  readonly job: JobNumber;
  /** In which it was written. */
  readonly generation: number;
  readonly state: JobState;
  /** Index of its place among those of the run. */
  readonly place: number;
  /** Name of the object that has its requests. */
  readonly object: string;
  readonly bytes: number;
  readonly requests: number;
  /** How many units it is of. */
  readonly units: number;
  /** It asks for a part of one unit: with its answers that unit is asked on. Absent = it does not. */
  readonly cut?: true;
  /** The most that it can cost, in nano-dollars; null = no price is known, and no budget holds, or what they held for it is given back. */
  readonly bound: number | null;
  readonly file_id: string | null;
  /** When somebody first began to create it; null = nobody did, or what came of it is known. */
  readonly creating_at: number | null;
  readonly batch_id: string | null;
  /** Batches of it that failed as a whole; absent = none. */
  readonly failed?: readonly string[];
  readonly submitted_at: number | null;
  readonly ended_at: number | null;
  readonly expires_at: number | null;
  readonly counts: JobCounts;
  /** Requests that came back without an answer, by why; absent = none. */
  readonly lost?: Readonly<Record<string, number>>;
  /** Name of the object that says where its answers are; null until they are in storage. */
  readonly index: string | null;
  /** Looks since it was submitted, or asked to stop. */
  readonly looks: number;
  /** Attempts in a row at its next step that came to nothing. */
  readonly refusals: number;
  /** The next step is not done before; 0 = at once. */
  readonly due_at: number;
  /** The provider takes no more until others are over; absent = it may. */
  readonly full?: true;
}

const ENDS: readonly JobState[] = ["collected", "dropped"];
/** Whether something is still to be done for it. */
export const isLive = ({ state }: Job): boolean => !ENDS.includes(state);

const UNSENT: readonly JobState[] = ["written", "uploaded"];
/** Whether nobody has begun to create it at the provider. */
export const isUnsent = ({ state }: Job): boolean => UNSENT.includes(state);

/** Whether budgets may hold something for a job that will not come to anything. */
export const isHeld = ({ state, bound }: Job): boolean => state === "dropped" && bound !== null && bound > 0;

/** Whether the provider works on it, as far as is known. */
export const isAtWork = ({ state }: Job): boolean => state === "submitted" || state === "cancelling";

/** How many units ranges are of. */
export const unitsIn = (ranges: readonly UnitRange[]): number => ranges.reduce((sum, { lo, hi }) => sum + hi - lo, 0);
