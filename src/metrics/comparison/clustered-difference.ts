import { studentTTwoSided } from "../distributions/student-t.ts";
import type { RewardRange } from "../interval.ts";
import { clusterSums, stderrOfClusters } from "../one-run/clustered-stderr.ts";
import { ofT, type PairedDifference, withoutSpread } from "./paired-difference.ts";
import { USUAL_ALPHA } from "./power.ts";

/** A difference whose observations are groups of examples that share something. */
export interface ClusteredDifference extends PairedDifference {
  /** Groups. */
  readonly clusters: number;
  /** Sum of the differences of each group's examples. */
  readonly sums: Float64Array;
}

/** Differences that come of rounding only. */
const EQUAL = 1e-12;

/**
 * The difference of pairs, of which those of one cluster are not independent: its standard error over the clusters, and t with one degree of freedom less than
 * there are clusters. `clusters`: of each pair. Of fewer than two clusters nothing can be said.
 */
export function clusteredDifference(
  found: PairedDifference,
  [a, b]: readonly [Float64Array, Float64Array],
  clusters: Float64Array,
  range: RewardRange | null,
  alpha?: number,
): ClusteredDifference {
  const { n, difference, baseline, candidate } = found;
  const differences = clusterSums(clusters, (i) => (b[i] ?? 0) - (a[i] ?? 0));
  const groups = differences.size;
  const own = groups < 2 ? 0 : stderrOfClusters(differences, difference, n);
  const stderr = own > EQUAL * Math.max(1, Math.abs(baseline), Math.abs(candidate)) ? own : null;
  const [ofA, ofB] = [a, b].map((values, run) =>
    groups < 2
      ? 0
      : stderrOfClusters(
          clusterSums(clusters, (i) => values[i] ?? 0),
          run === 0 ? baseline : candidate,
          n,
        ),
  );
  const apart = Math.hypot(ofA ?? 0, ofB ?? 0);
  const intervalAt = (level: number): readonly [number, number] | null =>
    stderr === null ? withoutSpread(difference, groups, range, level) : ofT(difference, stderr, groups - 1, range, level);
  return {
    ...found,
    stderr,
    ci95: intervalAt(USUAL_ALPHA),
    t_p: stderr === null ? null : studentTTwoSided(difference / stderr, groups - 1),
    unpaired_stderr: apart > 0 ? apart : null,
    ...(alpha === undefined ? {} : { interval: intervalAt(alpha) }),
    clusters: groups,
    sums: Float64Array.from([...differences.values()].map(({ sum }) => sum)),
  };
}
