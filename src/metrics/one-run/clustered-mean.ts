import { studentTQuantile } from "../distributions/student-t.ts";
import { finite, type RewardRange, withinRange } from "../interval.ts";
import { wilsonInterval } from "../wilson.ts";
import { ClusterGroups } from "./cluster-groups.ts";
import { clusteredStderr } from "./clustered-stderr.ts";
import type { Estimate, EstimatedMean } from "./estimate.ts";

/** Of a mean: what differs by less is equal. */
const EQUAL = 1e-12;

/**
 * The mean of example means where several examples share something (a passage, a template), so that they are not independent: the groups are
 * the observations. Interval by t with G-1 degrees of freedom, cut at what values can be. Where nothing differs and all is at one end of the range: Wilson with one
 * observation a group. Two numbers are kept a group, of at most `MOST_GROUPS`.
 */
export class ClusteredMean implements EstimatedMean {
  readonly #range: RewardRange | null;
  readonly #counts: boolean;
  readonly #groups: ClusterGroups;
  /** By group: the sum of its examples' means, and how many these are. */
  #sums = new Float64Array(16);
  #sizes = new Uint32Array(16);
  #count = 0;
  #sum = 0;
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;

  /** `range`: what values can be; null = nobody says. `counts`: 0 and 1 are numbers of something like any other. `groups`: shared by all means of a run. */
  constructor(range: RewardRange | null, counts = false, groups = new ClusterGroups()) {
    this.#range = range;
    this.#counts = counts;
    this.#groups = groups;
  }

  addExample(values: readonly number[], cluster = ""): void {
    if (values.length === 0) return;
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    this.#least = Math.min(this.#least, ...values);
    this.#most = Math.max(this.#most, ...values);
    this.#count += 1;
    this.#sum += mean;
    this.#add(cluster, mean, 1);
  }

  merge(other: ClusteredMean): void {
    this.#least = Math.min(this.#least, other.#least);
    this.#most = Math.max(this.#most, other.#most);
    this.#count += other.#count;
    this.#sum += other.#sum;
    for (const [number, cluster] of other.#groups.names().entries()) {
      const size = other.#sizes[number] ?? 0;
      if (size > 0) this.#add(cluster, other.#sums[number] ?? 0, size);
    }
  }

  estimate(): Estimate {
    return this.#estimate(0.05);
  }

  /** As that of `estimate`, at 1 - alpha. */
  interval(alpha: number): readonly [number, number] | null {
    return this.#estimate(alpha).ci95;
  }

  #estimate(alpha: number): Estimate {
    const mean = this.#count === 0 ? 0 : this.#sum / this.#count;
    // Groups that have no example with a value of this kind are no observation of it.
    let groups = 0;
    let squares = 0;
    for (let number = 0; number < this.#sizes.length; number++) {
      const size = this.#sizes[number] as number;
      if (size === 0) continue;
      groups += 1;
      squares += ((this.#sums[number] as number) - size * mean) ** 2;
    }
    if (groups < 2) return { n: groups, mean, stderr: null, ci95: null };
    const stderr = clusteredStderr(groups, squares, this.#count);
    if (stderr <= EQUAL * Math.max(1, Math.abs(mean))) return { n: groups, mean, stderr: null, ci95: this.#withoutSpread(groups, mean, alpha) };
    const half = studentTQuantile(1 - alpha / 2, groups - 1) * stderr;
    return { n: groups, mean, stderr: finite(stderr), ci95: withinRange([mean - half, mean + half], this.#bounds()) };
  }

  #add(cluster: string, sum: number, count: number): void {
    const number = this.#groups.numberOf(cluster);
    if (number >= this.#sizes.length) this.#grow(number);
    this.#sums[number] = (this.#sums[number] as number) + sum;
    this.#sizes[number] = (this.#sizes[number] as number) + count;
  }

  #grow(number: number): void {
    const room = Math.max(2 * this.#sizes.length, number + 1);
    const [sums, sizes] = [new Float64Array(room), new Uint32Array(room)];
    sums.set(this.#sums);
    sizes.set(this.#sizes);
    [this.#sums, this.#sizes] = [sums, sizes];
  }

  #bounds(): RewardRange {
    const [least, most] = this.#range ?? [this.#counts ? 0 : Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    return [Math.min(least, this.#least), Math.max(most, this.#most)];
  }

  #withoutSpread(groups: number, mean: number, alpha: number): readonly [number, number] | null {
    if (this.#counts) return null;
    const [least, most] = this.#range ?? [0, 1];
    const share = (mean - least) / (most - least);
    if (share !== 0 && share !== 1) return null;
    const [low, high] = wilsonInterval(share * groups, groups, alpha);
    return [least + low * (most - least), least + high * (most - least)];
  }
}
