import { USUAL_RANGE } from "../../../src/metrics/interval.ts";
import { type LiveMean, openRange, PrefixMean } from "../../../src/metrics/one-run/live-mean.ts";
import { averageReward, erroredRollouts } from "../../../src/metrics/totals.ts";
import type { RunHead } from "../state/head.ts";
import { openUnits } from "./open-units.ts";
import type { Ledger } from "../state/ledger.ts";

/** Units that one look reads at most: some ten milliseconds. What is left is read by the next ones. */
const UNITS_A_LOOK = 1_024;

/**
 * The mean of the examples that are done without a gap, in the order in which they are played. Kept in memory and followed when somebody looks: each done unit
 * is read once, and nothing is written for it.
 */
export class LivePrefix {
  #mark = "";
  #prefix = new PrefixMean();

  /** What was read in a transaction that was rolled back. */
  forget(): void {
    this.#mark = "";
  }

  /** Null where there is no live number: before anything is pinned, and of a run that has settled, whose final ones stand elsewhere. */
  look(ledger: Ledger, head: RunHead): LiveMean | null {
    if (head.n === null || head.phase === "settled" || head.phase === "preparing" || head.pushed !== undefined) return null;
    const [first] = ledger.order.get().parts;
    const { reward_range: range = USUAL_RANGE, totals } = head;
    const errored = erroredRollouts(totals);
    const open = openUnits(ledger, head) * ledger.config().rollouts_per_example;
    const begun = { answered: totals.rollouts - errored, sum: totals.reward_sum_without_errors, unresolved: errored + Math.max(0, open) };
    const whole = { range: openRange(begun, range) };
    // What was taken over from a folder, or pinned by a version of before, is in no random order; what follows it cannot make it one.
    if (first?.lo !== 0) return { order: "data", examples: head.done, mean: averageReward(totals), ci95: null, ...whole };
    this.#follow(ledger, head);
    const { examples } = this.#prefix;
    const { n, mean, ci95: overExamples } = this.#prefix.estimate();
    const isAll = head.pinning !== true && examples >= head.n;
    const isSample = isAll || examples <= first.hi;
    const of = isAll
      ? { of: examples }
      : isSample
        ? { of: first.hi, ...(first.hi < head.n || head.pinning === true ? { first_part: true as const } : {}) }
        : {};
    // Where examples share something, an interval over them would be too sure; and beyond the first part they are all of one, and some of the next.
    const ci95 = ledger.config().cluster_by === undefined && isSample ? overExamples : null;
    return { order: "permuted", examples, ...of, mean: n === 0 ? null : mean, ci95, ...whole };
  }

  #follow(ledger: Ledger, head: RunHead): void {
    // A repair puts other rows in the place of some: while it looks for them, and when it is through, it is another prefix.
    const mark = JSON.stringify([head.created_at, head.generation, head.repair === undefined, head.reward_range]);
    if (mark !== this.#mark) {
      this.#mark = mark;
      this.#prefix = new PrefixMean(head.reward_range);
    }
    for (let looked = 0; looked < UNITS_A_LOOK; looked++) {
      const done = ledger.done(this.#prefix.examples);
      if (done === null || done.owed) return;
      this.#prefix.add(done.rollouts.filter((rollout) => rollout !== null));
    }
  }
}
