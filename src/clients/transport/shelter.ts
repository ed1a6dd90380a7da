import type { Storm } from "../storm.ts";
import { isRefused, type RequestFailure } from "./request-failure.ts";

/** What one request knows of being refused for want of room: whether that costs it a retry, and how often it was in a row. */
export class Shelter {
  readonly #storm: Storm;
  readonly #now: () => number;
  /** When it was refused first. */
  #since: number | null = null;
  #refusals = 0;

  constructor(storm: Storm, now: () => number) {
    this.#storm = storm;
    this.#now = now;
  }

  /** Refusals since it last failed in another way. */
  get refusals(): number {
    return this.#refusals;
  }

  /**
   * Takes note of a failure, and tells whether it was for want of room and costs no retry: for as long as others are accepted or a storm may last. One
   * request that is refused for as long, whatever becomes of others, is refused for what it is.
   */
  excuses(failure: RequestFailure): boolean {
    if (!isRefused(failure)) {
      this.#refusals = 0;
      return false;
    }
    this.#storm.refused();
    this.#refusals++;
    const now = this.#now();
    this.#since ??= now;
    return Math.max(this.#storm.age ?? 0, now - this.#since) < this.#storm.patienceMs;
  }
}
