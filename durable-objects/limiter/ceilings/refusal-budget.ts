/** Share of accepted requests that may be refused because more than a known limit was tried. */
const SHARE = 0.004;
/** Of so many minutes at the pace of now, it is saved up. */
const MOST_MINUTES = 8;
/** Refusals that were not ours to choose are forgotten so far. */
const OWED_MINUTES = 1;

/** What trying for more may cost. Earned by accepted requests, spent by refusals. */
export class RefusalBudget {
  #balance = 3;
  /** What one try has cost of late. */
  #cost = 2;

  accepted(count: number, perMinute: number): void {
    const most = Math.max(3, perMinute * MOST_MINUTES * SHARE);
    if (this.#balance < most) this.#balance = Math.min(most, this.#balance + count * SHARE);
  }

  /** An incident cost so many. `tried`: it came of trying. */
  spent(refused: number, tried: boolean, perMinute: number): void {
    if (tried) this.#cost = Math.max(1, 0.5 * this.#cost + 0.5 * refused);
    const least = -Math.max(2, perMinute * OWED_MINUTES * SHARE);
    this.#balance = Math.max(least, this.#balance - refused);
  }

  get mayTry(): boolean {
    return this.#balance >= this.#cost;
  }
}
