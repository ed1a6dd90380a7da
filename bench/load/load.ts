export interface Load {
  readonly executors: number;
  readonly units: number;
  /** Units of a commit. */
  readonly batch: number;
  /** Ends after so many milliseconds, or when no unit is left. */
  readonly ms: number;
  /** Afterwards the run's metadata is read beside other calls. */
  readonly look: boolean;
}

export interface Answered {
  readonly calls: number;
  readonly ms: number;
  readonly units: number;
  /** Of the metadata of all that is done: how long it took, and the longest that another call waited beside it; null where it was not asked for. */
  readonly look: { readonly ms: number; readonly longest_wait_ms: number } | null;
}
