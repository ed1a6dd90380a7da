import { addCacheUsage, type CacheUsage } from "../metrics/cache-usage.ts";
import type { JudgeUsage } from "../metrics/rollout-summary.ts";
import { addJudges } from "../metrics/totals.ts";
import { cacheUsageOf } from "../rollouts/state/cache-meter.ts";
import { judgeUsageOf } from "../rollouts/state/judge-usage.ts";

/**
 * States on this side for those that models are asked about on the other, by the numbers that they have there: what a judge took, and how calls were answered, is counted for one, and
 * belongs to the rollout that ends with its number.
 */
export class StandIns {
  readonly #exampleId: number;
  readonly #most: number;
  readonly #states = new Map<number, { readonly example_id: number; readonly trajectory: readonly unknown[] }>();

  constructor(exampleId: number, most: number) {
    this.#exampleId = exampleId;
    this.#most = most;
  }

  /** One that names no rollout where there are too many: what it takes is counted for the row that is written next. */
  of(state: number): Readonly<Record<string, unknown>> {
    let standIn = this.#states.get(state);
    if (standIn === undefined) {
      if (this.#states.size >= this.#most) return { example_id: this.#exampleId };
      standIn = { example_id: this.#exampleId, trajectory: [] };
      this.#states.set(state, standIn);
    }
    return standIn;
  }

  /** What judges took for the state of that number, beside `before`; null where none was asked. */
  usageOf(state: number | null, before: JudgeUsage | null): JudgeUsage | null {
    const standIn = state === null ? undefined : this.#states.get(state);
    const own = standIn === undefined ? null : judgeUsageOf(standIn);
    return own === null || before === null ? (own ?? before) : addJudges(before, own);
  }

  /** The same of how its calls were answered; null where none was counted. */
  cacheOf(state: number | null, before: CacheUsage | null): CacheUsage | null {
    const standIn = state === null ? undefined : this.#states.get(state);
    const own = standIn === undefined ? null : cacheUsageOf(standIn);
    return own === null || before === null ? (own ?? before) : addCacheUsage(before, own);
  }

  /** The rollout of that number has its row: no other has the same usage. */
  settle(state: number | null): void {
    if (state !== null) this.#states.delete(state);
  }
}
