import type { Result } from "../../../src/errors/result.ts";
import type { ScheduleFacts } from "../../schedule/schedule-control.ts";

/** The schedules of a team, as its Registry has them: a copy of each for lists, and when each is to be woken. Times are Unix milliseconds. */

export interface ScheduleProjection {
  readonly name: string;
  /** A lower one never overwrites a higher one. */
  readonly version: number;
  /** The watchdog looks from then on; null = nothing is to come by itself. */
  readonly wake_at: number | null;
  readonly facts: ScheduleFacts;
}

export interface ScheduleIndexControl {
  /** Before the schedule itself is made, so that none is lost. Fails where the team has as many as it may. Whether it is there already changes nothing. */
  reserveSchedule(name: string): Promise<Result<null>>;
  projectSchedule(projection: ScheduleProjection): Promise<void>;
  /** By their names. */
  listSchedules(): Promise<readonly ScheduleFacts[]>;
  /** Names of those that were to be woken before `before`, at most `most`, the longest overdue first. */
  dueSchedules(before: number, most: number): Promise<readonly string[]>;
  /** The schedule was deleted; or there is none, and nobody has been about to make one for a minute. */
  forgetSchedule(request: { readonly name: string; readonly deleted: boolean }): Promise<void>;
}
