import type { Timer } from "../../clients/transport/timer.ts";

/**
 * The deadline of one unit. It counts from the first permit that a request of the unit had, since waiting for one is not the unit's own. Before that
 * it counts too, but for the waiting: what an environment does then may hang as well.
 */
export class UnitTime {
  readonly #ms: number;
  readonly #timer: Timer;
  readonly #late: () => void;
  #cancel: () => void;
  /** Of the unit's first request: whether it was sent to wait for its permit, and whether it has had it. */
  #hasAsked = false;
  #hasBegun = false;

  /** `late` is called when the unit has taken `ms` milliseconds. */
  constructor(ms: number, timer: Timer, late: () => void) {
    this.#ms = ms;
    this.#timer = timer;
    this.#late = late;
    this.#cancel = this.#start();
  }

  asks(): void {
    this.#hasAsked = true;
  }

  permitted(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.beginAnew();
  }

  /** What was done until now cannot be lost any more. */
  beginAnew(): void {
    this.#cancel();
    this.#cancel = this.#start();
  }

  end(): void {
    this.#hasBegun = true;
    this.#cancel();
  }

  #start(): () => void {
    return this.#timer(this.#ms, () => {
      if (this.#hasAsked && !this.#hasBegun) return;
      this.#late();
    });
  }
}
