/** So many at once; who comes later waits, in the order in which they came. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** The answer gives the place back; saying it twice does nothing more. Throws the signal's reason where nobody waits any more. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        const at = this.#waiting.indexOf(turn);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(signal.reason as Error);
      };
      const turn = (): void => {
        signal.removeEventListener("abort", abort);
        resolve();
      };
      this.#waiting.push(turn);
      signal.addEventListener("abort", abort, { once: true });
    });
  }
}
