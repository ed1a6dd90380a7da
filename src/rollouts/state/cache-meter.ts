import { addCacheUsage, type CacheUsage, NO_CALLS } from "../../metrics/cache-usage.ts";
import type { Usage } from "../types.ts";
import { trajectoryOf } from "./judge-usage.ts";

/** Beside the states, by their trajectories, as what judges took. */
const kept = new WeakMap<object, CacheUsage>();

/** How the calls of this rollout were answered so far; null while none was. */
export function cacheUsageOf(state: Readonly<Record<string, unknown>>): CacheUsage | null {
  const trajectory = trajectoryOf(state);
  return (trajectory === null ? undefined : kept.get(trajectory)) ?? null;
}

/** For a state that is opened again. */
export function keepCacheUsage(state: Readonly<Record<string, unknown>>, usage: CacheUsage): void {
  const trajectory = trajectoryOf(state);
  if (trajectory !== null) kept.set(trajectory, usage);
}

/** One call that was answered. `cached`: by the cache; `usage`: of the answer, null where it says nothing. */
export interface AnsweredCall {
  readonly kind: "model" | "judges";
  readonly cached: boolean;
  readonly usage: Usage | null;
}

/**
 * Counts how the calls of a run that reads the cache are answered, for the rows. A call that names the rollout's state counts for that rollout; one that does
 * not, for the rollout that is written next, as what judges take does.
 */
export class CacheMeter {
  #unnamed: CacheUsage = NO_CALLS;

  count(state: Readonly<Record<string, unknown>>, { kind, cached, usage }: AnsweredCall): void {
    const tokens = { input_tokens: cached ? (usage?.prompt_tokens ?? 0) : 0, output_tokens: cached ? (usage?.completion_tokens ?? 0) : 0 };
    const call = { calls: 1, cached: cached ? 1 : 0, ...tokens };
    const more: CacheUsage = kind === "model" ? call : { ...NO_CALLS, judges: call };
    const trajectory = trajectoryOf(state);
    if (trajectory === null) this.#unnamed = addCacheUsage(this.#unnamed, more);
    else kept.set(trajectory, addCacheUsage(kept.get(trajectory), more));
  }

  /** What the row of a finished rollout says, once. */
  take(state: Readonly<Record<string, unknown>>): CacheUsage {
    const usage = addCacheUsage(this.#unnamed, cacheUsageOf(state) ?? NO_CALLS);
    this.#unnamed = NO_CALLS;
    return usage;
  }
}
