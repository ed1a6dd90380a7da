import { type RewardRange, RewardSpread, USUAL_RANGE } from "../interval.ts";
import type { RolloutSummary } from "../rollout-summary.ts";
import { errorBounds } from "./error-bounds.ts";
import type { Estimate } from "./estimate.ts";

/** The mean reward of a run that goes on. */
export interface LiveMean {
  /** How its examples are played: in a random order what is done first is like what comes last, in that of the data set it need not be. */
  readonly order: "permuted" | "data";
  /** Examples that the mean is of: the first ones without a gap, all attempts of which are done; in the order of the data set all that are done. */
  readonly examples: number;
  /** Examples of which those are a random sample; absent = they are none, as of a run that is beyond its first part. */
  readonly of?: number;
  /** `of` are only the first ones of the data set: those behind them were permuted apart from them, and the number says nothing of these. */
  readonly first_part?: true;
  /** Null where nothing is scored. */
  readonly mean: number | null;
  readonly ci95: readonly [number, number] | null;
  /** The mean of all that was begun, if whatever has no score yet had the lowest reward there is, and the highest; null while nothing is begun. */
  readonly range: readonly [number, number] | null;
}

/** Gathers the examples before the first one that is open, in the order in which they are played. */
export class PrefixMean {
  readonly #spread: RewardSpread;
  #examples = 0;

  constructor(range: RewardRange = USUAL_RANGE) {
    this.#spread = new RewardSpread(range);
  }

  get examples(): number {
    return this.#examples;
  }

  /** All rollouts of the next example; one without a score is no cluster. */
  add(rollouts: readonly RolloutSummary[]): void {
    this.#examples += 1;
    this.#spread.addExample(rollouts.flatMap(({ error, reward }) => (error === null ? [reward] : [])));
  }

  estimate(): Estimate {
    return this.#spread.estimate();
  }
}

/** What was begun of a run: rollouts with a score and their sum, and those without one, be they open or ended in an error. */
export interface Begun {
  readonly answered: number;
  readonly sum: number;
  readonly unresolved: number;
}

/** The range that what is open leaves. */
export function openRange({ answered, sum, unresolved }: Begun, range: RewardRange = USUAL_RANGE): readonly [number, number] | null {
  const bounds = errorBounds({ rollouts: answered + unresolved, errored: unresolved, sum }, range);
  return bounds === null ? null : [bounds.worst, bounds.best];
}
