import { studentTQuantile } from "./distributions/student-t.ts";
import type { Estimate, EstimatedMean } from "./one-run/estimate.ts";
import { wilsonInterval } from "./wilson.ts";

/** Lowest and highest reward that a rollout can have. */
export type RewardRange = readonly [number, number];

export interface RewardUncertainty {
  /** Examples (clusters) seen. */
  readonly n_clusters: number;
  /** Standard error of the mean of example means. */
  readonly reward_stderr: number | null;
  /** 95 % interval, low and high. */
  readonly reward_ci95: readonly [number, number] | null;
}

/** What rewards can be where nothing says it. */
export const USUAL_RANGE: RewardRange = [0, 1];

const UNKNOWN: RewardRange = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];

/** Squares of what is near the largest number there is are beyond it. */
export const finite = (value: number | null): number | null => (value !== null && Number.isFinite(value) ? value : null);

/** Means of the same rewards in another order differ by a few roundings; that is no spread. */
const EQUAL = 1e-12;

/** Throws a `RangeError` for what is no range. */
export function checkedRange([low, high]: RewardRange): RewardRange {
  if (!Number.isFinite(low) || !Number.isFinite(high) || low > high) throw new RangeError(`${low} to ${high} is no range of rewards`);
  return [low, high];
}

/** What a sum can be of which each part is in its range; rounded as far as the parts of a sum are (0.7 + 0.2 + 0.1 is 1). */
export function sumOfRanges(ranges: readonly RewardRange[]): RewardRange {
  const sum = (end: 0 | 1): number => Number(ranges.reduce((total, range) => total + range[end], 0).toPrecision(12));
  return [sum(0), sum(1)];
}

/** An interval without what lies outside the possible; null where nothing of it is left, or an end is beyond what a number can be. */
export function withinRange([low, high]: readonly [number, number], [least, most]: RewardRange): readonly [number, number] | null {
  const cut: readonly [number, number] = [Math.max(low, least), Math.min(high, most)];
  return cut[0] < cut[1] && cut.every(Number.isFinite) ? cut : null;
}

/**
 * Standard error and 95 % interval of the mean reward, clustered by example: attempts at one example are not independent, so
 * the example mean is the observation (Miller 2024, "Adding Error Bars to Evals"; equal to the clustered error with G/(G-1)).
 *
 * - r = 1 and every reward at one end of the range or the other (0 or 1): Wilson.
 * - else, example means that differ: mean of them +- t(0.975, G-1) * s / sqrt(G), cut at what rewards can be.
 * - else, no spread: Wilson with one observation per example where every reward is at an end of the range, the cautious reading of attempts
 *   that agree. Any other common value: null, since the data say nothing about their spread.
 * - fewer than two examples: null.
 *
 * What rewards can be is the range given, widened by what was seen outside of it: a range that is not true binds nobody. Rewards that
 * are all 0 or 1 pass or fail, whatever else a range from 0 would allow. So an interval never has zero width and never leaves the
 * possible. `reward_stderr` is null without spread too: 0 would claim certainty. Streaming and mergeable, constant memory; rewards must be finite.
 */
export class RewardSpread implements EstimatedMean {
  readonly #range: RewardRange | null;
  #clusters = 0;
  #mean = 0;
  #squares = 0;
  #low = Number.POSITIVE_INFINITY;
  #high = Number.NEGATIVE_INFINITY;
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;
  /** Whether every reward is at an end of the range. */
  #atEnds = true;
  #binary: boolean;
  readonly #floor: number;
  #single = true;

  /**
   * `range`: what rewards can be, as far as it is known; null = nothing is, as of metrics: those that are all 0 or 1 pass or fail, others have no bounds. `counts`: 0 and 1 are
   * numbers of something like any other. Throws a `RangeError` for what is no range.
   */
  constructor(range: RewardRange | null = USUAL_RANGE, counts = false) {
    this.#range = range === null ? null : checkedRange(range);
    this.#binary = !counts;
    this.#floor = counts ? 0 : Number.NEGATIVE_INFINITY;
  }

  /** All rewards of one example; an example without any is no cluster. */
  addExample(rewards: readonly number[]): void {
    if (rewards.length === 0) return;
    const [least, most] = this.#range ?? UNKNOWN;
    let sum = 0;
    for (const reward of rewards) {
      sum += reward;
      this.#least = Math.min(this.#least, reward);
      this.#most = Math.max(this.#most, reward);
      this.#atEnds &&= reward === least || reward === most;
      this.#binary &&= reward === 0 || reward === 1;
    }
    const mean = sum / rewards.length;
    this.#clusters += 1;
    const delta = mean - this.#mean;
    this.#mean += delta / this.#clusters;
    this.#squares += delta * (mean - this.#mean);
    this.#low = Math.min(this.#low, mean);
    this.#high = Math.max(this.#high, mean);
    this.#single &&= rewards.length === 1;
  }

  /** Takes in what another has seen of other examples; the same to rounding as one that saw all of them. Throws a `RangeError` for one of another range. */
  merge(other: RewardSpread): void {
    if (other.#range?.[0] !== this.#range?.[0] || other.#range?.[1] !== this.#range?.[1]) throw new RangeError("only spreads of the same range can be merged");
    if (other.#clusters === 0) return;
    const clusters = this.#clusters + other.#clusters;
    const delta = other.#mean - this.#mean;
    this.#squares += other.#squares + delta ** 2 * ((this.#clusters * other.#clusters) / clusters);
    this.#mean += delta * (other.#clusters / clusters);
    this.#clusters = clusters;
    this.#low = Math.min(this.#low, other.#low);
    this.#high = Math.max(this.#high, other.#high);
    this.#least = Math.min(this.#least, other.#least);
    this.#most = Math.max(this.#most, other.#most);
    this.#atEnds &&= other.#atEnds;
    this.#binary &&= other.#binary;
    this.#single &&= other.#single;
  }

  result(): RewardUncertainty {
    const { n, stderr, ci95 } = this.estimate();
    return { n_clusters: n, reward_stderr: stderr, reward_ci95: ci95 };
  }

  estimate(): Estimate {
    const n = this.#clusters;
    const mean = this.#mean;
    if (n < 2) return { n, mean, stderr: null, ci95: null };
    const spread = this.#high - this.#low > EQUAL * Math.max(1, Math.abs(this.#high), Math.abs(this.#low));
    const stderr = spread ? Math.sqrt(this.#squares / (n - 1) / n) : null;
    return { n, mean, stderr: finite(stderr), ci95: this.#interval(n, stderr, 0.05) };
  }

  /** As that of `estimate`, at 1 - alpha. */
  interval(alpha: number): readonly [number, number] | null {
    const { n, stderr } = this.estimate();
    return n < 2 ? null : this.#interval(n, stderr, alpha);
  }

  #interval(n: number, stderr: number | null, alpha: number): readonly [number, number] | null {
    const ends = this.#ends();
    if (ends !== null && (this.#single || stderr === null)) return this.#wilson(n, ends, alpha);
    if (stderr === null) return null;
    const half = studentTQuantile(1 - alpha / 2, n - 1) * stderr;
    const [least, most] = this.#range ?? (this.#binary ? USUAL_RANGE : ([this.#floor, Number.POSITIVE_INFINITY] as const));
    return withinRange([this.#mean - half, this.#mean + half], [Math.min(least, this.#least), Math.max(most, this.#most)]);
  }

  /** The two values that every reward has one of; null where there are more. */
  #ends(): RewardRange | null {
    if (this.#range === null) return this.#binary ? USUAL_RANGE : null;
    const [least, most] = this.#range;
    if (this.#binary && least === 0) return USUAL_RANGE;
    return this.#atEnds && least < most ? this.#range : null;
  }

  #wilson(n: number, [least, most]: RewardRange, alpha: number): readonly [number, number] {
    const passes = (n * (this.#mean - least)) / (most - least);
    const whole = Math.round(passes);
    const [low, high] = wilsonInterval(Math.abs(passes - whole) < n * EQUAL ? whole : passes, n, alpha);
    return [least + low * (most - least), least + high * (most - least)];
  }
}
