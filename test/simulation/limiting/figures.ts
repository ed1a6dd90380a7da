import type { LimitedWorld } from "./world/limited-world.ts";

/** Jain's index of fairness: 1 = all have the same, 1/n = one has all. */
export function jain(shares: readonly number[]): number {
  const sum = shares.reduce((a, b) => a + b, 0);
  const squares = shares.reduce((a, b) => a + b * b, 0);
  return squares === 0 ? 1 : (sum * sum) / (shares.length * squares);
}

/** The smallest value that a share of `q` of all are no larger than. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}

export interface Figures {
  /** Share of the limit that most was used of. */
  readonly use: number;
  /** Share of requests that were refused. */
  readonly refused: number;
  /** Between runs, of what each had by its weight. */
  readonly jain: number;
  readonly failures: number;
  /** Exchanges with the Limiter, a second. */
  readonly exchanges: number;
}

/** What happened in `[from, to)`; milliseconds since the beginning. */
export function figuresOf(world: LimitedWorld, from: number, to: number): Figures {
  const { tally } = world.provider;
  return {
    use: tally.bestUse(from, to),
    refused: tally.refusedShare(from, to),
    jain: jain(world.runs.map((run) => run.answeredBetween(from, to) / (run.plan.priority ?? 1))),
    failures: world.runs.reduce((sum, run) => sum + run.failures.length, 0),
    exchanges: (1_000 * world.limiter.exchangedBetween(from, to)) / (to - from),
  };
}

/** From `after` until a stretch of ten seconds begins in which so much is used; null where none does until `to`. */
export function recoveredAfter(world: LimitedWorld, after: number, to: number, use = 0.9): number | null {
  for (let at = after; at + 10_000 <= to; at += 1_000) if (world.provider.tally.bestUse(at, at + 10_000) >= use) return at - after;
  return null;
}
