import type { ExampleScore } from "../../../src/metrics/sequential/envelope-bounds.ts";
import type { WatchState } from "../../../src/metrics/sequential/stop-watch.ts";

/** What a Run that may stop early remembers, as transitions see it. */

/** How far the run was watched. It can be made anew from the done units at any time. */
export interface StoredWatch {
  readonly version: 1;
  /** The first unit that it has not seen: it has seen all before it. */
  readonly next: number;
  /** Null: none yet. */
  readonly state: WatchState | null;
  /** Why it looks no more: the run plays all of its examples. Absent = it looks. */
  readonly blind?: string;
}

/** Scores of the baseline, by unit; where some of an example's attempts have none, the least and the most that it can be. */
export type BaselineScore = number | ExampleScore;

export interface BaselineScores {
  /** Of units that follow each other. */
  readonly scores: readonly BaselineScore[];
  /** All are 0 or 1, of single attempts. */
  readonly pairs: boolean;
}

export interface StoppingStore {
  /** Null: nothing was looked at. */
  watch(): StoredWatch | null;
  putWatch(watch: StoredWatch): void;
  /** Of the units from `lo` on, in the place of what was there of them. */
  putBaseline(lo: number, baseline: BaselineScores): void;
  /** Null: there is none for this unit. */
  baselineOf(unit: number): BaselineScore | null;
  /** Whether all that there are are 0 or 1, of single attempts. */
  baselinePairs(): boolean;
  /** The watch begins anew; scores of the baseline stay. */
  forgetWatch(): void;
}
