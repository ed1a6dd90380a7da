import type { EvaluatorFacts } from "../../evaluator/evaluator-control.ts";
import type { Result } from "../../../src/errors/result.ts";
import type { ScheduleFacts } from "../../schedule/schedule-control.ts";

/** The schedules and evaluators of a team, as its Registry has them: a copy of each for lists, and when each is to be woken. Times are Unix milliseconds. */

export interface IndexProjection<Facts> {
  readonly name: string;
  /** A lower one never overwrites a higher one. */
  readonly version: number;
  /** The watchdog looks from then on; null = nothing is to come by itself. */
  readonly wake_at: number | null;
  readonly facts: Facts;
}
export type ScheduleProjection = IndexProjection<ScheduleFacts>;
export type EvaluatorProjection = IndexProjection<EvaluatorFacts>;

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

/** The same of its evaluators. */
export interface EvaluatorIndexControl {
  reserveEvaluator(name: string): Promise<Result<null>>;
  projectEvaluator(projection: EvaluatorProjection): Promise<void>;
  listEvaluators(): Promise<readonly EvaluatorFacts[]>;
  dueEvaluators(before: number, most: number): Promise<readonly string[]>;
  forgetEvaluator(request: { readonly name: string; readonly deleted: boolean }): Promise<void>;
}
