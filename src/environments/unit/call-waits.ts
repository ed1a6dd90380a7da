/** How one call of a model stands: it waits until it is permitted, and again where it has to be sent again. */
export interface WatchedCall {
  permitted(): void;
  /** It waits, or goes on after that. */
  waits(waiting: boolean): void;
  /** To be called once. */
  over(): void;
}

/**
 * Whether whoever makes calls stands still: some are under way, and each of them waits to be sent, for a permit, for the end of a pause or for an endpoint that has
 * no room. That time is not the caller's own.
 */
export class CallWaits {
  readonly #tell: (still: boolean) => void;
  readonly #goneOn: () => void;
  #calls = 0;
  #sent = 0;
  #still = false;

  /** `tell` is called when it begins to stand still, and when it goes on; `goneOn` whenever a call that had to be sent again is. */
  constructor(tell: (still: boolean) => void, goneOn: () => void = () => undefined) {
    this.#tell = tell;
    this.#goneOn = goneOn;
  }

  /** A call is made. */
  begin(): WatchedCall {
    this.turned(1, 0);
    return new Call(this);
  }

  /** For its calls: so many more are under way, and so many more of them are sent. */
  turned(calls: number, sent: number): void {
    this.#calls += calls;
    this.#sent += sent;
    const still = this.#calls > 0 && this.#sent === 0;
    if (still === this.#still) return;
    this.#still = still;
    this.#tell(still);
  }

  /** For its calls. */
  goneOn(): void {
    this.#goneOn();
  }
}

class Call implements WatchedCall {
  readonly #waits: CallWaits;
  #isSent = false;

  constructor(waits: CallWaits) {
    this.#waits = waits;
  }

  permitted(): void {
    this.#turn(true, 0);
  }

  waits(waiting: boolean): void {
    this.#turn(!waiting, 0);
    if (!waiting) this.#waits.goneOn();
  }

  over(): void {
    this.#turn(false, -1);
  }

  #turn(sent: boolean, calls: number): void {
    const turned = sent === this.#isSent ? 0 : sent ? 1 : -1;
    this.#isSent = sent;
    this.#waits.turned(calls, turned);
  }
}
