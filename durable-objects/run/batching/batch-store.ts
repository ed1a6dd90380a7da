import type { JobNumber, UnitRange } from "../work.ts";
import type { AskedRange, Job } from "./job.ts";

/**
 * What a Run whose requests go out in batches remembers, as transitions see it: its jobs, and units that are not asked though they lie before the head's cursor.
 * From the cursor on none is.
 */
export interface BatchStore {
  /** All that there ever were, by number. */
  jobs(): readonly Job[];
  /** A job that is new, with the units that it is of. */
  add(job: Job, units: readonly AskedRange[]): void;
  /** A job that is known. */
  put(job: Job): void;
  /** What it was made of, ascending within what it was made of. */
  unitsOf(job: JobNumber): readonly AskedRange[];

  /** The first ranges that are not asked, ascending, until they are of so many units; the last of them may go beyond. */
  unasked(units: number): readonly AskedRange[];
  unaskedIn(range: UnitRange): readonly AskedRange[];
  putUnasked(range: AskedRange): void;
  deleteUnasked(lo: number): void;
  /** A new generation tries as often as the first did. */
  forgetTries(): void;
  /** Nothing before the cursor is to be asked. */
  clearUnasked(): void;
}
