import { DEPLOYED_KEEP_AGE_MS, KEEP_AGE_MS } from "../../limits.ts";
import type { Pacing } from "./pacing.ts";
import type { LoosePiece, SessionTiming } from "./session-events.ts";

interface Loose {
  /** When the first of them was generated. */
  readonly since: number;
  readonly rollouts: number[];
}

/** What goes into one segment. */
export interface Taken {
  readonly units: readonly number[];
  readonly pieces: readonly LoosePiece[];
  readonly turns: boolean;
  /** Of the pieces, units of which this grant's span is over with them. */
  readonly spans: readonly number[];
}

/**
 * What waits for the next segment: units that have their rows, and _loose_ rollouts, which are generated while their unit has no rows. Those
 * are kept only once they have waited for a while, or the executor ends: mostly their unit is done before. Times are milliseconds.
 */
export class Batch {
  readonly #timing: SessionTiming;
  readonly #pacing: Pacing;
  #units: number[] = [];
  #since = 0;
  #full = false;
  /** By unit, in the order in which they began to wait. */
  readonly #loose = new Map<number, Loose>();
  #urgent = false;
  /** Where rollouts stand is to be kept with the next segment, which is due. */
  #turns = false;
  /** Units of which this grant has a span that is generated: it is over for the Run once it is kept. */
  #spans: number[] = [];

  constructor(timing: SessionTiming, pacing: Pacing) {
    this.#timing = timing;
    this.#pacing = pacing;
  }

  /** Units with something that is to be committed, beside loose rollouts of units that go on. */
  get units(): readonly number[] {
    return this.#spans.length === 0 ? this.#units : [...this.#units, ...this.#spans];
  }

  get spans(): readonly number[] {
    return this.#spans;
  }

  get isFull(): boolean {
    return this.#full;
  }

  get isEmpty(): boolean {
    return this.#units.length === 0 && this.#loose.size === 0 && this.#spans.length === 0 && !this.#turns;
  }

  /** When it is due by age alone. */
  get dueAt(): number {
    const rows = this.#units.length > 0 ? this.#since + this.#pacing.flushAge(this.#units.length) : Number.POSITIVE_INFINITY;
    return Math.min(rows, this.#keepAt);
  }

  addUnit(unit: number, full: boolean, now: number): void {
    this.#loose.delete(unit);
    if (this.#units.length === 0) this.#since = now;
    this.#units.push(unit);
    this.#full ||= full;
  }

  addRollout(unit: number, rollout: number, now: number): void {
    const known = this.#loose.get(unit);
    if (known === undefined) this.#loose.set(unit, { since: now, rollouts: [rollout] });
    else if (!known.rollouts.includes(rollout)) known.rollouts.push(rollout);
  }

  /** The rollouts of the unit are kept with its rows, which come in a moment. */
  letGo(unit: number): void {
    this.#loose.delete(unit);
  }

  /** No room for the next unit. */
  fill(): void {
    this.#full = true;
  }

  /** All rollouts that this grant has of the unit are loose. They go at once: others may wait for them. */
  endSpan(unit: number): void {
    this.#spans.push(unit);
  }

  addTurns(): void {
    this.#turns = true;
  }

  /** What is loose goes at once: the executor begins to end. */
  hurry(): void {
    this.#urgent ||= this.#loose.size > 0;
  }

  /** `idle`: nothing more will come. */
  isDue(now: number, idle: boolean): boolean {
    const rows = this.#units.length > 0 && (this.#full || idle || now >= this.#since + this.#pacing.flushAge(this.#units.length));
    return rows || this.#turns || this.#spans.length > 0 || (this.#loose.size > 0 && (this.#urgent || idle || now >= this.#keepAt));
  }

  /** Rollouts that have waited for half of their time go along with rows, and all with turns: a segment costs the same with them. */
  take(now: number, idle: boolean): Taken {
    const keeps = this.#urgent || this.#turns || this.#spans.length > 0 || idle || now >= this.#keepAt - this.#keepAge / 2;
    const units = this.#units;
    const turns = this.#turns;
    const spans = this.#spans;
    this.#turns = false;
    this.#spans = [];
    const pieces = keeps ? [...this.#loose].map(([unit, { rollouts }]) => ({ unit, rollouts })) : [];
    this.#units = [];
    this.#full = false;
    if (keeps) {
      this.#loose.clear();
      this.#urgent = false;
    }
    return { units, pieces, turns, spans };
  }

  get #keepAt(): number {
    const [first] = this.#loose.values();
    return first === undefined ? Number.POSITIVE_INFINITY : first.since + this.#keepAge;
  }

  get #keepAge(): number {
    return this.#timing.wall === undefined ? KEEP_AGE_MS : DEPLOYED_KEEP_AGE_MS;
  }
}
