/** Weight of the newest unit in what is known of all. */
const WEIGHT = 0.1;
/** Of their mean deviation, how much longer than the mean nearly all units take at most. */
const DEVIATIONS = 2;

/** The end of an executor's invocation, by its own clock, and the age at which a unit ends in any case (null = none). Milliseconds. */
export interface Wall {
  readonly endsAt: number;
  readonly deadline: number | null;
}

/** How long units of one run take one executor, from their beginning to their rows. Milliseconds. */
export class UnitTimes {
  #mean = 0;
  #deviation = 0;
  #resumes = false;

  /** 0 while no unit has ended. */
  get mean(): number {
    return this.#mean;
  }

  get areKnown(): boolean {
    return this.#mean > 0;
  }

  took(ms: number): void {
    if (!this.areKnown) {
      this.#mean = ms;
      return;
    }
    this.#deviation += WEIGHT * (Math.abs(ms - this.#mean) - this.#deviation);
    this.#mean += WEIGHT * (ms - this.#mean);
  }

  /** What is open at the wall goes on elsewhere: it is begun at any time. */
  resume(): void {
    this.#resumes = true;
  }

  /** Whether a unit that begins now is expected to be done before the wall. `guess`: what it takes, as long as no unit has ended. */
  fit(wall: Wall, now: number, guess = 0): boolean {
    if (this.#resumes) return now < wall.endsAt;
    const expected = this.areKnown ? this.#mean + DEVIATIONS * this.#deviation : guess;
    return now + Math.min(expected, wall.deadline ?? Number.POSITIVE_INFINITY) <= wall.endsAt;
  }
}
