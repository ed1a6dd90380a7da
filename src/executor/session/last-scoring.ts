import { SCORING_GRACE_MS } from "../../limits.ts";

/** What waits for money alone is looked at so often, and has so long to go on after all: a scorer asks for the next thing when it has the last. Milliseconds. */
const LOOK_MS = 250;
const UNPAID_MS = 1_000;

/**
 * The time in which a grant whose run has ended scores what is generated: it ends after `SCORING_GRACE_MS`, and sooner where all that is left waits for a budget that has nothing left
 * for it. What is not scored then waits for a resume.
 */
export class LastScoring {
  readonly #isUnpaid: () => boolean;
  #until: number | null = null;
  #unpaidSince: number | null = null;

  /** `isUnpaid`: whether calls wait that no budget will pay for, and none is under way. */
  constructor(isUnpaid: () => boolean = () => false) {
    this.#isUnpaid = isUnpaid;
  }

  get isOn(): boolean {
    return this.#until !== null;
  }

  /** Whether it was not on before. */
  begin(now: number): boolean {
    if (this.isOn) return false;
    this.#until = now + SCORING_GRACE_MS;
    return true;
  }

  end(): void {
    this.#until = null;
  }

  isOver(now: number): boolean {
    if (this.#until === null) return false;
    this.#unpaidSince = this.#isUnpaid() ? (this.#unpaidSince ?? now) : null;
    return now >= this.#until || (this.#unpaidSince !== null && now - this.#unpaidSince >= UNPAID_MS);
  }

  /** When it is to be looked at again; nothing where it is not on. */
  dueFrom(now: number): readonly number[] {
    return this.#until === null ? [] : [Math.min(this.#until, now + LOOK_MS)];
  }
}
