import type { SharedOutage } from "../../clients/outage.ts";

/** What a Limiter says of an endpoint that is down. Times by the clock handed in. */
export interface Down {
  readonly since: number;
  /** This executor sends the next request, to see whether it is back. */
  readonly ask: boolean;
  /** Without a further word it counts no longer than that. */
  readonly until: number;
}

/** Whether an endpoint is down by the word of its Limiter, and who asks there: one request of one executor at a time. */
export class Circuit implements SharedOutage {
  readonly #now: () => number;
  #down: Down | null = null;
  #mayAsk = false;
  readonly #onClose: () => void;

  /** `now`: milliseconds. `onClose`: it is back, as was found out here. */
  constructor(now: () => number, onClose: () => void) {
    this.#now = now;
    this.#onClose = onClose;
  }

  /** It is down: nobody sends anything but who may ask. */
  get isOpen(): boolean {
    if (this.#down !== null && this.#now() >= this.#down.until) this.#down = null;
    return this.#down !== null;
  }

  /** Since when it is down; null = it is not. */
  get since(): number | null {
    return this.isOpen ? (this.#down?.since ?? null) : null;
  }

  get mayAsk(): boolean {
    return this.isOpen && this.#mayAsk;
  }

  told(down: Down | null): void {
    this.#down = down;
    this.#mayAsk = down?.ask === true;
  }

  /** A request was sent there. */
  asked(): void {
    this.#mayAsk = false;
  }

  /** Somebody was answered there. */
  close(): void {
    if (!this.isOpen) return;
    this.told(null);
    this.#onClose();
  }
}
