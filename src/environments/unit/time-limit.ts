import type { Sleep } from "../../clients/client.ts";
import { onAbort } from "../../clients/transport/on-abort.ts";
import { sleep as realSleep } from "../../clients/transport/sleep.ts";

/** Why work under a time limit was ended by it. */
class LimitReached extends Error {
  override readonly name = "LimitReached";
}

/**
 * The time that one rollout may take, from its first permit on: waiting for one is not its own. Without a limit it costs nothing and
 * its signal is the outer one.
 */
export class TimeLimit {
  readonly #ms: number | null;
  readonly #outer: AbortSignal;
  readonly #sleep: Sleep;
  readonly #own: AbortController | null;
  /** Made when the time begins. */
  #timer: AbortController | null = null;
  readonly #letGo: () => void;

  constructor(ms: number | null, outer: AbortSignal, sleep: Sleep = realSleep) {
    this.#ms = ms;
    this.#outer = outer;
    this.#sleep = sleep;
    this.#own = ms === null ? null : new AbortController();
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
    if (this.#ms === null || this.#timer !== null) return;
    this.#timer = new AbortController();
    this.#sleep(this.#ms, this.#timer.signal).then(
      () => this.#own?.abort(new LimitReached("the rollout's time is over")),
      () => undefined,
    );
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
    this.#timer?.abort("the rollout is over");
    this.#letGo();
  }
}
