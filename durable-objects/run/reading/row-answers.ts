import type { Bin } from "../../../src/metrics/one-run/value-counts.ts";
import type { Samples } from "../timeline/samples.ts";
import type { Place } from "../../../r2-layout/place.ts";

/** How the values of a metric spread over the rows that a run has. */
export interface MetricDistribution {
  /** Rows so far, those with errors among them. */
  readonly rollouts: number;
  /** Rows that have the metric and no error: what is in the bins. */
  readonly n: number;
  /** Rows that ended in an error: they are in no bin, whatever they say. */
  readonly errored: number;
  readonly range: readonly [number, number] | null;
  /** All values are 0 or 1. */
  readonly is_zero_one: boolean;
  readonly bins: readonly Bin[];
}

/** A rollout by its unit, the place of its example in the data set, and its number among the example's rollouts; and the number of its row among those that the unit has. */
export interface RolloutAt {
  readonly unit: number;
  readonly example: number;
  readonly rollout: number;
  readonly row: number;
}

/** Where the row of a rollout is: row number `row` of those of its unit, which are at the place. */
export interface ErrorPlace extends Place, RolloutAt {
  readonly code: string;
}

/** What the page of a run is drawn from, beside its view. Null: there is no such run. */
export interface SummaryControl {
  /** How a metric (`reward` is the reward) spreads over the rows so far, in at most `bins` bins; the names that there are where no row has it. */
  distribution(metric: string, bins: number): Promise<MetricDistribution | { readonly metrics: readonly string[] } | null>;
  /** Where the first rollout of each error code is, in the order of the data set, as far as it is known. */
  firstErrors(): Promise<readonly ErrorPlace[] | null>;
  /** How it stood over time; `none`: no sample was ever taken. */
  timeline(): Promise<Samples | "none" | null>;
}
