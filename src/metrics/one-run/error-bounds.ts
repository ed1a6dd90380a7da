import type { RewardRange } from "../interval.ts";

/** Beyond this share of rollouts without a score, what they might have scored says more than the mean of the others. */
export const UNRESOLVED_LIMIT = 0.05;

/**
 * The mean reward in three numbers: an error is no score of 0, so what the rollouts that ended in one might have scored is bounded by what
 * rewards can be.
 */
export interface ErrorBounds {
  /** Mean of the rollouts that were scored; null where none was. */
  readonly answered: number | null;
  /** The mean if every other had the lowest reward there is, and the highest. */
  readonly worst: number;
  readonly best: number;
  /** Share of rollouts without a score, 0 to 1. */
  readonly unresolved: number;
}

/** `errored`: of `rollouts`. `sum`: of the rewards of the others. Null without rollouts. */
export function errorBounds(
  { rollouts, errored, sum }: { readonly rollouts: number; readonly errored: number; readonly sum: number },
  [least, most]: RewardRange,
): ErrorBounds | null {
  if (rollouts === 0) return null;
  const answered = rollouts - errored;
  return {
    answered: answered === 0 ? null : sum / answered,
    worst: (sum + errored * least) / rollouts,
    best: (sum + errored * most) / rollouts,
    unresolved: errored / rollouts,
  };
}

/** Whether every rollout ended in an error: there is no score then, though rows say 0. `errored`: not known of runs of before. */
export const isNothingScored = (rollouts: number, errored: number | null | undefined): boolean => rollouts > 0 && errored === rollouts;

/** Whether a report leads with the range instead of the mean. */
export const leadsWithRange = (bounds: ErrorBounds | null): bounds is ErrorBounds => bounds !== null && bounds.unresolved > UNRESOLVED_LIMIT;
