import type { Workplace } from "./edgewise-process.ts";
import type { Measure } from "./measure.ts";

/** What the command line of the bench says beside the names of scenarios. */
export interface BenchOptions {
  /** Size of `scale`. */
  readonly rollouts: number;
}

/** Measures one thing; `places` makes a fresh workplace by name. */
export type Scenario = (places: (name: string) => Workplace, options: BenchOptions) => Promise<readonly Measure[]>;
