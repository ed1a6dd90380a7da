import type { Beginning, ComparisonOrder, ComparisonOutcome, DriftState, RunDrift } from "../../src/drift/series.ts";
import type { Failure, Result } from "../../src/errors/result.ts";
import type { ScheduleDefinition } from "../../src/schedules/definition.ts";
import type { Active, Creator, DataPin, DueKind, Order, Outcome, Paused, SeenRun, SeriesEvent, Waiting } from "../../src/schedules/state.ts";

/** What crosses the border between a schedule's object and the door, the watchdog, and whoever creates its runs. Times are Unix milliseconds. */

/** A schedule as lists show it, without its series. */
export interface ScheduleFacts {
  readonly name: string;
  readonly id: string;
  readonly definition: ScheduleDefinition;
  readonly created_by: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly paused: Paused | null;
  readonly active: (Pick<Active, "run_id" | "since" | "cancel" | "failure"> & { readonly due: number }) | null;
  readonly waiting: readonly Waiting[];
  readonly pin: DataPin | null;
  readonly env_digest: string | null;
  readonly last: SeriesEntry | null;
  readonly missed: StoredSeriesEvent | null;
  /** What its next times follow from (src/schedules/due-times.ts). */
  readonly anchor: number;
  readonly decided: number;
}

/** One due time that was begun, or was not though it came. */
export interface SeriesEntry {
  readonly due: number;
  readonly kind: DueKind;
  readonly outcome: Outcome;
  /** When it was decided. */
  readonly at: number;
  /** Of the run, once it is over; null = it is not, there is none, or it was deleted before. */
  readonly ended: (Pick<SeenRun, "status" | "avg_reward" | "reward_ci95" | "dataset_digest" | "env_digest"> & { readonly at: number }) | null;
  /** The schedule deleted the run, since later ones are kept. */
  readonly removed: boolean;
  /** Of its run, since it is over; absent = nothing is said of it, as of those before there was such a thing. */
  readonly drift?: RunDrift;
}

/** Where a series stands. */
export interface DriftFacts extends Pick<DriftState, "baseline" | "since" | "settings"> {
  readonly verdict: DriftState["course"]["verdict"];
  readonly began: Beginning;
  /** Runs that were judged since. */
  readonly judged: number;
  /** Runs that are to be compared yet. */
  readonly waiting: number;
}

export interface StoredSeriesEvent {
  readonly seq: number;
  readonly at: number;
  readonly event: SeriesEvent;
}

export interface ScheduleView extends ScheduleFacts {
  /** The newest first. */
  readonly series: readonly SeriesEntry[];
  /** The newest first. */
  readonly events: readonly StoredSeriesEvent[];
  /** Null before the first run has ended. */
  readonly drift: DriftFacts | null;
}

export interface SchedulePut {
  readonly team: string;
  readonly name: string;
  readonly definition: ScheduleDefinition;
  readonly creator: Creator;
}

export interface ScheduleControl {
  /** Makes it, or gives it another definition; the same once more changes nothing. */
  put(put: SchedulePut): Promise<Result<ScheduleView>>;
  /** Null where there is none. */
  view(): Promise<ScheduleView | null>;
  pause(request: { readonly by: string; readonly reason: string }): Promise<Result<ScheduleView>>;
  resume(request: { readonly creator: Creator }): Promise<Result<ScheduleView>>;
  /** A run beside those of its due times. `id`: the same asks for the same run. */
  run(request: { readonly id: string }): Promise<Result<ScheduleView>>;
  /** What is to be created for this due time; null where nothing is, any more. */
  order(due: number): Promise<Order | null>;
  created(request: { readonly due: number; readonly run_id: string }): Promise<void>;
  refused(request: { readonly due: number; readonly failure: Failure; readonly passing: boolean }): Promise<void>;
  /** What this run is to be compared with; null where that is not to be done, or not yet. */
  comparison(runId: string): Promise<ComparisonOrder | null>;
  compared(request: { readonly run_id: string; readonly outcome: ComparisonOutcome }): Promise<void>;
  /** The series of comparisons begins anew. */
  resetDrift(): Promise<Result<ScheduleView>>;
  /** The watchdog: what its alarm would have done. Whether there is such a schedule. */
  poke(): Promise<boolean>;
  /** Whether there was one. Its runs stay. */
  remove(): Promise<boolean>;
}
