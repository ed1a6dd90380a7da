import { studentTTwoSided } from "../distributions/student-t.ts";
import type { RewardRange } from "../interval.ts";
import { clusterSums, stderrOfClusters } from "../one-run/clustered-stderr.ts";
import { USUAL_ALPHA } from "./power.ts";
import { ofT, type PairedDifference } from "./paired-difference.ts";

/** Means of examples of one run, and which of them share something; null where nobody asked. */
export interface Sample {
  readonly means: Float64Array;
  readonly clusters: Float64Array | null;
}

/**
 * Two runs over examples that are not the same, or not known to be: Welch's test over example means, or over clusters of them, b - a. As much less is found
 * as pairing would have bought.
 */
export function unpairedDifference(a: Sample, b: Sample, range: RewardRange | null, alpha?: number): PairedDifference {
  const [one, two] = [meanOf(a), meanOf(b)];
  const difference = two.mean - one.mean;
  const stderr = one.freedom > 0 && two.freedom > 0 && one.variance + two.variance > 0 ? Math.sqrt(one.variance + two.variance) : null;
  const common = {
    n: Math.min(a.means.length, b.means.length),
    baseline: one.mean,
    candidate: two.mean,
    difference,
    correlation: null,
    unpaired_stderr: stderr,
  };
  const asked = (interval: readonly [number, number] | null) => (alpha === undefined ? {} : { interval });
  if (stderr === null) return { ...common, stderr, ci95: null, t_p: null, ...asked(null) };
  const df = (one.variance + two.variance) ** 2 / (one.variance ** 2 / one.freedom + two.variance ** 2 / two.freedom);
  const intervalAt = (level: number) => ofT(difference, stderr, df, range, level);
  return { ...common, stderr, ci95: intervalAt(USUAL_ALPHA), t_p: studentTTwoSided(difference / stderr, df), ...asked(intervalAt(alpha ?? USUAL_ALPHA)) };
}

/** `variance`: of the mean; `freedom`: degrees of it, 0 and less where there is none. */
function meanOf({ means, clusters }: Sample): { readonly mean: number; readonly variance: number; readonly freedom: number } {
  const n = means.length;
  const mean = means.reduce((sum, value) => sum + value, 0) / Math.max(1, n);
  if (clusters === null)
    return { mean, variance: means.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, n - 1) / Math.max(1, n), freedom: n - 1 };
  const sums = clusterSums(clusters, (i) => means[i] ?? 0);
  return { mean, variance: sums.size < 2 ? 0 : stderrOfClusters(sums, mean, n) ** 2, freedom: sums.size - 1 };
}
