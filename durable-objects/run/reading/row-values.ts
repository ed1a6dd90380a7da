import { ValueCounts } from "../../../src/metrics/one-run/value-counts.ts";
import type { RolloutErrorCode } from "../../../src/errors/codes.ts";
import type { MetricDistribution, RolloutAt } from "./row-answers.ts";
import type { Done } from "../state/ledger.ts";

/** Metrics whose values are counted, by first appearance: names come from an environment's code, and memory is bounded. */
export const MOST_METRICS = 128;
/** What the reward is asked for by: no metric may be called so. */
export const REWARD = "reward";

/** What the values of done units add up to: in bounded memory, whatever the run has. */
export class RowValues {
  readonly #reward = new ValueCounts();
  readonly #metrics = new Map<string, ValueCounts>();
  readonly #firsts = new Map<RolloutErrorCode, RolloutAt>();
  /** A bit for each unit: a run has a million of them. */
  #counted = new Uint8Array(0);
  #rollouts = 0;
  #errored = 0;

  /** `example`: place of the example in the data set. Nothing happens for a unit that is counted. */
  add({ unit, rollouts }: Pick<Done, "unit" | "rollouts">, example: number): void {
    if (this.has(unit)) return;
    this.#mark(unit);
    let row = -1;
    for (const [rollout, summary] of rollouts.entries()) {
      if (summary === null) continue;
      row += 1;
      this.#rollouts += 1;
      if (summary.error !== null) {
        this.#errored += 1;
        this.#noteError(summary.error, { unit, rollout, row, example });
        continue;
      }
      this.#reward.add(summary.reward);
      for (const [name, value] of Object.entries(summary.metrics)) this.#of(name)?.add(value);
    }
  }

  has(unit: number): boolean {
    return (((this.#counted[unit >> 3] ?? 0) >> (unit & 7)) & 1) === 1;
  }
  get rollouts(): number {
    return this.#rollouts;
  }
  get metrics(): readonly string[] {
    return [...this.#metrics.keys()];
  }
  /** The first one, in the order of the data set, that ended in an error of this code; null where none is counted. */
  first(code: string): RolloutAt | null {
    return this.#firsts.get(code as RolloutErrorCode) ?? null;
  }
  /** Null where no counted rollout has the metric. */
  distribution(metric: string, bins: number): MetricDistribution | null {
    const values = metric === REWARD ? this.#reward : this.#metrics.get(metric);
    if (values === undefined) return null;
    const { n, range, isZeroOne } = values;
    return { rollouts: this.#rollouts, n, errored: this.#errored, range, is_zero_one: isZeroOne, bins: values.bins(bins) };
  }

  #mark(unit: number): void {
    const at = unit >> 3;
    if (at >= this.#counted.length) {
      const grown = new Uint8Array(Math.max(at + 1, 2 * this.#counted.length));
      grown.set(this.#counted);
      this.#counted = grown;
    }
    this.#counted[at] = (this.#counted[at] ?? 0) | (1 << (unit & 7));
  }
  #of(name: string): ValueCounts | null {
    const known = this.#metrics.get(name);
    if (known !== undefined) return known;
    if (this.#metrics.size === MOST_METRICS) return null;
    const fresh = new ValueCounts();
    this.#metrics.set(name, fresh);
    return fresh;
  }
  #noteError(code: RolloutErrorCode, at: RolloutAt): void {
    const known = this.#firsts.get(code);
    if (known === undefined || at.example < known.example || (at.example === known.example && at.rollout < known.rollout)) this.#firsts.set(code, at);
  }
}
