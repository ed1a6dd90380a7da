import { type Waits, waitText } from "../text/code-text.ts";

/** What is read of a run's state. */
export interface CountedRun extends Waits {
  readonly done_rollouts: number;
  readonly total_rollouts: number;
  readonly finished_rollouts?: number;
}

/** Time over which the speed is measured. */
const SPEED_MS = 30_000;
/** States come more often than a speed changes. */
const SAMPLE_MS = 500;

interface Sample {
  readonly at: number;
  readonly finished: number;
}

/**
 * How fast a run has been going of late, and so how long it will take. What is left is estimated when a rollout finishes and goes down from then
 * on: that none has finished since is no news about the others.
 */
export class Speed {
  /** Moments at which rollouts finished, and the first of all. */
  #samples: Sample[] = [];

  /** `at`: milliseconds that only go forward. */
  note(state: CountedRun, at: number): void {
    // Nothing begins: what is left takes as long as somebody likes, and the wait is no time that rollouts take.
    if (waitText(state, String) !== null) {
      this.#samples = [];
      return;
    }
    const finished = finishedRollouts(state);
    const last = this.#samples.at(-1);
    // Fewer than before: a resume took rollouts back; the speed starts anew.
    if (last !== undefined && finished < last.finished) this.#samples = [];
    else if (last !== undefined && finished === last.finished) return;
    const before = this.#samples.at(-2);
    if (before !== undefined && last !== undefined && last.at - before.at < SAMPLE_MS) this.#samples.pop();
    // The first one stays until another is old enough to measure from.
    while (this.#samples.length > 1 && at - (this.#samples[1]?.at ?? at) > SPEED_MS) this.#samples.shift();
    this.#samples.push({ at, finished });
  }

  /** Rollouts a minute of late; null = unknown. */
  perMinute(): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.finished <= first.finished) return null;
    return ((last.finished - first.finished) * 60_000) / (last.at - first.at);
  }

  /** Null = unknown, as while the run waits or is paused, or when it takes longer than was estimated. */
  remainingMs({ total_rollouts }: CountedRun, now: number): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)];
    if (first === undefined || last === undefined || last.finished <= first.finished || total_rollouts === 0) return null;
    const estimate = ((total_rollouts - last.finished) * (last.at - first.at)) / (last.finished - first.finished);
    const left = estimate - (now - last.at);
    return left > 0 ? left : null;
  }
}

/** Rollouts that are done, and those that have finished while others of their example are still under way. */
export const finishedRollouts = ({ done_rollouts, finished_rollouts, total_rollouts }: CountedRun): number =>
  Math.min(total_rollouts, Math.max(done_rollouts, finished_rollouts ?? 0));

/** Those of them that no number counts yet: their examples are not complete. */
export const openRollouts = (state: CountedRun): number => Math.max(0, finishedRollouts(state) - state.done_rollouts);
