import { type RewardRange, USUAL_RANGE } from "../interval.ts";
import { EnvelopeBounds, type EnvelopeState, type ExampleScore } from "./envelope-bounds.ts";
import { type McNemarState, SequentialMcNemar } from "./sequential-mcnemar.ts";
import type { StopRule } from "../../config/options/stop-rule.ts";

/** Of the interval of the mean that a report shows, whatever alpha the rule has. */
const REPORT_ALPHA = 0.05;

export interface WatchOptions {
  readonly rule: StopRule;
  readonly alpha: number;
  /** What the score of an example can be. Default 0 to 1. */
  readonly range?: RewardRange;
  /** Examples of the run in all; null where it is not known. The mean is then that which the whole run would have. */
  readonly population?: number | null;
  /** Of a rule against a baseline: every score of the baseline is 0 or 1 and of one attempt, as this run's are; then pairs that differ are counted. */
  readonly pairsOfZeroAndOne?: boolean;
}

/** As stored. `high` null: as `low`. */
export interface WatchState {
  readonly bounds: EnvelopeState;
  readonly pairs: { readonly low: McNemarState; readonly high: McNemarState | null } | null;
  /** Null: the rule's own bounds are those of the mean. */
  readonly mean: EnvelopeState | null;
}

export type Finding = "narrow enough" | "below" | "above" | "better" | "worse";

/** Why a run may stop, with what holds at any time. */
export interface Decision {
  readonly finding: Finding;
  /** Of the mean, or of the difference to the baseline, at the rule's alpha. */
  readonly interval: readonly [number, number];
  /** Where pairs that differ were counted: the smallest alpha at which they say so. Their test is sharper than the bounds, whose interval may still hold 0. */
  readonly p?: number;
  /** Of the mean reward, 95 %. */
  readonly reward_ci95: readonly [number, number];
  /** Examples that it took. */
  readonly examples: number;
}

/**
 * Follows a run example by example, in the order that was drawn before it began, and says when its rule is met. It may be asked after every
 * example: what it finds is wrong with chance alpha at most, over all looks together. Only whole examples, their attempts as one mean.
 */
export class StopWatch {
  readonly #rule: StopRule;
  readonly #alpha: number;
  readonly #bounds: EnvelopeBounds;
  readonly #mean: EnvelopeBounds | null;
  #pairs: { readonly low: SequentialMcNemar; readonly high: SequentialMcNemar | null } | null = null;

  constructor({ rule, alpha, range = USUAL_RANGE, population = null, pairsOfZeroAndOne = false }: WatchOptions, state?: WatchState) {
    this.#rule = rule;
    this.#alpha = alpha;
    const [low, high] = range;
    const versus = rule.kind === "versus";
    const watched: RewardRange = versus ? [low - high, high - low] : range;
    // Where two runs are compared the question is about the models, not about these answers of theirs: over the whole population two runs of
    // one model differ too, and bounds without replacement would say so as it is used up.
    this.#bounds = new EnvelopeBounds({ alpha, range: watched, population: versus ? null : population }, state?.bounds);
    this.#mean = versus || alpha !== REPORT_ALPHA ? new EnvelopeBounds({ alpha: REPORT_ALPHA, range, population }, state?.mean ?? undefined) : null;
    if (!versus || !pairsOfZeroAndOne || low !== 0 || high !== 1) return;
    const { low: lows, high: highs = null } = state?.pairs ?? {};
    this.#pairs = { low: new SequentialMcNemar(lows), high: highs === null ? null : new SequentialMcNemar(highs) };
  }

  /**
   * One whole example, and the baseline's of the same example where the rule compares. Throws a `RangeError` for a score outside the range: then the
   * rule can find nothing out any more, and the run goes on to its end.
   */
  add(score: number | ExampleScore, baseline?: number | ExampleScore): void {
    const own = scoreOf(score);
    if (this.#rule.kind !== "versus") {
      this.#bounds.add(own);
      this.#mean?.add(own);
      return;
    }
    if (baseline === undefined) throw new RangeError("the baseline has no score for this example");
    const [least, most] = scoreOf(baseline);
    const difference: ExampleScore = [own[0] - most, own[1] - least];
    this.#bounds.add(difference);
    this.#mean?.add(own);
    this.#addPair(difference);
  }

  #addPair([least, most]: ExampleScore): void {
    if (this.#pairs === null) return;
    if (least !== most && this.#pairs.high === null) this.#pairs = { ...this.#pairs, high: new SequentialMcNemar(this.#pairs.low.state) };
    this.#pairs.high?.add(most);
    this.#pairs.low.add(least);
  }

  /** Of the mean, or of the difference; holds at every look at once. */
  interval(): readonly [number, number] {
    return this.#bounds.interval();
  }

  get examples(): number {
    return this.#bounds.count;
  }

  /** Null while the rule is not met. */
  decision(): Decision | null {
    const finding = this.#bounds.count === 0 ? null : this.#finding();
    if (finding === null) return null;
    const p = this.#pairs === null ? {} : { p: (finding === "worse" ? (this.#pairs.high ?? this.#pairs.low) : this.#pairs.low).p };
    return { finding, interval: this.interval(), ...p, reward_ci95: (this.#mean ?? this.#bounds).interval(), examples: this.#bounds.count };
  }

  state(): WatchState {
    const pairs = this.#pairs === null ? null : { low: this.#pairs.low.state, high: this.#pairs.high?.state ?? null };
    return { bounds: this.#bounds.state(), pairs, mean: this.#mean?.state() ?? null };
  }

  #finding(): Finding | null {
    const rule = this.#rule;
    const [low, high] = this.interval();
    if (rule.kind === "halfwidth") return (high - low) / 2 < rule.bound ? "narrow enough" : null;
    if (rule.kind === "mean") return rule.side === "below" ? (high < rule.bound ? "below" : null) : low > rule.bound ? "above" : null;
    if (this.#pairs !== null) return this.#foundInPairs(this.#pairs);
    return low > 0 ? "better" : high < 0 ? "worse" : null;
  }

  /** Better where it is so however bad what is not known is, worse where it is so however good that is. */
  #foundInPairs({ low, high }: { readonly low: SequentialMcNemar; readonly high: SequentialMcNemar | null }): Finding | null {
    const most = high ?? low;
    if (low.p <= this.#alpha && low.state.wins > low.state.losses) return "better";
    return most.p <= this.#alpha && most.state.losses > most.state.wins ? "worse" : null;
  }
}

const scoreOf = (score: number | ExampleScore): ExampleScore => (typeof score === "number" ? [score, score] : score);
