import { MAX_PAUSE_MS } from "../limits.ts";
import type { Sleep } from "./client.ts";

/** After a pause callers come back spread over this share of it, and at most this long: together they would be refused again. */
const SPREAD = 0.1;
const MAX_SPREAD_MS = 1_000;

export interface PauseClock {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly sleep: Sleep;
  /** [0, 1). */
  readonly random: () => number;
}

/** The time until which an endpoint asked to be left alone; one object per endpoint, shared by all lanes that call it. */
export class EndpointPause {
  readonly #clock: PauseClock;
  #until = 0;
  #length = 0;
  #waiting = 0;

  constructor(clock: PauseClock) {
    this.#clock = clock;
  }

  /** Unix milliseconds; null when the endpoint may be called. */
  get until(): number | null {
    // Asked several times by each request, and most endpoints never ask for any.
    return this.#until > 0 && this.#until > this.#clock.now() ? this.#until : null;
  }

  /** Callers that wait for the end of the pause. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Pauses for `ms` from now, unless it is paused for longer already; gives the end. */
  hold(ms: number): number {
    const length = Math.min(ms, MAX_PAUSE_MS);
    const until = this.#clock.now() + length;
    if (until > this.#until) {
      this.#until = until;
      this.#length = length;
    }
    return this.#until;
  }

  /** Resolves when there is no pause; rejects with the signal's reason. Every caller has a timer of its own (one I/O context each). */
  async wait(signal?: AbortSignal | null): Promise<void> {
    this.#waiting++;
    try {
      for (let until = this.until; until !== null; until = this.until) {
        const spread = this.#clock.random() * Math.min(MAX_SPREAD_MS, SPREAD * this.#length);
        await this.#clock.sleep(until - this.#clock.now() + spread, signal);
      }
    } finally {
      this.#waiting--;
    }
  }
}
