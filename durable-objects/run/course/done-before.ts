import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { RunHead } from "../state/head.ts";
import type { Done, Ledger } from "../state/ledger.ts";
import type { UnitRange } from "../protocol.ts";
import { isOwing, owedOf, termsOf } from "./repair.ts";
import { inTurns } from "./turns.ts";

/** Units that are done before the rows of a folder are shared out: a version of before took those over first. Ascending. */
export class DoneBefore {
  readonly ranges: { lo: number; hi: number }[] = [];
  /** Of them, those that owe something: only what they lack is made again. */
  readonly owed: number[] = [];
  readonly #terms: ReturnType<typeof termsOf>;

  constructor(head: RunHead, config: Pick<RunConfig, "rescored_from">) {
    this.#terms = termsOf(head, config);
  }

  /** In unit order. */
  add(done: Pick<Done, "unit" | "rollouts">): void {
    const last = this.ranges.at(-1);
    if (last?.hi === done.unit) last.hi++;
    else this.ranges.push({ lo: done.unit, hi: done.unit + 1 });
    if (isOwing(owedOf(done, this.#terms))) this.owed.push(done.unit);
  }

  get units(): number {
    return this.ranges.reduce((sum, { lo, hi }) => sum + hi - lo, 0);
  }

  /** The parts of a range of which nothing is done. */
  without({ lo, hi }: UnitRange): UnitRange[] {
    const left: UnitRange[] = [];
    let from = lo;
    for (const range of this.ranges) {
      if (range.hi <= from) continue;
      if (range.lo >= hi) break;
      if (range.lo > from) left.push({ lo: from, hi: range.lo });
      from = range.hi;
    }
    return from < hi ? [...left, { lo: from, hi }] : left;
  }
}

export function doneBefore(ledger: Ledger, head: RunHead): DoneBefore {
  const before = new DoneBefore(head, ledger.config());
  for (const done of ledger.doneFrom(0)) before.add(done);
  return before;
}

/** The same without holding up others, for a preparation that shares units out: nothing else changes what is done until then. Null where none does. */
export async function doneBeforeInTurns(ledger: Ledger, pause: () => Promise<boolean>): Promise<DoneBefore | null> {
  const head = ledger.head();
  if (head === null || head.phase !== "preparing" || head.import === null || head.held !== undefined) return null;
  const before = new DoneBefore(head, ledger.config());
  for await (const done of inTurns(ledger, pause)) before.add(done);
  return before;
}
