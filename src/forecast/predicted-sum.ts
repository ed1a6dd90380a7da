import { studentTQuantile } from "../metrics/distributions/student-t.ts";

/** What a sum will come to: its best guess, and the ends of an interval that holds it in at least 90 % of runs. */
export interface Predicted {
  readonly expected: number;
  readonly low: number;
  readonly high: number;
}

/** Fewer examples say nothing of how much the next ones differ from them. */
export const LEAST_EXAMPLES = 5;

/**
 * Quantiles of Student's t at which a sum of skewed costs stays between the ends in at least 90 % of runs. What is dear is rare: a few examples rarely
 * have it among them, so that their mean and their spread are low together, and an interval of the usual 5 % to either side holds three runs of four only.
 * Both were chosen by simulation (docs/decisions/forecast-intervals.md).
 */
const LOW_QUANTILE = 0.99;
const HIGH_QUANTILE = 0.99995;

/**
 * Dear examples of which none may have been seen: at most one in ten, each ten times as dear as the others. A few examples that are all alike say nothing against
 * those: ten have none of them in one run of three.
 */
const UNSEEN_SHARE = 0.1;
const UNSEEN_TIMES = 10;
/** How likely it is at least that none of a share was seen that is reckoned with. */
const UNSEEN_CHANCE = 0.2;
/** The normal quantile that 5 % are above. */
const HIGH_NORMAL = 1.645;

/** Sums of doubles differ in their last places by the order in which they were added; an interval without width would miss for that. */
const ROUNDING = 1e-9;

/**
 * What `more` further examples will come to in sum, from those there are: numbers of 0 or more, at least `LEAST_EXAMPLES` of them. The interval is of the
 * sum itself, not of its mean: the further examples scatter, too. Where all are alike it has no width. `unseen`: whether some may be far dearer than any that was
 * seen, as whatever a model says or does. Throws a `RangeError` for too few.
 */
export function predictedSum(values: readonly number[], more: number, { unseen = true }: { readonly unseen?: boolean } = {}): Predicted {
  const n = values.length;
  if (n < LEAST_EXAMPLES) throw new RangeError(`a forecast takes at least ${LEAST_EXAMPLES} examples, not ${n}`);
  if (more === 0) return exactly(0);
  const mean = sumOf(values) / n;
  const spread = Math.sqrt(sumOf(values.map((value) => (value - mean) ** 2)) / (n - 1));
  const expected = more * mean;
  if (!(spread > mean * ROUNDING)) {
    // Counts are added up exactly.
    const slack = values.every(Number.isInteger) ? 0 : ROUNDING;
    return { expected, low: expected * (1 - slack), high: expected * (1 + slack) };
  }
  const error = spread * Math.sqrt(1 / n + 1 / more);
  return {
    expected,
    // On the scale of the logarithm: costs are never below zero.
    low: expected * Math.exp((-studentTQuantile(LOW_QUANTILE, n - 1) * error) / mean),
    high: expected + Math.max(more * studentTQuantile(HIGH_QUANTILE, n - 1) * error, unseen ? expected * (UNSEEN_TIMES - 1) * unseenShare(n, more) : 0),
  };
}

/** Of further examples those that are dearer than any of `n`: as many as may well be, and so many more as chance may make of them. */
function unseenShare(n: number, more: number): number {
  const share = Math.min(UNSEEN_SHARE, 1 - UNSEEN_CHANCE ** (1 / n));
  return share + HIGH_NORMAL * Math.sqrt((share * (1 - share)) / more);
}

/** What is known already. */
export const exactly = (value: number): Predicted => ({ expected: value, low: value, high: value });

/**
 * Ends are added to ends: evaluations of one command often begin with the same examples, so that they are dearer than thought together, and an
 * interval that takes them for independent is too narrow.
 */
export const added = (a: Predicted, b: Predicted): Predicted => ({ expected: a.expected + b.expected, low: a.low + b.low, high: a.high + b.high });

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
