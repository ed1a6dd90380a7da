/** Requests in flight at a public endpoint of which nothing is known: doubled with each round that is refused nothing. */
export class StartBound {
  #bound: number | null;
  #admitted = 0;
  #most = 0;

  constructor(bound: number | null) {
    this.#bound = bound;
  }

  get bound(): number | null {
    return this.#bound;
  }

  /** `admitted` requests were sent and none refused, while `inFlight` were open. A round is as many as may be in flight. */
  passed(admitted: number, inFlight: number): void {
    if (this.#bound === null) return;
    this.#admitted += admitted;
    this.#most = Math.max(this.#most, inFlight);
    if (this.#admitted < this.#bound) return;
    // Fewer than it allows were wanted all the time: it does nothing any more.
    this.#bound = this.#most < this.#bound / 2 ? null : this.#bound * 2;
    this.#admitted = 0;
    this.#most = 0;
  }

  /** What was refused says more than a guess. */
  end(): void {
    this.#bound = null;
  }
}
