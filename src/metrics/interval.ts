import { studentTQuantile } from "./student-t.ts";
import { wilsonInterval } from "./wilson.ts";

export interface RewardUncertainty {
  /** Examples (clusters) seen. */
  readonly n_clusters: number;
  /** Standard error of the mean of example means. */
  readonly reward_stderr: number | null;
  /** 95 % interval, low and high. */
  readonly reward_ci95: readonly [number, number] | null;
}

/** Means of the same rewards in another order differ by a few roundings; that is no spread. */
const EQUAL = 1e-12;

/**
 * Standard error and 95 % interval of the mean reward, clustered by example: attempts at one example are not independent, so
 * the example mean is the observation (Miller 2024, "Adding Error Bars to Evals"; equal to the clustered error with G/(G-1)).
 *
 * - r = 1 and every reward 0 or 1: Wilson.
 * - else, example means that differ: mean of them +- t(0.975, G-1) * s / sqrt(G).
 * - else, no spread: every reward 0, or every reward 1 (r > 1): Wilson with one observation per example, the cautious reading of
 *   attempts that always agree. Any other common value: null, since the data say nothing about their spread.
 * - fewer than two examples: null.
 *
 * So an interval never has zero width. `reward_stderr` is null without spread too: 0 would claim certainty. Rewards are not
 * assumed to be bounded, so ends of a t interval may lie outside [0, 1]. Streaming and mergeable, constant memory; rewards must be finite.
 */
export class RewardSpread {
  #clusters = 0;
  #mean = 0;
  #squares = 0;
  #low = Number.POSITIVE_INFINITY;
  #high = Number.NEGATIVE_INFINITY;
  #passes = 0;
  #binary = true;
  #single = true;

  /** All rewards of one example; an example without any is no cluster. */
  addExample(rewards: readonly number[]): void {
    if (rewards.length === 0) return;
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    this.#clusters += 1;
    const delta = mean - this.#mean;
    this.#mean += delta / this.#clusters;
    this.#squares += delta * (mean - this.#mean);
    this.#low = Math.min(this.#low, mean);
    this.#high = Math.max(this.#high, mean);
    this.#binary &&= rewards.every((reward) => reward === 0 || reward === 1);
    this.#single &&= rewards.length === 1;
    if (mean === 1) this.#passes += 1;
  }

  /** Takes in what another has seen of other examples; the same to rounding as one that saw all of them. */
  merge(other: RewardSpread): void {
    if (other.#clusters === 0) return;
    const clusters = this.#clusters + other.#clusters;
    const delta = other.#mean - this.#mean;
    this.#squares += other.#squares + delta ** 2 * ((this.#clusters * other.#clusters) / clusters);
    this.#mean += delta * (other.#clusters / clusters);
    this.#clusters = clusters;
    this.#low = Math.min(this.#low, other.#low);
    this.#high = Math.max(this.#high, other.#high);
    this.#passes += other.#passes;
    this.#binary &&= other.#binary;
    this.#single &&= other.#single;
  }

  result(): RewardUncertainty {
    const n = this.#clusters;
    if (n < 2) return { n_clusters: n, reward_stderr: null, reward_ci95: null };
    const spread = this.#high - this.#low > EQUAL * Math.max(1, Math.abs(this.#high), Math.abs(this.#low));
    const stderr = spread ? Math.sqrt(this.#squares / (n - 1) / n) : null;
    return { n_clusters: n, reward_stderr: stderr, reward_ci95: this.#interval(n, stderr) };
  }

  #interval(n: number, stderr: number | null): readonly [number, number] | null {
    if (this.#binary && this.#single) return wilsonInterval(this.#passes, n);
    if (stderr !== null) {
      const half = studentTQuantile(0.975, n - 1) * stderr;
      return [this.#mean - half, this.#mean + half];
    }
    const unanimous = this.#binary && (this.#passes === 0 ? this.#high === 0 : this.#passes === n);
    return unanimous ? wilsonInterval(this.#passes, n) : null;
  }
}
