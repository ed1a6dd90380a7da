import type { Result } from "../../../src/errors/result.ts";
import type { MonitorFacts } from "../../monitor/monitor-control.ts";

/** The monitors of a team, as its Registry has them: the object of each name, a copy of each for lists, and when each is to be woken. Times are Unix milliseconds. */

export interface MonitorProjection {
  readonly name: string;
  readonly id: string;
  /** A lower one never overwrites a higher one. */
  readonly version: number;
  /** The watchdog looks from then on; null = nothing is to come by itself. */
  readonly wake_at: number | null;
  /** Null: it is deleted. */
  readonly facts: MonitorFacts | null;
}

export interface MonitorIndexControl {
  /** Before the monitor itself is made, so that none is lost: the name of its object, drawn where there is none. Fails where the team has as many as it may. */
  reserveMonitor(name: string): Promise<Result<{ readonly id: string }>>;
  /** Name of the object; null where no monitor is called so. */
  monitorId(name: string): Promise<string | null>;
  projectMonitor(projection: MonitorProjection): Promise<void>;
  /** By their names. */
  listMonitors(): Promise<readonly MonitorFacts[]>;
  /** Those that were to be woken before `before`, at most `most`, the longest overdue first. */
  dueMonitors(before: number, most: number): Promise<readonly { readonly name: string; readonly id: string }[]>;
  /** The monitor was deleted; or there is none, and nobody has been about to make one for a minute. */
  forgetMonitor(request: { readonly name: string; readonly id: string; readonly deleted: boolean }): Promise<void>;
  /** Of the default team's, for all: the watchdog has come. Noted once somebody has asked `heardFrom`. */
  notePulse(): Promise<void>;
  /** Of the default team's, for all: before this the service was away, so that beats could not arrive; 0 = it never was. */
  heardFrom(): Promise<number>;
}
