import { addCacheUsage, type CacheUsage } from "../metrics/cache-usage.ts";
import type { JudgeUsage } from "../metrics/rollout-summary.ts";
import { addJudges } from "../metrics/totals.ts";
import { type AskedTimes, askedTimesOf, keepAskedTimes, nameRollout } from "../rollouts/state/asked-questions.ts";
import { cacheUsageOf } from "../rollouts/state/cache-meter.ts";
import { type Judgements, judgementsOf } from "../rollouts/state/judgements.ts";
import { judgeUsageOf } from "../rollouts/state/judge-usage.ts";

/**
 * States on this side for those that models are asked about on the other, by the numbers that they have there: what a judge took, and how calls were answered, is counted for one, and
 * belongs to the rollout that ends with its number.
 */
export class StandIns {
  readonly #exampleId: number;
  readonly #most: number;
  readonly #states = new Map<number, { readonly example_id: number; readonly trajectory: readonly unknown[] }>();
  /** The newest of each rollout: it is the attempt that is at work. */
  readonly #newest = new Map<number, Readonly<Record<string, unknown>>>();
  /** What rollouts that are gone on with had asked before. */
  readonly #asked = new Map<number, AskedTimes>();

  constructor(exampleId: number, most: number) {
    this.#exampleId = exampleId;
    this.#most = most;
  }

  /** The first state of that rollout is of one that is gone on with: it numbers on. */
  goesOn(rollout: number, asked: AskedTimes | null): void {
    if (asked !== null) this.#asked.set(rollout, asked);
  }

  /** How often the attempt that is at work has asked each of its questions; null where it has asked none. */
  askedOf(rollout: number): AskedTimes | null {
    const newest = this.#newest.get(rollout);
    return newest === undefined ? (this.#asked.get(rollout) ?? null) : askedTimesOf(newest);
  }

  /** One that names no rollout where there are too many: what it takes is counted for the row that is written next. `rollout`: whose it is, where that is said. */
  of(state: number, rollout?: number): Readonly<Record<string, unknown>> {
    let standIn = this.#states.get(state);
    if (standIn === undefined) {
      if (this.#states.size >= this.#most) return { example_id: this.#exampleId };
      standIn = { example_id: this.#exampleId, trajectory: [] };
      this.#states.set(state, standIn);
      if (rollout !== undefined) this.#begin(rollout, standIn);
    }
    return standIn;
  }

  #begin(rollout: number, standIn: Readonly<Record<string, unknown>>): void {
    nameRollout(standIn, rollout);
    const asked = this.#newest.has(rollout) ? undefined : this.#asked.get(rollout);
    if (asked !== undefined) keepAskedTimes(standIn, asked);
    this.#newest.set(rollout, standIn);
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

  /** The same of what they were shown and said; null where nothing was noted. */
  judgementsOf(state: number | null, before: Judgements | null): Judgements | null {
    const standIn = state === null ? undefined : this.#states.get(state);
    const own = standIn === undefined ? null : judgementsOf(standIn);
    return own === null || before === null ? (own ?? before) : { ...before, ...own };
  }

  /** The rollout of that number has its row: no other has the same usage. */
  settle(state: number | null): void {
    if (state !== null) this.#states.delete(state);
  }
}
