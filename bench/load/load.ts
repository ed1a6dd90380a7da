export interface Load {
  readonly executors: number;
  readonly units: number;
  /** Units of a commit. */
  readonly batch: number;
  /** Ends after so many milliseconds, or when no unit is left. */
  readonly ms: number;
}

export interface Answered {
  readonly calls: number;
  readonly ms: number;
  readonly units: number;
}
