/** Share of accepted requests that may be refused because more than a known limit was tried. */
const SHARE = 0.004;
/** Of so many minutes at the pace of now, it is saved up, and owed: refusals beyond that were not ours to choose. */
const SAVED_MINUTES = 4;
const OWED_MINUTES = 2;
const LEAST = 2;

/** What trying for more may cost. Earned by accepted requests, spent by refusals. */
export class RefusalBudget {
  #balance = LEAST;

  accepted(count: number, perMinute: number): void {
    const most = Math.max(LEAST, perMinute * SAVED_MINUTES * SHARE);
    if (this.#balance < most) this.#balance = Math.min(most, this.#balance + count * SHARE);
  }

  spent(refused: number, perMinute: number): void {
    this.#balance = Math.max(-Math.max(LEAST, perMinute * OWED_MINUTES * SHARE), this.#balance - refused);
  }

  get mayTry(): boolean {
    return this.#balance >= 1;
  }
}
