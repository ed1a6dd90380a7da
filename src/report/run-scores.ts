import type { ErrorBounds } from "../metrics/one-run/error-bounds.ts";
import type { CorpusNumbers } from "../metrics/one-run/corpus.ts";
import type { Estimate } from "../metrics/one-run/estimate.ts";
import type { PassIntervals, PassRates } from "../metrics/pass-at-k.ts";
import { KIB } from "../limits.ts";
import type { RunMetadata } from "./metadata.ts";

/** Of a settled run: what its `metadata.json` says of how sure its numbers are, for whoever shows the run without that file. */
export interface RunScores {
  readonly reward_ci95: readonly [number, number] | null;
  readonly pass_at_k: PassRates;
  // Absent of runs that settled under versions of before.
  readonly pass_all_k?: PassRates;
  readonly reward_stderr?: number | null;
  readonly n_clusters?: number;
  readonly pass_at_k_ci95?: PassIntervals;
  readonly pass_all_k_ci95?: PassIntervals;
  /** Absent also where they take more than a Run stores with each of its transitions. */
  readonly metric_estimates?: Readonly<Record<string, Estimate>>;
  readonly error_bounds?: ErrorBounds;
  readonly corpus?: CorpusNumbers;
}

const MOST_BYTES = 16 * KIB;

export function runScores({ pass_at_k, pass_all_k, edgewise }: Pick<RunMetadata, "pass_at_k" | "pass_all_k" | "edgewise">): RunScores {
  const { reward_ci95, reward_stderr, n_clusters, pass_at_k_ci95, pass_all_k_ci95, metric_estimates, error_bounds, corpus } = edgewise;
  const small = metric_estimates !== undefined && new TextEncoder().encode(JSON.stringify(metric_estimates)).byteLength <= MOST_BYTES;
  return {
    reward_ci95,
    pass_at_k,
    pass_all_k,
    reward_stderr,
    n_clusters,
    ...(pass_at_k_ci95 === undefined ? {} : { pass_at_k_ci95 }),
    ...(pass_all_k_ci95 === undefined ? {} : { pass_all_k_ci95 }),
    ...(small ? { metric_estimates } : {}),
    ...(error_bounds === undefined ? {} : { error_bounds }),
    ...(corpus === undefined ? {} : { corpus }),
  };
}
