import type { Timer } from "../../clients/transport/timer.ts";

export interface OwnClock {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly timer: Timer;
}

/**
 * A time that runs out, and that stands still where its owner does. It has one timer, which is let run: what it has rung too early by is waited for then, so that standing
 * still for a moment costs nothing.
 */
export class OwnTime {
  readonly #clock: OwnClock;
  readonly #over: () => void;
  #cancel: (() => void) | null = null;
  /** Since when it stands still; null while it runs. */
  #stillAt: number | null = null;
  /** Milliseconds that it stood still since the timer was set. */
  #stood = 0;
  /** What is left of it, where the timer rang while it stood still. */
  #left: number | null = null;

  /** `over` is called when it has run out. */
  constructor(clock: OwnClock, over: () => void) {
    this.#clock = clock;
    this.#over = over;
  }

  /** It runs out after `ms` milliseconds from now in which it does not stand still, whatever it was to be before. */
  begin(ms: number): void {
    this.end();
    this.#stood = 0;
    this.#left = null;
    if (this.#stillAt !== null) this.#stillAt = this.#clock.now();
    this.#cancel = this.#clock.timer(ms, () => this.#ring());
  }

  stand(still: boolean): void {
    const now = this.#clock.now();
    if (still) this.#stillAt ??= now;
    else if (this.#stillAt !== null) {
      this.#stood += now - this.#stillAt;
      this.#stillAt = null;
      if (this.#left !== null) this.begin(this.#left);
    }
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#left = null;
  }

  #ring(): void {
    this.#cancel = null;
    if (this.#stillAt !== null) this.#left = this.#stood + this.#clock.now() - this.#stillAt;
    else if (this.#stood > 0) this.begin(this.#stood);
    else this.#over();
  }
}
