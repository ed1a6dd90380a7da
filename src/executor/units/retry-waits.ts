import { OVERLOADED_FIRST_MS, OVERLOADED_LAST_MS, RETRY_FIRST_MS, RETRY_LAST_MS } from "../../limits.ts";

/** What the platform says of a call on a Durable Object that failed. */
const isOverloaded = (thrown: unknown): boolean => (thrown as { readonly overloaded?: unknown } | null)?.overloaded === true;

/**
 * How long a call that failed is left alone: drawn evenly from nothing to a span that doubles with each failure in a row (full jitter),
 * so that executors which failed together do not come back together. An object that says it is overloaded is given a longer
 * one, and at least half of it. Whether a failure may pass is not asked: rows that are paid for are given up only with their lease.
 */
export class RetryWaits {
  readonly #failures = new Map<string, number>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Milliseconds to wait before `call` is made again. */
  after(call: string, thrown: unknown): number {
    const before = this.#failures.get(call) ?? 0;
    this.#failures.set(call, before + 1);
    const doubled = 2 ** Math.min(before, 16);
    if (!isOverloaded(thrown)) return Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * doubled) * this.#random();
    const span = Math.min(OVERLOADED_LAST_MS, OVERLOADED_FIRST_MS * doubled);
    return span / 2 + (span / 2) * this.#random();
  }

  succeeded(call: string): void {
    this.#failures.delete(call);
  }
}
