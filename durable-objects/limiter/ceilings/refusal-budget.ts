import type { Incident } from "./incident.ts";

/** Share of accepted requests that may be refused because more than a known limit was tried. */
const SHARE = 0.004;
/** Of so many minutes at the pace of now, it is saved up, and owed: refusals beyond that were not ours to choose. */
const SAVED_MINUTES = 4;
const OWED_MINUTES = 2;
const MOST_OWED_MINUTES = 30;
/** A request that could not be sent while the endpoint was left alone, in refusals. */
const LOST = 0.2;
const MINUTE_MS = 60_000;
const LEAST = 2;

type Spent = Pick<Incident, "refused" | "waited" | "askedAgain" | "knownThen">;

/** What trying for more may cost. Earned by accepted requests, spent by refusals. */
export class RefusalBudget {
  #balance = LEAST;

  accepted(count: number, perMinute: number): void {
    const most = Math.max(LEAST, perMinute * SAVED_MINUTES * SHARE);
    if (this.#balance < most) this.#balance = Math.min(most, this.#balance + count * SHARE);
  }

  /**
   * What an incident cost, of refusals and of time for which the endpoint asked to be left alone. Beyond a bound it is owed only where it came of trying, or tells
   * what trying will cost. `perMinute`: requests that were taken in the minute before. `isFirst`: nothing could be known, and nothing is owed.
   */
  spent({ refused, waited, askedAgain, knownThen }: Spent, perMinute: number, isFirst: boolean): void {
    const tried = knownThen.tried.size > 0;
    const lost = (LOST * perMinute * (tried ? waited : askedAgain)) / MINUTE_MS;
    const owed = Math.max(LEAST, perMinute * (lost > 0 ? MOST_OWED_MINUTES : OWED_MINUTES) * SHARE);
    this.#balance = Math.max(isFirst && lost === 0 ? 0 : -owed, this.#balance - refused - lost);
  }

  get mayTry(): boolean {
    return this.#balance >= 1;
  }
}
