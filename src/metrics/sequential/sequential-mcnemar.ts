/**
 * Whether one of two runs is better, for pairs of 0 and 1, valid at every look at once: the mixture martingale over the pairs that differ
 * (Robbins; a symmetric beta prior on the share of them that one run wins). Under "no difference" each such pair is a fair coin.
 *
 * evidence = B(a+b, a+c) / B(a, a) * 2^(b+c), with b and c the pairs that one run alone passes; Ville: it ever reaches 1/alpha with chance alpha at most.
 *
 * Pair by pair that is a bet of (b - c) / (2a + b + c) on the next difference. A part of a pass, where scores turn out to have some, is bet on in the same
 * way: a fair bet too, so the bound stays what it is.
 */
export class SequentialMcNemar {
  /** Of the beta prior: 1 spreads it evenly over every share. */
  static readonly PRIOR = 1;
  #wins: number;
  #losses: number;
  #logEvidence: number;

  constructor(state: McNemarState = { wins: 0, losses: 0, log_evidence: 0 }) {
    this.#wins = state.wins;
    this.#losses = state.losses;
    this.#logEvidence = state.log_evidence;
  }

  /** `difference`: 1 where the run alone passed, -1 where the baseline alone did, 0 where they agree, or between. Throws a `RangeError` for anything else. */
  add(difference: number): void {
    if (!(difference >= -1 && difference <= 1)) throw new RangeError(`${difference} is no difference of two scores from 0 to 1`);
    const stake = (this.#wins - this.#losses) / (2 * SequentialMcNemar.PRIOR + this.#wins + this.#losses);
    this.#logEvidence += Math.log1p(stake * difference);
    if (difference > 0) this.#wins += difference;
    else this.#losses -= difference;
  }

  /** Smallest alpha at which this could have ended by now; an anytime-valid p-value follows by keeping the smallest ever seen. */
  get p(): number {
    return Math.min(1, Math.exp(-this.#logEvidence));
  }

  get state(): McNemarState {
    return { wins: this.#wins, losses: this.#losses, log_evidence: this.#logEvidence };
  }
}

/** As stored. */
export interface McNemarState {
  readonly wins: number;
  readonly losses: number;
  readonly log_evidence: number;
}
