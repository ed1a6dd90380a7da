import { Savings } from "./savings.ts";

/** Where a limit is from: a person, the endpoint's own words, or its refusals. */
export type Source = "given" | "told" | "found";

/**
 * `held`: below what was found, since what is counted here and what the provider counts differ by some per cent; requests in flight are counted alike.
 * `above_ms`: a window of a minute shows at its end that too much was used, requests in flight show it at once.
 */
const FORMS = { rate: { held: 0.97, above_ms: 60_000, double_ms: 20_000 }, concurrent: { held: 1, above_ms: 10_000, double_ms: 12_000 } } as const;
type CeilingForm = keyof typeof FORMS;

/** How long a limit is held after a cut before anything above it is tried. */
const HOLD_MS = 15_000;
/** From held to just above, and then there until every window of a minute must have shown a refusal. */
const CLIMB_MS = 10_000;
const ABOVE = 1.03;
/** Nothing refused for a minute above it: the limit is another one now, and it may be far. */
const MINUTE_MS = 60_000;
/** Of a limit that was found once and not again, nothing is sure: it grows at once. */
const SOON_MS = 4_000;
const GROWN = 1.1;
/** A limit that has grown to so many times what it was, without a refusal, is none. */
const GONE = 12;

interface Since {
  readonly sure: boolean;
  readonly saved: number;
  readonly now: number;
}

/**
 * One limit that was told or found. It is held somewhat below; after a while of being used to the full it creeps above, and when a minute of that is
 * refused nothing it grows ever faster.
 */
export class Ceiling {
  /** Per minute, or in flight. */
  limit: number;
  source: Exclude<Source, "given">;
  /** Found twice, at about the same number. */
  sure: boolean;
  /** More of it was taken in a minute than it is: it comes in evenly, is saved up, and no window counts it. */
  isBucket = false;
  readonly savings: Savings;
  readonly #form: CeilingForm;
  /** Milliseconds since the last cut in which it was used to the full. */
  #used = 0;

  /** `saved`: what a bucket of it may have in it at `now`. */
  constructor(limit: number, source: Exclude<Source, "given">, form: CeilingForm, { sure, saved, now }: Since) {
    this.limit = limit;
    this.source = source;
    this.sure = sure;
    this.#form = form;
    this.savings = new Savings(saved, now);
  }

  /** What may be used now: somewhat below the limit, or above it to see whether it is still there. */
  get pace(): number {
    return this.limit * this.#factor;
  }

  get isGone(): boolean {
    return this.#factor > GONE;
  }

  /** Whether it is another one than it was. */
  get hasGrown(): boolean {
    return this.#factor > GROWN;
  }

  /** Whether more was taken than it allows, whichever way it is counted. */
  get isDisproved(): boolean {
    return this.#form === "concurrent" || !this.sure || this.savings.isOverdrawn(this.limit);
  }

  /** Whether it explains a refusal though more than it is was used: what was saved up is gone. */
  get isSpent(): boolean {
    return this.sure && this.#form === "rate" && this.savings.isEmpty(this.limit) && !this.savings.isOverdrawn(this.limit);
  }

  /** Whether it is tried if more is used above it. */
  get isAbove(): boolean {
    return this.#factor > 1;
  }

  /** `ms` in which it was used to the full passed without a refusal. `mayTry`: refusals that trying costs are affordable. */
  passed(ms: number, mayTry: boolean): void {
    const used = this.#used + ms;
    this.#used = this.sure && !mayTry && this.#used <= HOLD_MS ? Math.min(used, HOLD_MS) : used;
  }

  /** `taken` more was taken until `to`. What was saved up may be used as fast as it likes, and once it is gone the limit holds. */
  count(taken: number, to: number): void {
    const hadSome = !this.savings.isEmpty(this.limit);
    this.savings.pass(this.limit, taken, to);
    if (this.isBucket && hadSome && this.hasGrown && this.savings.isEmpty(this.limit)) this.#used = HOLD_MS + CLIMB_MS;
  }

  /** A refusal, the newest at `at`, says that it is `limit`. */
  cut(limit: number, sure: boolean, at: number): void {
    this.limit = limit;
    this.sure = sure;
    this.savings.end(at);
    this.#used = 0;
  }

  /** It is held again, where it is or where it has grown to: `used` went well. */
  rest(used: number): void {
    if (this.hasGrown && this.isDisproved) {
      this.limit = Math.max(this.limit, Math.min(this.pace, used));
      this.sure = false;
    }
    this.#used = 0;
  }

  get #factor(): number {
    const { held, above_ms } = FORMS[this.#form];
    if (!this.sure) return held * this.#grown(this.#used - SOON_MS);
    const climbing = this.#used - HOLD_MS;
    if (climbing <= 0) return held;
    if (climbing <= CLIMB_MS) return held + ((1 - held) * climbing) / CLIMB_MS;
    const above = climbing - CLIMB_MS;
    if (above <= above_ms) return 1 + ((ABOVE - 1) * above) / above_ms;
    return ABOVE * this.#grown(above - above_ms);
  }

  #grown(ms: number): number {
    if (ms <= 0) return 1;
    const { double_ms } = FORMS[this.#form];
    if (this.#form === "concurrent") return 2 ** (ms / double_ms);
    // Twice as much, and then no more before a window of a minute would have shown that it is too much.
    const minutes = Math.floor(ms / MINUTE_MS);
    return 2 ** (minutes + Math.min(1, (ms - minutes * MINUTE_MS) / double_ms));
  }
}
