import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { UnitRange } from "../work.ts";
import { type AskedRange, isLive, unitsIn } from "./job.ts";

/** Units of a run in batches that nobody has asked yet: taken into a job from the front, and put back where it lost them. */

/** Puts units there. Precondition: they are in no other place. */
export function putUnasked(ledger: Ledger, head: RunHead, ranges: readonly AskedRange[]): void {
  if (head.batching === undefined || ranges.length === 0) return;
  for (const range of ranges) ledger.batching.putUnasked(range);
  head.batching = { ...head.batching, unasked: head.batching.unasked + unitsIn(ranges) };
}

/** The units from the cursor on, which were never asked. */
const tailOf = ({ cursor, n }: RunHead): UnitRange => ({ lo: cursor, hi: Math.max(cursor, n ?? cursor) });

/** The next `most` units to be asked: those that were before come first. */
export function nextUnasked(ledger: Ledger, head: RunHead, most: number): readonly UnitRange[] {
  const found: UnitRange[] = [];
  let left = most;
  for (const { lo, hi } of [...ledger.batching.unasked(most), tailOf(head)]) {
    const end = Math.min(hi, lo + left);
    if (end <= lo) continue;
    const last = found.at(-1);
    if (last?.hi === lo) found[found.length - 1] = { lo: last.lo, hi: end };
    else found.push({ lo, hi: end });
    left -= end - lo;
  }
  return found;
}

/** Takes these units from there; null, and nothing changes, where one of them is not. */
export function takeUnasked(ledger: Ledger, head: RunHead, ranges: readonly UnitRange[]): readonly AskedRange[] | null {
  const { batching } = head;
  if (batching === undefined) return null;
  const tail = tailOf(head);
  let cursor = tail.lo;
  const taken: AskedRange[] = [];
  const changed = new Map<number, { readonly range: AskedRange; readonly out: AskedRange[] }>();
  for (const { lo, hi } of ranges) {
    let at = lo;
    for (const range of ledger.batching.unaskedIn({ lo, hi: Math.min(hi, tail.lo) })) {
      if (range.lo > at) return null;
      const out = { lo: at, hi: Math.min(hi, range.hi), tries: range.tries };
      taken.push(out);
      const known = changed.get(range.lo);
      if (known === undefined) changed.set(range.lo, { range, out: [out] });
      else known.out.push(out);
      at = out.hi;
    }
    if (at === hi) continue;
    if (at !== cursor || hi > tail.hi) return null;
    taken.push({ lo: at, hi, tries: 0 });
    cursor = hi;
  }
  for (const { range, out } of changed.values()) cutOut(ledger, range, out);
  head.cursor = cursor;
  head.batching = { ...batching, unasked: batching.unasked - unitsIn(taken) };
  return taken;
}

/** Ranges of a run in batches that are to be asked, or are in a job, and reach into this one. */
export const inBatches = (ledger: Ledger, range: UnitRange): readonly UnitRange[] => [
  ...ledger.batching.unaskedIn(range),
  ...ledger.batching.jobs().flatMap((job) => (isLive(job) ? ledger.batching.unitsOf(job.job).filter(({ lo, hi }) => lo < range.hi && hi > range.lo) : [])),
];

/** What of a range is left without parts of it, which ascend. */
function cutOut(ledger: Ledger, range: AskedRange, parts: readonly UnitRange[]): void {
  ledger.batching.deleteUnasked(range.lo);
  let from = range.lo;
  for (const { lo, hi } of parts) {
    if (lo > from) ledger.batching.putUnasked({ ...range, lo: from, hi: lo });
    from = hi;
  }
  if (from < range.hi) ledger.batching.putUnasked({ ...range, lo: from });
}
