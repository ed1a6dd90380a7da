/** A segment that is stored: its name, and the epoch of the grant that wrote it. */
export interface StoredSegment {
  readonly name: string;
  readonly epoch: number;
}

/**
 * Tells which segments a sweep deletes: those that nothing points to, a zombie's, or of rows that were replaced by a repair. The run may be
 * resumed while the sweep lists and deletes, and commit: so only what grants up to `lastEpoch` wrote is looked at, all of which have ended. Rows can
 * stop pointing to those, and never begin to. Segments are asked for in ascending order of their names, so that a window of names is enough.
 */
export class Orphans {
  readonly #lastEpoch: number;
  readonly #window: number;
  /** Names that something points to, ascending; null = none were asked for yet. */
  #known: readonly string[] | null = null;
  #kept: ReadonlySet<string> = new Set();

  /** `lastEpoch`: of the newest grant when the sweep began; `window`: names held at once. */
  constructor(lastEpoch: number, window: number) {
    this.#lastEpoch = lastEpoch;
    this.#window = window;
  }

  /** The name after which the next window of names that something points to is to be learned before this segment can be judged; null = it can be. */
  missing({ name, epoch }: StoredSegment): string | null {
    if (epoch > this.#lastEpoch) return null;
    if (this.#known === null) return "";
    const last = this.#known.at(-1);
    return last !== undefined && this.#known.length === this.#window && name > last ? last : null;
  }

  /** A window: as many names as fit, or fewer where there are no more. */
  learn(names: readonly string[]): void {
    this.#known = names;
    this.#kept = new Set(names);
  }

  /** Precondition: nothing is missing. */
  has({ name, epoch }: StoredSegment): boolean {
    return epoch <= this.#lastEpoch && !this.#kept.has(name);
  }
}
