import type { MeterKind } from "./provider-plan.ts";

const MINUTE_MS = 60_000;
/** Sums of fractions. */
const DUST = 1e-9;

/** What one rate limit has left. Times are milliseconds of one clock that never goes back. */
export interface Meter {
  /** Of the minute's worth, what may still be taken; below 0 = more was taken than there is. */
  remaining(now: number): number;
  take(amount: number, now: number): void;
  /** Milliseconds until `amount` may be taken if nothing else is; an amount above the limit waits for all there is. */
  waitFor(amount: number, now: number): number;
  /** Milliseconds until nothing is missing. */
  resetIn(now: number): number;
  setLimit(limit: number, now: number): void;
}

export function meterOf(kind: MeterKind, limit: number, burstSeconds = 60): Meter {
  switch (kind) {
    case "token_bucket":
      return new TokenBucket(limit, burstSeconds);
    case "sliding_minute":
      return new SlidingMinute(limit);
    case "fixed_minute":
      return new FixedMinute(limit);
  }
}

class TokenBucket implements Meter {
  #limit: number;
  #level: number;
  #at = 0;
  readonly #burstSeconds: number;

  constructor(limit: number, burstSeconds: number) {
    this.#limit = limit;
    this.#burstSeconds = burstSeconds;
    this.#level = this.#capacity;
  }

  remaining(now: number): number {
    this.#fill(now);
    return this.#level;
  }
  take(amount: number, now: number): void {
    this.#fill(now);
    this.#level -= amount;
  }
  waitFor(amount: number, now: number): number {
    this.#fill(now);
    return Math.max(0, ((Math.min(amount, this.#capacity) - this.#level) * MINUTE_MS) / this.#limit);
  }
  resetIn(now: number): number {
    return this.waitFor(this.#capacity, now);
  }
  setLimit(limit: number, now: number): void {
    this.#fill(now);
    this.#limit = limit;
    this.#level = Math.min(this.#level, this.#capacity);
  }

  get #capacity(): number {
    return Math.max(1, (this.#limit * this.#burstSeconds) / 60);
  }
  #fill(now: number): void {
    this.#level = Math.min(this.#capacity, this.#level + ((now - this.#at) * this.#limit) / MINUTE_MS);
    this.#at = now;
  }
}

class SlidingMinute implements Meter {
  #limit: number;
  /** What was taken and when, oldest first; those before `first` are older than a minute. */
  #taken: { readonly at: number; readonly amount: number }[] = [];
  #first = 0;
  #sum = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  remaining(now: number): number {
    this.#forget(now);
    return this.#limit - this.#sum;
  }
  take(amount: number, now: number): void {
    this.#forget(now);
    this.#taken.push({ at: now, amount });
    this.#sum += amount;
  }
  waitFor(amount: number, now: number): number {
    let missing = Math.min(amount, this.#limit) - this.remaining(now);
    for (let i = this.#first; i < this.#taken.length && missing > DUST; i++) {
      const entry = this.#taken[i];
      if (entry === undefined) break;
      missing -= entry.amount;
      if (missing <= DUST) return entry.at + MINUTE_MS - now;
    }
    return 0;
  }
  resetIn(now: number): number {
    return this.waitFor(this.#limit, now);
  }
  setLimit(limit: number): void {
    this.#limit = limit;
  }

  #forget(now: number): void {
    for (let entry = this.#taken[this.#first]; entry !== undefined && entry.at <= now - MINUTE_MS; entry = this.#taken[this.#first]) {
      this.#sum -= entry.amount;
      this.#first++;
    }
    if (this.#first > 1_024 && this.#first * 2 > this.#taken.length) {
      this.#taken = this.#taken.slice(this.#first);
      this.#first = 0;
    }
  }
}

class FixedMinute implements Meter {
  #limit: number;
  #minute = 0;
  #taken = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  remaining(now: number): number {
    this.#turn(now);
    return this.#limit - this.#taken;
  }
  take(amount: number, now: number): void {
    this.#turn(now);
    this.#taken += amount;
  }
  waitFor(amount: number, now: number): number {
    return Math.min(amount, this.#limit) <= this.remaining(now) + DUST ? 0 : (this.#minute + 1) * MINUTE_MS - now;
  }
  resetIn(now: number): number {
    return this.waitFor(this.#limit, now);
  }
  setLimit(limit: number): void {
    this.#limit = limit;
  }

  #turn(now: number): void {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute > this.#minute) {
      this.#minute = minute;
      this.#taken = 0;
    }
  }
}
