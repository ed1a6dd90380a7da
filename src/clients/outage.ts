/** Waits between two requests that look whether a place is back: as long as it has been gone, within these. */
const FIRST_TURN_MS = 500;
export const LAST_TURN_MS = 5_000;

/** What is known elsewhere of a place being gone, by all that call it: there it is said who asks. Times by the same clock. */
export interface SharedOutage {
  /** Since when nobody has been answered there; null while the place answers. */
  readonly since: number | null;
  /** Whether it is the turn of a caller of here. */
  readonly mayAsk: boolean;
  /** Somebody of here was answered. */
  close(): void;
}

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
  /** Goes before what is found out here. */
  shared: SharedOutage | null = null;

  /** `now`: Unix milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** How long nobody has been answered, in milliseconds; null while the place answers, whatever it says. */
  get age(): number | null {
    const since = this.shared?.since ?? this.#since;
    return since === null ? null : this.#now() - Math.min(since, this.#since ?? since);
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
    this.shared?.close();
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
    if (this.shared !== null && this.shared.since !== null) return this.shared.mayAsk;
    const now = this.#now();
    if (now < this.#turnAt) return false;
    this.#turnAt = now + Math.min(LAST_TURN_MS, Math.max(FIRST_TURN_MS, age));
    return true;
  }
}
