import type { ClaimAnswer } from "../../../durable-objects/run/protocol.ts";

/** Waits after an answer that had nothing: where something may come from others, and where only their end brings it. Milliseconds. */
interface Waits {
  readonly idle: number;
  readonly beat: number;
}

/** Which claim of a grant is outstanding, when the next one is due, and whether more is to be had. Times are milliseconds of the executor's own clock. */
export class Claiming {
  readonly #waits: Waits;
  #seq = 0;
  /** False while the answer to the newest `seq` is outstanding: a lost answer is asked for again under the same one. */
  #isDone = true;
  #inFlight = false;
  #at = 0;
  /** The same while no lane is free for what is claimed. */
  #aheadAt = 0;
  /** Pending units the Run spoke of in its last empty answer; 0 = nothing to wait for. */
  #elsewhere = 1;
  /** The newest claim found nothing for a free lane: what is running is all there is for now. */
  #dry = false;
  #asked = 0;

  constructor(waits: Waits) {
    this.#waits = waits;
  }

  get isInFlight(): boolean {
    return this.#inFlight;
  }

  /** Lanes that the newest one was for. */
  get asked(): number {
    return this.#asked;
  }

  get isDry(): boolean {
    return this.#dry && !this.#inFlight;
  }

  /** Nothing is to be had, as far as is known, and nothing is on its way. */
  get isExhausted(): boolean {
    return this.#elsewhere === 0 && !this.#inFlight && this.#isDone;
  }

  isOutstanding(seq: number): boolean {
    return seq === this.#seq && this.#inFlight;
  }

  /** When the next may go out, for lanes that are free or ahead of those that will be. */
  nextAt(hasFree: boolean): number {
    return hasFree ? this.#at : Math.max(this.#at, this.#aheadAt);
  }

  /** For so many lanes. Returns its number. */
  begin(free: number): number {
    if (this.#isDone) this.#seq++;
    this.#isDone = false;
    this.#inFlight = true;
    this.#asked = free;
    return this.#seq;
  }

  failed(retryAt: number): void {
    this.#inFlight = false;
    this.#at = retryAt;
  }

  answered(answer: ClaimAnswer, now: number): void {
    this.#inFlight = false;
    this.#at = now;
    this.#isDone = true;
    this.#dry = answer.kind !== "block" && this.#asked > 0;
    if (answer.kind === "block") this.#elsewhere = 1;
    if (answer.kind !== "empty") return;
    this.#elsewhere = answer.pending + (answer.divided === true ? 1 : 0);
    // What only another's end can bring, and what no lane is free for, is asked for with what a beat would say.
    const { idle, beat } = this.#waits;
    if (this.#asked > 0) this.#at = now + (answer.pending > 0 ? idle : beat);
    this.#aheadAt = now + beat;
  }

  /** There may be something that was refused a moment ago. */
  mayHaveMore(): void {
    this.#elsewhere = Math.max(1, this.#elsewhere);
  }

  /** At once, unless one is to wait for less. */
  hurry(now: number): void {
    this.#at = Math.min(this.#at, now);
  }
}
