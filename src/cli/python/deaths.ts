const WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;
/** A unit that ends its process does so three times before it is given up; more than this is no unit's doing. */
const MOST = 10;

/** Ends of one process that nobody asked for: how long to wait before it is started again, and when that makes no sense any more. */
export class Deaths {
  readonly most = MOST;
  #at: readonly number[] = [];

  /** Notes one at `now` (milliseconds of a steady clock). Gives the pause until the next start, in milliseconds; null = there is none. */
  note(now: number): number | null {
    this.#at = [...this.#at.filter((at) => now - at < WINDOW_MS), now];
    const { length } = this.#at;
    if (length >= MOST) return null;
    // The first may have been chance.
    return length === 1 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (length - 2));
  }

  /** How often of late, where it is more than once. */
  get told(): string {
    return this.#at.length > 1 ? ` (${this.#at.length} times within a minute)` : "";
  }
}
