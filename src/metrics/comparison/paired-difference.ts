/**
 * Two runs over the same examples, one mean of each for each example: what their difference is and how sure. b - a throughout, a being the baseline.
 */
import { studentTQuantile, studentTTwoSided } from "../distributions/student-t.ts";
import { type RewardRange, withinRange } from "../interval.ts";
import { wilsonInterval } from "../wilson.ts";
import { USUAL_ALPHA } from "./power.ts";

export interface PairedDifference {
  /** Pairs. */
  readonly n: number;
  readonly baseline: number;
  readonly candidate: number;
  readonly difference: number;
  /** Of the difference; null where no two pairs differ in it, which says nothing of its spread. */
  readonly stderr: number | null;
  readonly ci95: readonly [number, number] | null;
  /** Two-sided, by t with n - 1 degrees of freedom; null without a standard error. */
  readonly t_p: number | null;
  /** Of the means of an example under the one and the other; null where one of the runs has no spread. */
  readonly correlation: number | null;
  /** What the standard error would be of other examples for each run: SE_A^2 + SE_B^2. */
  readonly unpaired_stderr: number | null;
  /** At 1 - alpha, where an alpha was asked for. */
  readonly interval?: readonly [number, number] | null;
}

/** Differences that come of rounding only. */
const EQUAL = 1e-12;

/** `range`: what a mean can be; null = nobody says. Means must be finite, and as many of the one as of the other. `alpha`: of `interval`. */
export function pairedDifference(a: Float64Array, b: Float64Array, range: RewardRange | null, alpha?: number): PairedDifference {
  const n = a.length;
  if (b.length !== n) throw new RangeError(`${n} and ${b.length} means are no pairs`);
  let [meanA, meanB, squaresA, squaresB, products] = [0, 0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const [deltaA, deltaB] = [(a[i] ?? 0) - meanA, (b[i] ?? 0) - meanB];
    meanA += deltaA / (i + 1);
    meanB += deltaB / (i + 1);
    squaresA += deltaA * ((a[i] ?? 0) - meanA);
    squaresB += deltaB * ((b[i] ?? 0) - meanB);
    products += deltaA * ((b[i] ?? 0) - meanB);
  }
  const difference = meanB - meanA;
  let squares = 0;
  for (let i = 0; i < n; i++) squares += ((b[i] ?? 0) - (a[i] ?? 0) - difference) ** 2;
  const scale = n * (n - 1);
  const spread = n > 1 && squares > (EQUAL * Math.max(1, Math.abs(meanA), Math.abs(meanB))) ** 2 * n;
  const stderr = spread ? Math.sqrt(squares / scale) : null;
  const unpaired = n > 1 && squaresA + squaresB > 0 ? Math.sqrt((squaresA + squaresB) / scale) : null;
  const intervalAt = (level: number): readonly [number, number] | null =>
    stderr === null ? withoutSpread(difference, n, range, level) : ofT(difference, stderr, n - 1, range, level);
  return {
    n,
    baseline: meanA,
    candidate: meanB,
    difference,
    stderr,
    ci95: intervalAt(USUAL_ALPHA),
    t_p: stderr === null ? null : studentTTwoSided(difference / stderr, n - 1),
    correlation: squaresA > 0 && squaresB > 0 ? Math.max(-1, Math.min(1, products / Math.sqrt(squaresA * squaresB))) : null,
    unpaired_stderr: unpaired,
    ...(alpha === undefined ? {} : { interval: intervalAt(alpha) }),
  };
}

/** By Student's t at 1 - alpha, cut at what a difference can be. */
export function ofT(difference: number, stderr: number, df: number, range: RewardRange | null, alpha: number): readonly [number, number] | null {
  const half = studentTQuantile(1 - alpha / 2, df) * stderr;
  const span = range === null ? Number.POSITIVE_INFINITY : range[1] - range[0];
  return withinRange([difference - half, difference + half], [Math.min(-span, difference), Math.max(span, difference)]);
}

/**
 * Where every pair differs by the same: of pairs that agree, or differ by all that there is, so many more could do otherwise as Wilson's interval allows of
 * none in n. Any other common difference says nothing of its spread.
 */
export function withoutSpread(difference: number, n: number, range: RewardRange | null, alpha: number): readonly [number, number] | null {
  if (range === null || n < 2) return null;
  const span = range[1] - range[0];
  const others = wilsonInterval(0, n, alpha)[1] * span;
  if (Math.abs(difference) <= EQUAL * Math.max(1, span)) return [-others, others];
  if (Math.abs(Math.abs(difference) - span) > EQUAL * Math.max(1, span)) return null;
  return difference > 0 ? [span - others, span] : [-span, others - span];
}
