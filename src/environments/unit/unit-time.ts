import { CallWaits, type WatchedCall } from "./call-waits.ts";
import { type OwnClock, OwnTime } from "./own-time.ts";

/**
 * The deadline of one unit. It counts from the first permit that a request of the unit had, but for the time in which all that it asks waits to be sent: that is not
 * the unit's own. Before that it counts too: what an environment does then may hang as well.
 */
export class UnitTime {
  readonly #ms: number;
  readonly #time: OwnTime;
  readonly #waits: CallWaits;
  #hasBegun = false;

  /** `late` is called when the unit has taken `ms` milliseconds. */
  constructor(ms: number, clock: OwnClock, late: () => void) {
    this.#ms = ms;
    this.#time = new OwnTime(clock, late);
    this.#waits = new CallWaits((still) => this.#time.stand(still));
    this.beginAnew();
  }

  /** The unit makes a call. */
  call(): WatchedCall {
    return this.#waits.begin();
  }

  permitted(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.beginAnew();
  }

  /** What was done until now cannot be lost any more. */
  beginAnew(): void {
    this.#time.begin(this.#ms);
  }

  end(): void {
    this.#hasBegun = true;
    this.#time.end();
  }
}
