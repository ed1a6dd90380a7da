interface Heard {
  readonly controller: AbortController;
  /** Open units that have it. */
  units: number;
}

/** Signals of the other side by their numbers: each as long as a unit that has it is open, or, where it was aborted before its unit came, until that is over. */
export class HeardSignals {
  readonly #known = new Map<number, Heard>();

  #of(number: number): Heard {
    const known = this.#known.get(number) ?? { controller: new AbortController(), units: 0 };
    this.#known.set(number, known);
    return known;
  }

  of(number: number): AbortSignal {
    return this.#of(number).controller.signal;
  }

  /** A unit begins that has these. Returns what says that it is over. */
  begin(numbers: readonly number[]): () => void {
    for (const number of numbers) this.#of(number).units++;
    return () => {
      for (const number of numbers) if (--this.#of(number).units === 0) this.#known.delete(number);
    };
  }

  abort(number: number, reason: unknown): void {
    this.#of(number).controller.abort(reason);
  }

  abortAll(reason: unknown): void {
    for (const { controller } of this.#known.values()) controller.abort(reason);
  }
}
