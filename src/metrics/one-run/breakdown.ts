import { type RewardRange, RewardSpread, USUAL_RANGE } from "../interval.ts";
import type { RolloutSummary } from "../rollout-summary.ts";
import { ClusteredMean } from "./clustered-mean.ts";
import type { Estimate, EstimatedMean } from "./estimate.ts";

/** Values that are told apart; examples of further ones are summed up under `OTHERS`. */
const MOST_VALUES = 1_000;
export const OTHERS = "(others)";

export interface Slice {
  readonly value: string;
  readonly examples: number;
  readonly rollouts: number;
  readonly errored: number;
  /** Of the reward; the interval by the same rule as that of the whole run, and none where every rollout ended in an error. */
  readonly reward: Estimate;
}

interface Part {
  examples: number;
  rollouts: number;
  errored: number;
  readonly spread: EstimatedMean;
}

/** The reward of a run by what its examples have under one key. Memory: one entry per distinct value, and where examples are clustered one for each group in it. */
export class Breakdown {
  readonly #range: RewardRange;
  readonly #clustered: boolean;
  readonly #slices = new Map<string, Part>();

  /** `clustered`: rollouts say what their example shares with others. */
  constructor(range: RewardRange = USUAL_RANGE, clustered = false) {
    this.#range = range;
    this.#clustered = clustered;
  }

  /** All rollouts of one example. */
  addExample(value: string, rollouts: readonly RolloutSummary[]): void {
    const slice = this.#sliceOf(value);
    slice.examples += 1;
    slice.rollouts += rollouts.length;
    slice.errored += rollouts.filter(({ error }) => error !== null).length;
    slice.spread.addExample(
      rollouts.map(({ reward }) => reward),
      rollouts[0]?.cluster,
    );
  }

  /** The largest first, equal ones by value. */
  slices(): readonly Slice[] {
    return [...this.#slices]
      .map(([value, { examples, rollouts, errored, spread }]) => {
        const reward = spread.estimate();
        return { value, examples, rollouts, errored, reward: errored < rollouts ? reward : { ...reward, stderr: null, ci95: null } };
      })
      .sort((a, b) => b.rollouts - a.rollouts || (a.value < b.value ? -1 : 1));
  }

  #sliceOf(value: string): Part {
    const known = this.#slices.get(value);
    if (known !== undefined) return known;
    if (this.#slices.size >= MOST_VALUES && value !== OTHERS) return this.#sliceOf(OTHERS);
    const slice: Part = { examples: 0, rollouts: 0, errored: 0, spread: this.#clustered ? new ClusteredMean(this.#range) : new RewardSpread(this.#range) };
    this.#slices.set(value, slice);
    return slice;
  }
}
