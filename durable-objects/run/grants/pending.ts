import { putUnasked } from "../batching/unasked.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { UnitRange } from "../protocol.ts";
import { runsOf } from "../state/runs-of.ts";
import { isSuspect } from "./suspects.ts";

/**
 * Puts the unfinished units of `range` back to pending: suspects to their own waiting list, the others as ranges.
 * Precondition: no live claim covers them any more.
 */
export function returnUnits(ledger: Ledger, head: RunHead, range: UnitRange): void {
  const settled = new Set(ledger.settledIn(range));
  const suspects = new Map(ledger.suspectsIn(range).map((suspect) => [suspect.unit, suspect]));
  let lo: number | null = null;
  const close = (hi: number): void => {
    if (lo !== null && hi > lo) ledger.putReturned({ lo, hi });
    lo = null;
  };
  for (let unit = range.lo; unit < range.hi; unit++) {
    if (settled.has(unit)) {
      close(unit);
      continue;
    }
    head.pending++;
    const suspect = suspects.get(unit);
    if (suspect !== undefined && isSuspect(suspect)) {
      close(unit);
      ledger.putSuspect({ ...suspect, waiting: true });
    } else {
      lo ??= unit;
    }
  }
  close(range.hi);
}

/** Makes units pending that were in no table, or done and now owed: nothing of them is to be asked in a batch. */
export function makePending(ledger: Ledger, head: RunHead, units: readonly number[]): void {
  for (const range of runsOf(units, 0)) ledger.putReturned(range);
  head.pending += units.length;
}

/** The same of units whose rollouts are to be played: of a run in batches they are asked first. */
export function makeOwed(ledger: Ledger, head: RunHead, units: readonly number[]): void {
  for (const range of runsOf(units, 0)) makeRangeOwed(ledger, head, range);
}

/** And of a range of them. */
export function makeRangeOwed(ledger: Ledger, head: RunHead, range: UnitRange): void {
  if (head.batching !== undefined) return putUnasked(ledger, head, [{ ...range, tries: 0 }]);
  ledger.putReturned(range);
  head.pending += range.hi - range.lo;
}

/** Places of kept rollouts that one block names at most, unless its first unit alone has more: its answer is stored in one row. */
const MOST_PIECES = 2_000;

/** The end of the units from `lo` on, up to `hi`, of which a block can name all pieces. */
function endOfPieces(ledger: Ledger, { lo, hi }: UnitRange): number {
  const beyond = ledger.piecesIn({ lo, hi })[MOST_PIECES];
  return beyond === undefined ? hi : Math.max(lo + 1, beyond.unit);
}

/** The unit that `takeUnits` takes first; null when it takes none. */
export const nextUnit = (ledger: Ledger, { n, cursor, batching }: RunHead): number | null =>
  ledger.firstReturned()?.lo ?? (n === null || cursor >= n || batching !== undefined ? null : cursor);

/** Takes up to `size` adjacent units from the front of what is pending: returned ranges first, then the untouched tail. */
export function takeUnits(ledger: Ledger, head: RunHead, size: number): UnitRange | null {
  const returned = ledger.firstReturned();
  if (returned !== null) {
    const hi = endOfPieces(ledger, { lo: returned.lo, hi: Math.min(returned.hi, returned.lo + size) });
    ledger.deleteReturned(returned.lo);
    if (hi < returned.hi) ledger.putReturned({ lo: hi, hi: returned.hi });
    head.pending -= hi - returned.lo;
    return { lo: returned.lo, hi };
  }
  // Of a run in batches nobody has asked those (batching/unasked.ts).
  if (head.n === null || head.cursor >= head.n || head.batching !== undefined) return null;
  const lo = head.cursor;
  const hi = Math.min(head.n, lo + size);
  head.cursor = hi;
  head.pending -= hi - lo;
  return { lo, hi };
}
