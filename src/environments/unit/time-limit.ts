import type { Sleep } from "../../clients/client.ts";
import { onAbort } from "../../clients/transport/on-abort.ts";
import { sleep as realSleep } from "../../clients/transport/sleep.ts";
import { timerOf } from "../../clients/transport/timer.ts";
import { OwnTime } from "./own-time.ts";

/** Why work under a time limit was ended by it. */
class LimitReached extends Error {
  override readonly name = "LimitReached";
}

export interface LimitClock {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Default: real time. */
  readonly sleep?: Sleep | undefined;
}

/**
 * The time that one rollout may take, from its first permit on, but for the time in which it stands still: waiting to be let through is not its own. Without a limit
 * it costs nothing and its signal is the outer one.
 */
export class TimeLimit {
  readonly #ms: number | null;
  readonly #outer: AbortSignal;
  readonly #own: AbortController | null;
  readonly #time: OwnTime | null;
  #hasBegun = false;
  readonly #letGo: () => void;

  constructor(ms: number | null, outer: AbortSignal, { now, sleep = realSleep }: LimitClock) {
    this.#ms = ms;
    this.#outer = outer;
    this.#own = ms === null ? null : new AbortController();
    const over = (): void => this.#own?.abort(new LimitReached("the rollout's time is over"));
    this.#time = ms === null ? null : new OwnTime({ now, timer: timerOf(sleep) }, over);
    this.#letGo = this.#own === null ? () => undefined : onAbort(outer, () => this.#own?.abort(outer.reason));
    if (outer.aborted) this.#own?.abort(outer.reason);
  }

  get signal(): AbortSignal {
    return this.#own?.signal ?? this.#outer;
  }

  get reached(): boolean {
    return this.#own?.signal.reason instanceof LimitReached;
  }

  /** Starts the time; later calls change nothing. */
  start(): void {
    if (this.#hasBegun || this.#ms === null) return;
    this.#hasBegun = true;
    this.#time?.begin(this.#ms);
  }

  /** It stands still, or goes on. */
  stand(still: boolean): void {
    this.#time?.stand(still);
  }

  /** `work`, or a rejection as soon as the time is over: what does not listen to the signal is left to itself. */
  bound<T>(work: Promise<T>): Promise<T> {
    const own = this.#own;
    if (own === null) return work;
    return new Promise((resolve, reject) => {
      const letGo = onAbort(own.signal, () => this.reached && reject(own.signal.reason));
      work.then(resolve, reject).finally(letGo);
      if (this.reached) reject(own.signal.reason);
    });
  }

  /** Leaves no timer and no listener behind. */
  close(): void {
    this.#hasBegun = true;
    this.#time?.end();
    this.#letGo();
  }
}
