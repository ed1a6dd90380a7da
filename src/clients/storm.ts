/**
 * A time in which an endpoint refuses everybody for want of room, as far as its callers know: how long it lasts, and how long it costs none of them a retry.
 * One object per place and class of model, shared by all that call it.
 */
export class Storm {
  readonly #now: () => number;
  /** How long refusals cost nothing, in milliseconds; 0 = they are counted at once. */
  readonly patienceMs: number;
  #since: number | null = null;

  /** `now`: Unix milliseconds. */
  constructor(now: () => number, patienceMs: number) {
    this.#now = now;
    this.patienceMs = patienceMs;
  }

  /** How long nothing has been accepted since something was refused, in milliseconds; null where nothing was refused since. */
  get age(): number | null {
    return this.#since === null ? null : this.#now() - this.#since;
  }

  accepted(): void {
    this.#since = null;
  }

  refused(): void {
    this.#since ??= this.#now();
  }
}
