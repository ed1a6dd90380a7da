import type { Timer } from "../clients/transport/timer.ts";

/** The rest of an executor between two looks for runs. Lanes that become free end it, also those that did before it began: while the executor looked. */
export class Rest {
  readonly #timer: Timer;
  /** Lanes became free since the last rest ended. */
  #isWoken = false;
  /** Ends the rest that is under way; null = none is. */
  #end: (() => void) | null = null;

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  wake(): void {
    this.#isWoken = true;
    this.#end?.();
  }

  /** Calls `then` once: after so many milliseconds, or as soon as there is reason to look again. */
  begin(ms: number, then: () => void): void {
    const end = (): void => {
      cancel();
      this.#end = null;
      this.#isWoken = false;
      then();
    };
    const cancel = this.#timer(ms, end);
    this.#end = end;
    if (this.#isWoken) end();
  }
}
