/** After a unit was alone the others have so long to begin theirs, before the next one is alone. Milliseconds. */
const TURN_MS = 1_000;
/** So long a unit that is to be alone waits for the others; then it begins beside them, which their Runs are told. Milliseconds. */
const PATIENCE_MS = 60_000;

/** A grant of units among those whose executors share an isolate. */
export interface Seat {
  /**
   * What the grant has begun and not committed now, and whether anything waits to begin; said with each step of its session, since who says
   * nothing for long is taken for dead.
   */
  has(units: number, waits: boolean): void;
  /** Whether the next unit has to wait: an `alone` one until nobody else has anything open, any other while one is alone or waits to be. */
  holdsBack(alone: boolean): boolean;
  begins(alone: boolean): void;
  /** A unit that was to be alone began while others had something open, or another such unit is about to begin beside it, and is not committed. */
  readonly isBeside: boolean;
  /** The grant is over. */
  leave(): void;
}

interface Sitting {
  units: number;
  alone: boolean;
  beside: boolean;
  /** Since when another one that is to be alone is about to begin beside it; null = none is. */
  joinedSince: number | null;
  /** Since when it has wanted to be alone; null = it does not. */
  wantsSince: number | null;
  heardAt: number;
  /** It counts no longer than so after it was heard last. Milliseconds. */
  readonly life: number;
}

/**
 * The grants of units whose executors share one isolate, of all runs: when one of their units brings it down, all end together, and none of
 * them could tell which it was. So a unit that is suspected of killing is alone in its isolate, and not only under its grant.
 */
export class Isolate {
  readonly #now: () => number;
  readonly #sitting = new Set<Sitting>();
  /** Until then it is the others' turn. */
  #turnUntil = Number.NEGATIVE_INFINITY;

  readonly #patience: number;

  /** `now`: milliseconds. */
  constructor(now: () => number, patience = PATIENCE_MS) {
    this.#now = now;
    this.#patience = patience;
  }

  /** `life`: milliseconds after which a grant that says nothing is over for sure: its lease. The platform may end its executor without a word. */
  seat(life: number): Seat {
    const own: Sitting = { units: 0, alone: false, beside: false, joinedSince: null, wantsSince: null, heardAt: this.#now(), life };
    this.#sitting.add(own);
    return {
      has: (units, waits) => this.#has(own, units, waits),
      holdsBack: (alone) => this.#holdsBack(own, alone),
      begins: (alone) => {
        own.units++;
        own.alone = alone;
        own.beside = alone && this.#othersOf(own).some(({ units }) => units > 0);
        own.joinedSince = null;
        own.wantsSince = null;
      },
      get isBeside() {
        return own.beside;
      },
      leave: () => {
        this.#has(own, 0, false);
        this.#sitting.delete(own);
      },
    };
  }

  #has(own: Sitting, units: number, waits: boolean): void {
    own.heardAt = this.#now();
    if (!waits) own.wantsSince = null;
    own.units = units;
    if (units > 0 || !own.alone) return;
    own.alone = false;
    own.beside = false;
    own.joinedSince = null;
    this.#turnUntil = own.heardAt + TURN_MS;
  }

  #holdsBack(own: Sitting, alone: boolean): boolean {
    const now = this.#now();
    own.heardAt = now;
    own.wantsSince = alone ? (own.wantsSince ?? now) : null;
    const others = this.#othersOf(own);
    if (others.length === 0) return false;
    const isTheirTurn = now < this.#turnUntil;
    if (own.wantsSince === null) return others.some((other) => other.alone || (!isTheirTurn && other.wantsSince !== null));
    if (now - own.wantsSince > this.#patience) return this.#mustHear(others, now);
    return isTheirTurn || others.some(({ units, wantsSince }) => units > 0 || (wantsSince ?? now) < (own.wantsSince ?? now));
  }

  /**
   * Whether one that is alone may not have told its Run yet that it is so no longer: it says so with its next call, which comes before its
   * lease ends. What begins beside it is as likely to kill, and would be the blame of a unit that nobody knows to have company.
   */
  #mustHear(others: readonly Sitting[], now: number): boolean {
    const alone = others.filter((other) => other.alone && other.units > 0);
    for (const each of alone) {
      each.beside = true;
      each.joinedSince ??= now;
    }
    return alone.some(({ joinedSince, life }) => now - (joinedSince ?? now) < life);
  }

  /** Those that live. */
  #othersOf(own: Sitting): Sitting[] {
    const now = this.#now();
    return [...this.#sitting].filter((each) => each !== own && now - each.heardAt < each.life);
  }
}
