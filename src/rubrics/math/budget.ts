/** A comparison that would take more work than it is worth. Not a wrong answer: whoever scores with it has no score. */
export class MathBoundError extends Error {
  override readonly name = "MathBoundError";
}

/** Nesting of an answer: a recursion of this depth fits the stack of every runtime. */
const MAX_DEPTH = 100;

/**
 * Work counted in steps (a token, a node visited, 64 bits of a number), since in workerd no clock runs during computation.
 * Throws a `MathBoundError` when they are spent.
 */
export class Budget {
  #left: number;
  readonly #limit: number;
  #depth = 0;

  constructor(steps: number) {
    this.#left = steps;
    this.#limit = steps;
  }

  spend(steps = 1): void {
    this.#left -= steps;
    if (this.#left < 0) throw new MathBoundError(`the answers cannot be compared within ${this.#limit} steps`);
  }

  /** One level deeper, for as long as `work` takes. */
  nested<T>(work: () => T): T {
    this.spend();
    if (++this.#depth > MAX_DEPTH) throw new MathBoundError(`an answer is nested more than ${MAX_DEPTH} levels deep`);
    const result = work();
    this.#depth--;
    return result;
  }

  /** Back at the top, after `nested` work that threw and was given up. */
  resurface(): void {
    this.#depth = 0;
  }
}
