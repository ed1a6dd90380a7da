/** What a series of runs is held against, and how sure an alarm is. */
export interface DriftSettings {
  /** `first`: the first runs of the series; `none`: nothing is compared; else the name of a baseline. */
  readonly baseline: string;
  /** Runs of the baseline where it is `first`. */
  readonly first: number;
  readonly metric: string;
  /** At most so many in 100 runs, on average, while nothing changes. */
  readonly false_alarms: number;
  /** The size of change that is looked for, in units of the metric; absent = a twentieth of what the metric can be. */
  readonly detect?: number;
}

export const FIRST_RUNS = "first";
export const NO_BASELINE = "none";

export const USUAL_DRIFT: DriftSettings = { baseline: FIRST_RUNS, first: 3, metric: "reward", false_alarms: 1 };
