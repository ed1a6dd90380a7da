import type { HolderReport } from "./limiter-control.ts";

/** Whoever looks has so long to come back with what it saw; then another one looks. Milliseconds. */
const LOOK_MS = 10_000;

interface Looking {
  readonly executor: string;
  readonly holder: string;
  readonly until: number;
  /** Requests in flight that were sent before, and go on. */
  readonly open: number;
  readonly isNew: boolean;
}

interface At {
  readonly now: number;
  /** Its run was granted nothing yet. */
  readonly isNew: boolean;
  /** The endpoint is still left alone: whoever was to look has sent nothing. */
  readonly isPaused: boolean;
}

/**
 * Whose request looks whether an endpoint that refused everything takes any: one executor's, one request at a time. That of a run that comes new goes before
 * others, since it may be its first result.
 */
export class Probe {
  #by: Looking | null = null;

  /** Requests that a holder may have in flight meanwhile. */
  concurrentOf({ id, in_flight, waiting }: Pick<HolderReport, "id" | "in_flight" | "waiting">, executor: string, { now, isNew, isPaused }: At): number {
    if (this.#by !== null && now >= this.#by.until) this.#by = null;
    const isMine = this.#by?.executor === executor && this.#by.holder === id;
    if (isMine && this.#by !== null) {
      // Its request has ended, and it has no other.
      if (in_flight <= this.#by.open && waiting === 0) this.#by = null;
      else this.#by = { ...this.#by, open: Math.min(this.#by.open, in_flight) };
    } else if (waiting > 0 && (this.#by === null || (isPaused && isNew && !this.#by.isNew))) {
      this.#by = { executor, holder: id, until: now + LOOK_MS, open: in_flight, isNew };
    } else return 0;
    return this.#by === null ? 0 : this.#by.open + 1;
  }

  left(executor: string): void {
    if (this.#by?.executor === executor) this.#by = null;
  }
}
