import type { WindowPointer } from "../../../r2-layout/place.ts";
import { PART_BYTES, SEGMENT_BYTES, SORT_BYTES, SORTED_UNIT_BYTES } from "../../../src/limits.ts";
import type { PermutedPart, PinnedOrder } from "../../../src/pinned-order.ts";
import type { UnitRange } from "../protocol.ts";
import type { RunHead, SortedRows } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";

/**
 * Rows of permuted examples come into the order of the data set by an external merge sort: first the rows of some thousand positions at a time
 * are read as they lie, put into order in memory, and stored as one segment each; then the final file is read from those, each of which is gone through once from
 * its front. An example and its rows move within its part of the pinned list only, so that all of it is bounded by that part.
 */

type Finalising = Pick<RunHead, "finalise" | "row_bytes" | "totals">;

/**
 * Whether rows are put into order before the final file is written. A file of one part is in memory as a whole anyway; units so large that a read for each costs
 * no more than their bytes are read where they are.
 */
export function isSorted(ledger: Ledger, { row_bytes = 0, totals }: Finalising): boolean {
  const units = totals.rollouts / ledger.config().rollouts_per_example;
  return row_bytes > PART_BYTES && row_bytes / Math.max(1, units) < SORTED_UNIT_BYTES && ledger.order.get().isPermuted;
}

/** Units that stand alone in their segment stay there. */
const moves = ({ length }: Pick<WindowPointer, "length">): boolean => length <= SEGMENT_BYTES;

const byRank = (a: WindowPointer, b: WindowPointer): number => a.unit - b.unit;

/** The next rows to put into order, of units `[lo, hi)`: where they are, in the order in which they are to stand, each with the rank of its example as `unit`. Null: all are. */
export interface RowsToSort extends UnitRange {
  readonly pointers: readonly WindowPointer[];
  readonly bytes: number;
}

export function nextToSort(ledger: Ledger, head: Finalising): RowsToSort | null {
  if (!isSorted(ledger, head)) return null;
  const order = ledger.order.get();
  let from = head.finalise.sorted?.at(-1)?.hi ?? 0;
  for (;;) {
    const part = order.partFrom(from);
    if (part === null) return null;
    const found = firstRun(ledger, order, Math.max(from, part.lo), part);
    if (found.pointers.length > 0) return { ...found, pointers: [...found.pointers].sort(byRank) };
    from = found.hi;
  }
}

function firstRun(ledger: Ledger, order: PinnedOrder, lo: number, part: PermutedPart): RowsToSort {
  const pointers: WindowPointer[] = [];
  let bytes = 0;
  for (const { unit, segment, offset, length } of ledger.placesFrom(lo)) {
    // Parts of which nothing is done are passed over at once.
    if (unit >= part.hi) return { lo, hi: pointers.length > 0 ? part.hi : unit, pointers, bytes };
    if (!moves({ length })) continue;
    if (bytes + length > SORT_BYTES) return { lo, hi: unit, pointers, bytes };
    pointers.push({ unit: order.rankOf(unit), segment, offset, length });
    bytes += length;
  }
  return { lo, hi: pointers.length > 0 ? part.hi : Number.POSITIVE_INFINITY, pointers, bytes };
}

/** Where the rows of all done examples from `rank` on are now, in the order of the data set: `unit` is the rank. Lazy; holds the places of one part. */
export function* pointersFrom(ledger: Ledger, { finalise }: Finalising, rank: number): Iterable<WindowPointer> {
  const order = ledger.order.get();
  for (let at = rank; ; ) {
    const part = order.partFrom(at);
    const permutedFrom = part?.lo ?? Number.POSITIVE_INFINITY;
    if (at < permutedFrom) {
      for (const place of ledger.placesFrom(at)) {
        if (place.unit >= permutedFrom) break;
        yield place;
      }
    }
    if (part === null) return;
    for (const pointer of pointersOf(ledger, order, part, finalise.sorted ?? [])) if (pointer.unit >= at) yield pointer;
    at = part.hi;
  }
}

function pointersOf(ledger: Ledger, order: PinnedOrder, part: PermutedPart, all: readonly SortedRows[]): WindowPointer[] {
  const runs = all.filter(({ lo, hi }) => lo < part.hi && hi > part.lo);
  const pointers: WindowPointer[] = [];
  const members = new Map<SortedRows, WindowPointer[]>(runs.map((run) => [run, []]));
  let current = 0;
  for (const { unit, segment, offset, length } of ledger.placesFrom(part.lo)) {
    if (unit >= part.hi) break;
    while (current < runs.length && (runs[current]?.hi ?? 0) <= unit) current++;
    const run = runs[current];
    const pointer = { unit: order.rankOf(unit), segment, offset, length };
    const own = run !== undefined && run.lo <= unit && moves(pointer) ? members.get(run) : undefined;
    (own ?? pointers).push(pointer);
  }
  for (const [{ segment }, rows] of members) {
    let offset = 0;
    for (const { unit, length } of rows.sort(byRank)) {
      pointers.push({ unit, segment, offset, length });
      offset += length;
    }
  }
  return pointers.sort(byRank);
}
