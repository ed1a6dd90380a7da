import { addCacheUsage, type AnsweredCalls, type CacheUsage, NO_CALLS } from "../../metrics/cache-usage.ts";
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

/** Who is asked: the model under evaluation, or one that the environment calls itself. */
export type AskedRole = "model" | "judges";

/**
 * Counts how the calls of a run that reads the cache are answered, for the rows. A call that names the rollout's state counts for that rollout; one that does
 * not, for the rollout that is written next, as what judges take does.
 */
export class CacheMeter {
  #unnamed: CacheUsage = NO_CALLS;

  /** A call has its answer, wherever that is from. */
  answered(state: Readonly<Record<string, unknown>>, role: AskedRole): void {
    this.#add(state, role, { ...NO_CALLS, calls: 1 });
  }

  /** Its answer is one that was kept. `usage`: of the answer, null where it says nothing. */
  tookKept(state: Readonly<Record<string, unknown>>, role: AskedRole, usage: Usage | null): void {
    this.#add(state, role, { calls: 0, cached: 1, input_tokens: usage?.prompt_tokens ?? 0, output_tokens: usage?.completion_tokens ?? 0 });
  }

  #add(state: Readonly<Record<string, unknown>>, role: AskedRole, answered: AnsweredCalls): void {
    const more: CacheUsage = role === "model" ? answered : { ...NO_CALLS, judges: answered };
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
