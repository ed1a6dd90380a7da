const MINUTE_MS = 60_000;
/** Counting is off by some per cent of a minute's worth: nearer to nothing is nothing. */
const ROUGHLY = 0.05;

/**
 * What a bucket that holds a minute's worth would have saved up, if a limit is true: what came in since it was known to be empty, less what was taken. Of a
 * window nothing is ever saved up, and nobody knows beforehand which of the two it is.
 */
export class Savings {
  #level: number;
  /** What was taken until then is in it. */
  until: number;

  constructor(level: number, at: number) {
    this.#level = level;
    this.until = at;
  }

  /** `taken` was taken until `to`, where `limit` comes in per minute. */
  pass(limit: number, taken: number, to: number): void {
    if (to <= this.until) return;
    this.#level = Math.min(limit, this.#level + (limit * (to - this.until)) / MINUTE_MS - taken);
    this.until = to;
  }

  /** The endpoint says that so much is left. */
  told(remaining: number): void {
    this.#level = Math.min(this.#level, Math.max(0, remaining));
  }

  /** It was refused: there is none. */
  end(at: number): void {
    this.#level = 0;
    this.until = at;
  }

  /** As much was taken as there was. */
  isEmpty(limit: number): boolean {
    return this.#level < ROUGHLY * limit;
  }

  /** More was taken than there can have been. */
  isOverdrawn(limit: number): boolean {
    return this.#level < -ROUGHLY * limit;
  }
}
