import { BettingBounds, type BettingOptions, type BettingState } from "./betting-bounds.ts";

/** Score of an example; where some of its attempts have none, the least and the most that it can be. */
export type ExampleScore = readonly [least: number, most: number];

/** As stored. `high` null: every example has one score so far, and both bounds come from the same. */
export interface EnvelopeState {
  readonly low: BettingState;
  readonly high: BettingState | null;
}

/**
 * Bounds of a mean some of whose scores are not known: the lower one as if each of these were the least that it can be, the upper one as if it were
 * the most. With the missing scores both would lie further in, so what these exclude those exclude too, and they are wrong no more often.
 */
export class EnvelopeBounds {
  readonly #options: BettingOptions;
  readonly #low: BettingBounds;
  #high: BettingBounds | null;

  constructor(options: BettingOptions, state?: EnvelopeState) {
    this.#options = options;
    this.#low = new BettingBounds(options, state?.low);
    this.#high = state === undefined || state.high === null ? null : new BettingBounds(options, state.high);
  }

  get count(): number {
    return this.#low.count;
  }

  /** Throws a `RangeError` as `BettingBounds.add` does; then these bounds are none any more. */
  add([least, most]: ExampleScore): void {
    if (least > most) throw new RangeError(`${least} to ${most} is no range of scores`);
    if (least !== most) this.#high ??= new BettingBounds(this.#options, this.#low.state());
    this.#high?.add(most);
    this.#low.add(least);
  }

  /** Low and high; the whole range before anything was learned. */
  interval(): readonly [number, number] {
    const [low, most] = this.#low.interval();
    const [least, high] = this.#high?.interval() ?? [low, most];
    return [Math.min(low, least), Math.max(most, high)];
  }

  state(): EnvelopeState {
    return { low: this.#low.state(), high: this.#high?.state() ?? null };
  }
}
