import type { Sightings } from "./limiter-control.ts";

/** Requests in a row that met no server, after which the endpoint counts as down: of two executors, or over so many milliseconds. */
const MISSES = 3;
const MISSES_MS = 1_000;
/** Between two requests that look whether it is back: doubling from the first to the last (as src/clients/outage.ts). Milliseconds. */
const FIRST_ASK_MS = 500;
const LAST_ASK_MS = 5_000;

/** Whether an endpoint is down, and who looks whether it is back. Times are milliseconds of one clock, handed in. */
export class Circuit {
  #misses = 0;
  #since: number | null = null;
  readonly #missing = new Set<string>();
  #isOpen = false;
  #askMs = FIRST_ASK_MS;
  #nextAsk = 0;

  heard(executor: string, { over_ms, accepted, rate_limited, overloaded, missed, answered = 0 }: Sightings, now: number): void {
    // Whoever refuses is there, whatever for.
    if (accepted + rate_limited + overloaded + answered > 0) return this.#close();
    if (missed === 0) return;
    this.#misses += missed;
    this.#since ??= now - over_ms;
    this.#missing.add(executor);
    if (this.#isOpen || this.#misses < MISSES || (this.#missing.size < 2 && now - this.#since < MISSES_MS)) return;
    this.#isOpen = true;
    this.#askMs = FIRST_ASK_MS;
    this.#nextAsk = now + this.#askMs;
  }

  /** Since when it is down; null = it is not. */
  get downSince(): number | null {
    return this.#isOpen ? this.#since : null;
  }

  /** Whether it is time for one request to look, and whoever asks this may send it: nobody else for a while. */
  takeTurn(now: number): boolean {
    if (!this.#isOpen || now < this.#nextAsk) return false;
    this.#askMs = Math.min(LAST_ASK_MS, this.#askMs * 2);
    this.#nextAsk = now + this.#askMs;
    return true;
  }

  /** When the next one is to look; null = it is not down. */
  get nextTurn(): number | null {
    return this.#isOpen ? this.#nextAsk : null;
  }

  #close(): void {
    this.#misses = 0;
    this.#since = null;
    this.#missing.clear();
    this.#isOpen = false;
  }
}
