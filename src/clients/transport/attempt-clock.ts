/** One open attempt; `end` is called when it has taken too long. */
interface Attempt {
  readonly at: number;
  readonly end: () => void;
}

/**
 * Ends attempts that take longer than a common limit, with one timer however many are open: all have the same limit, so the
 * oldest is due first. A timer per request showed in the profile of an executor.
 */
export class AttemptClock {
  readonly limitMs: number;
  readonly #now: () => number;
  readonly #open = new Set<Attempt>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(limitMs: number, now: () => number) {
    this.limitMs = limitMs;
    this.#now = now;
  }

  /** Begins an attempt at `now`; the function it gives back ends its time-keeping, and must be called. */
  begin(now: number, end: () => void): () => void {
    const attempt = { at: now + this.limitMs, end };
    this.#open.add(attempt);
    this.#timer ??= setTimeout(this.#ring, this.limitMs);
    return () => {
      this.#open.delete(attempt);
      if (this.#open.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  readonly #ring = (): void => {
    this.#timer = undefined;
    for (const attempt of this.#open) {
      const left = attempt.at - this.#now();
      if (left > 0) {
        this.#timer = setTimeout(this.#ring, left);
        return;
      }
      this.#open.delete(attempt);
      attempt.end();
    }
  };
}
