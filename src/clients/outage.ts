/** Waits between two requests that look whether a place is back: as long as it has been gone, within these. */
const FIRST_TURN_MS = 500;
export const LAST_TURN_MS = 5_000;

/**
 * What all callers of a place know together of its being gone: since when nobody has been answered there, and who asks next. One
 * object per place, shared by all lanes that call it, so that a place that is gone is asked by one request at a time.
 */
export class Outage {
  readonly #now: () => number;
  #since: number | null = null;
  #turnAt = 0;
  #spell = 0;
  #lastMs = 0;

  /** `now`: Unix milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** How long nobody has been answered, in milliseconds; null while the place answers, whatever it says. */
  get age(): number | null {
    return this.#since === null ? null : this.#now() - this.#since;
  }

  /** Number of the outage, from 1; of the last one while the place answers. */
  get spell(): number {
    return this.#spell;
  }

  /** How long the last outage was that is over, in milliseconds. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** Somebody was answered, or refused by the server itself. */
  reached(): void {
    if (this.#since === null) return;
    this.#lastMs = this.#now() - this.#since;
    this.#since = null;
  }

  /** Nothing of the server was there for a request. */
  missed(): void {
    if (this.#since !== null) return;
    this.#since = this.#now();
    this.#spell++;
    this.#turnAt = this.#since + FIRST_TURN_MS;
  }

  /** Whether the caller may ask now: everybody while the place answers, one at a time and ever more seldom while it does not. */
  takeTurn(): boolean {
    const { age } = this;
    if (age === null) return true;
    const now = this.#now();
    if (now < this.#turnAt) return false;
    this.#turnAt = now + Math.min(LAST_TURN_MS, Math.max(FIRST_TURN_MS, age));
    return true;
  }
}
