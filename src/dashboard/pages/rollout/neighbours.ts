import type { SamplePlace } from "../../address/samples-view.ts";

/** What of the table of a run (samples/columns/column-table.ts) says where one goes from a rollout. */
export interface Numbered {
  readonly rollouts: number;
  rowOf(place: SamplePlace): number | null;
  placeOf(row: number): SamplePlace;
}

export interface Neighbours {
  readonly previous: SamplePlace | null;
  readonly next: SamplePlace | null;
  /** Which of the list it is, from 1; null where the list does not have it. */
  readonly number: number | null;
  readonly of: number;
}

/**
 * Before and behind a rollout in the list that it was opened from. One that the list does not have (the filter is another one by now, or it was opened by
 * its address) has those of the list before and behind its place in the results.
 */
export function neighboursOf(place: SamplePlace, table: Numbered, rows: Uint32Array): Neighbours {
  const own = table.rowOf(place);
  const at = own === null ? -1 : rows.indexOf(own);
  const placeAt = (index: number): SamplePlace | null => (rows[index] === undefined ? null : table.placeOf(rows[index]));
  if (at >= 0) return { previous: placeAt(at - 1), next: placeAt(at + 1), number: at + 1, of: rows.length };
  const row = place.example * table.rollouts + place.rollout;
  let [before, behind] = [-1, -1];
  for (const [index, each] of rows.entries()) {
    if (each < row && (before < 0 || each > (rows[before] ?? 0))) before = index;
    if (each > row && (behind < 0 || each < (rows[behind] ?? 0))) behind = index;
  }
  return { previous: placeAt(before), next: placeAt(behind), number: null, of: rows.length };
}
