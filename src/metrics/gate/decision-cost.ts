import { normalQuantile } from "../distributions/normal.ts";
import { type DesignVariances, neededExamples, USUAL_POWER } from "../comparison/power.ts";

/** What a value was estimated from. */
export interface Design extends DesignVariances {
  readonly examples: number;
  readonly attemptsA: number;
  readonly attemptsB: number;
  /** Examples to each independent observation: 1, or as many as share something. */
  readonly perObservation: number;
  /** Whether attempts at one example were seen to vary apart from examples: else more of them cannot be weighed. */
  readonly withinKnown: boolean;
}

/** What it takes to decide with a chance of 80 %. */
export interface DecisionCost {
  /** Examples in all, with as many attempts as there were; null where the truth would be on the bound. */
  readonly examples: number | null;
  /** Attempts at each of the examples that there are, in either run; null where no number would do, or nothing is known of attempts. */
  readonly attempts: number | null;
}

/** `distance`: between the truth, as it is taken to be, and the bound; 0 and more. */
export function decisionCost(design: Design, distance: number, alpha: number): DecisionCost {
  if (!(distance > 0)) return { examples: null, attempts: null };
  const { examples, attemptsA, attemptsB, between, withinA, withinB, withinKnown, perObservation } = design;
  const within = withinA + withinB;
  if (between + within <= 0) {
    // Nothing was seen to vary: until the interval of none in n is as narrow.
    const z = normalQuantile(1 - alpha / 2) ** 2;
    return { examples: Math.max(examples + 1, Math.ceil((perObservation * z * (1 - Math.min(distance, 1))) / Math.min(distance, 1))), attempts: null };
  }
  const needed = neededExamples(design, distance, { attemptsA, attemptsB, alpha });
  return {
    examples: Math.max(examples + 1, needed),
    attempts: withinKnown ? neededAttempts({ between, within, examples }, distance, alpha, Math.max(attemptsA, attemptsB)) : null,
  };
}

/** Attempts at each of so many examples in every run, after `before`; null where examples alone vary by too much. `within`: of all runs together. */
export function neededAttempts(
  { between, within, examples }: { readonly between: number; readonly within: number; readonly examples: number },
  distance: number,
  alpha: number,
  before = 0,
  power = USUAL_POWER,
): number | null {
  const z = normalQuantile(1 - alpha / 2) + normalQuantile(power);
  const left = examples * (distance / z) ** 2 - between;
  return left <= 0 ? null : Math.max(Math.floor(before) + 1, Math.ceil(within / left));
}
