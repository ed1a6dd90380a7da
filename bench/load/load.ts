export interface Load {
  readonly executors: number;
  readonly units: number;
  /** Units of a commit. */
  readonly batch: number;
  /** Ends after so many milliseconds, or when no unit is left. */
  readonly ms: number;
  /** Afterwards the run's metadata is read beside other calls. */
  readonly look: boolean;
  /** Bytes of a row; absent = 1,000. */
  readonly bytes?: number;
  /** Afterwards small segments are merged, and the reads of the final file counted. */
  readonly merge?: boolean;
  readonly final?: boolean;
}

export interface Merges {
  readonly reads: number;
  readonly puts: number;
  readonly bytes: number;
  readonly ms: number;
}

export interface FinalReads {
  readonly reads: number;
  readonly parts: number;
  /** Of the calls of the Run alone. */
  readonly ms: number;
}

export interface Answered {
  readonly calls: number;
  readonly ms: number;
  readonly units: number;
  /** Of the metadata of all that is done: how long it took, and the longest that another call waited beside it; null where it was not asked for. */
  readonly look: { readonly ms: number; readonly longest_wait_ms: number } | null;
  readonly merges: Merges | null;
  readonly final: FinalReads | null;
}
