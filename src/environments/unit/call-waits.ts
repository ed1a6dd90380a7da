/** How one call of a model stands: it waits until it is permitted, and again where it has to be sent again. */
export interface WatchedCall {
  readonly permitted: () => void;
  /** It waits, or goes on after that. */
  readonly waits: (waiting: boolean) => void;
  /** To be called once. */
  readonly over: () => void;
}

/**
 * Whether whoever makes calls stands still: some are under way, and each of them waits to be sent, for a permit, for the end of a pause or for an endpoint that has
 * no room. That time is not the caller's own.
 */
export class CallWaits {
  readonly #tell: (still: boolean) => void;
  #calls = 0;
  #sent = 0;
  #still = false;

  /** `tell` is called when it begins to stand still, and when it goes on. */
  constructor(tell: (still: boolean) => void) {
    this.#tell = tell;
  }

  /** A call is made. */
  begin(): WatchedCall {
    let isSent = false;
    const turn = (sent: boolean): void => {
      if (sent !== isSent) this.#sent += sent ? 1 : -1;
      isSent = sent;
      this.#look();
    };
    this.#calls++;
    this.#look();
    return {
      permitted: () => turn(true),
      waits: (waiting) => turn(!waiting),
      over: () => {
        this.#calls--;
        turn(false);
      },
    };
  }

  #look(): void {
    const still = this.#calls > 0 && this.#sent === 0;
    if (still === this.#still) return;
    this.#still = still;
    this.#tell(still);
  }
}
