/** Milliseconds of computing after which everything else on the thread has its turn. */
const SLICE_MS = 4;

/**
 * Computing in slices, one request at a time. The model shares its thread with the executors that call it and with the Durable
 * Objects they report to: without a pause a few hundred requests would hold up every heartbeat for seconds
 * (docs/decisions/embedded-worker.md).
 */
export class Turns {
  readonly #now: () => number;
  readonly #pause: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  #computed = 0;

  /** `now`: milliseconds that only go forward; `pause` lets everything run that waits, timers and sockets included. */
  constructor({ now, pause }: { readonly now: () => number; readonly pause: () => Promise<void> }) {
    this.#now = now;
    this.#pause = pause;
  }

  /** What `work` yields, slice by slice, and what it returns. Requests that compute at the same time take turns. */
  async *slices<Value, End>(work: Generator<Value, End>): AsyncGenerator<readonly Value[], End> {
    for (;;) {
      const { values, end } = await this.#turn(() => this.#slice(work));
      if (values.length > 0) yield values;
      if (end !== null) return end.value;
    }
  }

  #slice<Value, End>(work: Generator<Value, End>): { readonly values: readonly Value[]; readonly end: { readonly value: End } | null } {
    const values: Value[] = [];
    const begun = this.#now();
    try {
      for (;;) {
        const step = work.next();
        if (step.done === true) return { values, end: { value: step.value } };
        values.push(step.value);
        if (this.#now() - begun >= SLICE_MS) return { values, end: null };
      }
    } finally {
      this.#computed += this.#now() - begun;
    }
  }

  /** After the turns asked for earlier; the next one begins after a pause, if one is due. */
  #turn<Result>(compute: () => Result): Promise<Result> {
    const turn = this.#last.then(compute);
    const rest = (): Promise<void> => this.#rest();
    this.#last = turn.then(rest, rest);
    return turn;
  }

  async #rest(): Promise<void> {
    if (this.#computed < SLICE_MS) return;
    await this.#pause();
    this.#computed = 0;
  }
}
