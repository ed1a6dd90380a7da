import type { RunState } from "../connection/api-types.ts";

/** Time over which the speed is measured. */
const SPEED_MS = 30_000;
/** States come more often than a speed changes. */
const SAMPLE_MS = 500;

/** How fast a run has been going of late, and so how long it will take. */
export class Speed {
  #samples: { readonly at: number; readonly done: number }[] = [];

  /** `at`: milliseconds that only go forward. */
  note({ done_rollouts: done }: RunState, at: number): void {
    this.#samples = this.#samples.filter((sample) => at - sample.at <= SPEED_MS);
    const last = this.#samples.at(-1);
    // Fewer than before: a resume took rollouts back; the speed starts anew.
    if (last !== undefined && done < last.done) this.#samples = [];
    if (last === undefined || at - last.at >= SAMPLE_MS) this.#samples.push({ at, done });
  }

  /** Null = unknown. */
  remainingMs({ done_rollouts, total_rollouts }: RunState): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.done <= first.done || total_rollouts === 0) return null;
    return ((total_rollouts - done_rollouts) * (last.at - first.at)) / (last.done - first.done);
  }
}
