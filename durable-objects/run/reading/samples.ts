import type { SamplePage, SamplePlace } from "../control.ts";
import type { Ledger } from "../state/ledger.ts";
import type { FilePages } from "./file-pages.ts";
import { openRollouts } from "./open-rollouts.ts";
import { rowsFrom } from "./rows-from.ts";
import { BLOCK_UNITS, type RowCounts } from "../state/row-counts.ts";

/** What a page of rows is found with. */
export interface RowIndex extends Pick<Ledger, "head" | "config"> {
  readonly rowCounts: RowCounts;
  /** Where the rows of the done units of `[lo, hi)` are, ascending, and how many each has. */
  samplePlaces(lo: number, hi: number): readonly SamplePlace[];
}

/**
 * Where rows `[offset, offset + limit)` of a run are, in the order of `results.jsonl`: by unit, then rollout. The same rows as there
 * and in the totals: rows that wait for a repair count until it is committed.
 *
 * When every rollout of every unit has its row the place of a row is a division; otherwise the counts per block find it. Either way
 * a page reads its own units and at most one block beside them, wherever it lies.
 */
export function samplePage(index: RowIndex, offset: number, limit: number): SamplePage | null {
  const head = index.head();
  if (head === null) return null;
  const total = head.totals.rollouts;
  const count = Math.max(0, Math.min(limit, total - offset));
  if (count === 0) return { total, skip: 0, count, places: [] };
  const r = index.config().rollouts_per_example;
  if (total === (head.n ?? 0) * r) {
    const lo = Math.floor(offset / r);
    return { total, skip: offset % r, count, places: index.samplePlaces(lo, Math.ceil((offset + count) / r)) };
  }
  return { total, count, ...withHoles(index, head.n ?? 0, offset, count) };
}

/** The page of a run as it stands: of the final file where its rows have an order of their own in the segments, else by unit. Then generated rollouts of open units, where they are asked for. */
export async function pageOf(
  ledger: RowIndex & Ledger,
  files: FilePages,
  { offset, limit, open }: { readonly offset: number; readonly limit: number; readonly open: boolean },
  pause: () => Promise<boolean>,
): Promise<SamplePage | null> {
  const head = ledger.head();
  const filed = head !== null && files.applies(head) ? await files.page(offset, limit, pause) : null;
  const page = filed ?? (await samplePageInTurns(ledger, offset, limit, pause));
  const rest = page === null || !open || ledger.head() === null ? null : openRollouts(ledger, Math.max(0, offset - page.total), limit - page.count);
  return page === null || rest === null ? page : { ...page, open: rest };
}

/** The same without holding up others, the first time that rows of a large run are to be counted. */
export async function samplePageInTurns(index: RowIndex, offset: number, limit: number, pause: () => Promise<boolean>): Promise<SamplePage | null> {
  const head = index.head();
  const units = head?.n ?? 0;
  if (head !== null && head.totals.rollouts !== units * index.config().rollouts_per_example) await index.rowCounts.countInTurns(units, pause);
  return samplePage(index, offset, limit);
}

function withHoles(index: RowIndex, units: number, offset: number, count: number): Pick<SamplePage, "skip" | "places"> {
  const start = index.rowCounts.find(offset, units);
  if (start === null) throw new RangeError(`row ${offset} is counted in the totals and in no unit`);
  return rowsFrom(placesFrom(index, start.block), start.skip, count);
}

function* placesFrom(index: RowIndex, first: number): Iterable<SamplePlace> {
  for (let block: number | null = first; block !== null; block = index.rowCounts.nextFilled(block + 1))
    yield* index.samplePlaces(block * BLOCK_UNITS, (block + 1) * BLOCK_UNITS);
}
