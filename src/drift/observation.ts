import type { RewardRange } from "../metrics/interval.ts";

/** What a run's paired comparison with the baseline says to a detector. */
export interface Observation {
  /** Mean of the run less that of the baseline, over the examples of both. */
  readonly difference: number;
  /** What the difference varies by from run to run: the run's own part of its squared standard error. */
  readonly own: number;
  /** The baseline's part: the same luck in every comparison with it. */
  readonly shared: number;
  /** Degrees of freedom of the standard error. */
  readonly freedom: number;
}

/** The part of a comparison that is looked at. */
export interface Compared {
  /** Pairs. */
  readonly n: number;
  /** Groups of examples that share something, which are what was observed; absent = examples are. */
  readonly clusters?: number | undefined;
  readonly difference: number;
  readonly stderr: number | null;
}

/** Rollouts at each example, on average. */
export interface Attempts {
  readonly baseline: number;
  readonly run: number;
}

/**
 * Of nothing to few differing pairs a spread is estimated too small: one observation that differs by all there is more, or half as much where nobody says what
 * that is, is added to their squares. So rewards that are all 0 or 1 have one too. Null where fewer than two observations say nothing.
 */
export function observationOf({ n, clusters = n, difference, stderr }: Compared, attempts: Attempts, range: RewardRange | null): Observation | null {
  if (clusters < 2) return null;
  const seen = (stderr ?? 0) ** 2;
  // As an attempt at one example counts: the smallest step of a mean.
  const step = (range === null ? 0 : range[1] - range[0]) / Math.sqrt(Math.max(1, attempts.run));
  const variance = seen + step ** 2 / (n * Math.max(1, n - 1));
  if (!(variance > 0)) return null;
  const share = attempts.run / (attempts.run + attempts.baseline);
  return { difference, own: variance * (1 - share), shared: variance * share, freedom: clusters - 1 };
}
