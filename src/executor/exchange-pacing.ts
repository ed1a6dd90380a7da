import type { Timer } from "../clients/transport/timer.ts";

/** How an executor is in touch with an object that it shares with others: one exchange at a time, each repeated until it is answered. */

/** An exchange that is not answered in so many milliseconds is repeated. */
export const ANSWER_MS = 3_000;
/** What is not to wait for the next exchange goes out so long after the last one, where the object has few executors. Milliseconds. */
export const SOON_MS = 100;
/** Exchanges that say that it leaves: the object finds out by itself when they are lost. */
export const LEAVE_TRIES = 2;

const FIRST_REPEAT_MS = 100;
const LAST_REPEAT_MS = 2_000;

/** Milliseconds until an exchange is repeated after so many `failures`, from 1: doubling, and up to a quarter shorter so that executors spread. `random`: [0, 1). */
export const repeatMs = (failures: number, random: number): number =>
  Math.min(LAST_REPEAT_MS, FIRST_REPEAT_MS * 2 ** Math.min(10, failures - 1)) * (1 - 0.25 * random);

export interface ExchangePorts<Request, Answer, Trouble extends string> {
  /** Milliseconds. */
  readonly now: () => number;
  readonly timer: Timer;
  /** [0, 1). */
  readonly random: () => number;
  /** Calls one of the two once, or none. */
  readonly send: (request: Request, answered: (answer: Answer) => void, failed: (message: string) => void) => void;
  /** It has not answered for a while (`silent`), for so long that it is not waited for any more (`gone`), refuses to (`refused`), or answers again (null). */
  readonly onTrouble?: (kind: Trouble | null, message: string) => void;
}

/** The exchange that is sent next, if it is known when. */
export class NextExchange {
  readonly #ports: Pick<ExchangePorts<never, never, never>, "now" | "timer">;
  readonly #begin: () => void;
  #planned: { readonly at: number; readonly cancel: () => void } | null = null;

  constructor(ports: Pick<ExchangePorts<never, never, never>, "now" | "timer">, begin: () => void) {
    this.#ports = ports;
    this.#begin = begin;
  }

  get isPlanned(): boolean {
    return this.#planned !== null;
  }

  /** In `ms`, unless one is planned that comes sooner. */
  plan(ms: number): void {
    const at = this.#ports.now() + ms;
    if (this.#planned !== null && this.#planned.at <= at) return;
    this.drop();
    const cancel = this.#ports.timer(Math.ceil(ms), () => {
      this.#planned = null;
      this.#begin();
    });
    this.#planned = { at, cancel };
  }

  drop(): void {
    this.#planned?.cancel();
    this.#planned = null;
  }
}
