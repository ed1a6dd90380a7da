/** One who waits for a permit; a node of a doubly linked list, so that leaving the queue costs the same wherever one stands. */
interface Waiter {
  readonly admit: () => void;
  previous: Waiter | null;
  next: Waiter | null;
}

/**
 * A counting semaphore whose size may change while it is in use: first come, first served, a fixed number of steps per
 * operation. Whoever was admitted calls `leave` once.
 */
export class Gate {
  #limit: number;
  #inFlight = 0;
  #waiting = 0;
  #first: Waiter | null = null;
  #last: Waiter | null = null;
  #tell: ((inFlight: number) => void) | null = null;

  /** Permits at once; below 1 = no limit. */
  constructor(limit: number) {
    this.#limit = sizeOf(limit);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves with a permit in hand; rejects with the signal's reason when that comes first. */
  enter(signal?: AbortSignal | null): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#inFlight < this.#limit) {
      this.#inFlight++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#remove(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        admit: () => {
          signal?.removeEventListener("abort", giveUp);
          resolve();
        },
        previous: this.#last,
        next: null,
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      if (this.#last === null) this.#first = waiter;
      else this.#last.next = waiter;
      this.#last = waiter;
      this.#waiting++;
    });
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

  /** A smaller size takes effect as permits come back; a larger one admits at once. */
  resize(limit: number): void {
    this.#limit = sizeOf(limit);
    this.#admit();
  }

  #admit(): void {
    while (this.#first !== null && this.#inFlight < this.#limit) {
      const waiter = this.#first;
      this.#remove(waiter);
      // Counted before the waiter runs, so that nobody slips in between.
      this.#inFlight++;
      waiter.admit();
    }
  }

  #remove(waiter: Waiter): void {
    if (waiter.previous === null) this.#first = waiter.next;
    else waiter.previous.next = waiter.next;
    if (waiter.next === null) this.#last = waiter.previous;
    else waiter.next.previous = waiter.previous;
    this.#waiting--;
  }
}

const sizeOf = (limit: number): number => (limit < 1 ? Number.POSITIVE_INFINITY : Math.floor(limit));
