import { STEP_CHARS } from "../limits.ts";

/**
 * Lets everybody else go first, once in so much work. Waiting for what is there already does not: all of it would run before the next
 * request is looked at. Work is counted and not timed, since a clock stands still while a Worker computes.
 */
export class Pace {
  #spent = 0;

  /** `chars`: about as many as were worked through since the last call. */
  async spend(chars: number): Promise<void> {
    this.#spent += chars;
    if (this.#spent < STEP_CHARS) return;
    this.#spent = 0;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
