import { WaitingLine } from "./waiting-line.ts";

/**
 * A counting semaphore whose size may change while it is in use: first come, first served, a fixed number of steps per
 * operation. Whoever was admitted calls `leave` once.
 */
export class Gate {
  #limit: number;
  #inFlight = 0;
  readonly #line = new WaitingLine();
  #tell: ((inFlight: number) => void) | null = null;

  /** Permits at once; below 1 = no limit. */
  constructor(limit: number) {
    this.#limit = sizeOf(limit);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#line.length;
  }

  /** Permits at once; `Infinity` = no limit. */
  get size(): number {
    return this.#limit;
  }

  /** Resolves with a permit in hand; rejects with the signal's reason when that comes first. */
  enter(signal?: AbortSignal | null): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    return this.tryEnter() ? Promise.resolve() : this.#line.wait(undefined, signal);
  }

  /** Calls `then` with a permit in hand as soon as it has one for it, unless the function that this gives back was called before. */
  whenFree(then: () => void): () => void {
    return this.#line.add(undefined, then);
  }

  /** Takes a permit where one is free; whether it did. */
  tryEnter(): boolean {
    if (this.#inFlight >= this.#limit) return false;
    this.#inFlight++;
    return true;
  }

  leave(): void {
    if (this.#inFlight === 0) throw new Error("a permit was given back that nobody held");
    this.#inFlight--;
    this.#admit();
    if (this.#tell !== null) this.#tellFall();
  }

  /**
   * Tells how many permits are out, now and as they come back, until no more are than the size allows: at once, but after a smaller size.
   * Whoever asked before is told nothing more.
   */
  watchFall(tell: (inFlight: number) => void): void {
    this.#tell = tell;
    this.#tellFall();
  }

  #tellFall(): void {
    const tell = this.#tell;
    if (this.#inFlight <= this.#limit) this.#tell = null;
    tell?.(this.#inFlight);
  }

  /** Nobody is admitted any more, until it has a size again. */
  shut(): void {
    this.#limit = 0;
  }

  /** A smaller size takes effect as permits come back; a larger one admits at once. */
  resize(limit: number): void {
    this.#limit = sizeOf(limit);
    this.#admit();
  }

  #admit(): void {
    while (this.#line.length > 0 && this.#inFlight < this.#limit) {
      // Counted before the waiter runs, so that nobody slips in between.
      this.#inFlight++;
      this.#line.admitFirst();
    }
  }
}

const sizeOf = (limit: number): number => (limit < 1 ? Number.POSITIVE_INFINITY : Math.floor(limit));
