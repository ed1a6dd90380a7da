/** Of a group of examples that share something: the sum of their means, and how many they are. */
export interface ClusterSum {
  sum: number;
  count: number;
}

/**
 * Standard error of the mean m of `examples` example means where groups are the observations: SE^2 = G/(G-1) * sum over groups of (sum of (s_i - m) in the
 * group)^2 / n^2 (Miller 2024, with the usual correction for few groups). `squares`: that sum; `groups`: two at least.
 */
export const clusteredStderr = (groups: number, squares: number, examples: number): number => Math.sqrt(((groups / (groups - 1)) * squares) / examples ** 2);

/** As `clusteredStderr`, of groups that are there one by one. */
export function stderrOfClusters(clusters: ReadonlyMap<unknown, Readonly<ClusterSum>>, mean: number, examples: number): number {
  let squares = 0;
  for (const { sum, count } of clusters.values()) squares += (sum - count * mean) ** 2;
  return clusteredStderr(clusters.size, squares, examples);
}

/** Sums of `value` over the members of each cluster. `clusters`: of each member. */
export function clusterSums(clusters: Float64Array, value: (i: number) => number): ReadonlyMap<number, ClusterSum> {
  const sums = new Map<number, ClusterSum>();
  for (const [i, cluster] of clusters.entries()) {
    const known = sums.get(cluster);
    if (known === undefined) sums.set(cluster, { sum: value(i), count: 1 });
    else {
      known.sum += value(i);
      known.count += 1;
    }
  }
  return sums;
}
