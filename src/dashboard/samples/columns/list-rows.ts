import { type Predicate, YES } from "../filter/predicate.ts";
import { type ColumnTable, DONE, OPEN } from "./column-table.ts";
import type { Slices } from "./slices.ts";
import { sortRows } from "./sort-rows.ts";

export interface Listing {
  /** Null: all. */
  readonly predicate: Predicate | null;
  /** Null: as in the results. */
  readonly sort: string | null;
  readonly order: "asc" | "desc";
}

const STRIDE = 8_192;

/** Rows of rollouts that are there and wanted, in their order. */
export async function listRows(table: ColumnTable, { predicate, sort, order }: Listing, slices: Slices): Promise<Uint32Array> {
  const found = new Uint32Array(table.rows);
  let count = 0;
  for (let row = 0; row < found.length; row++) {
    if (row % STRIDE === 0) await slices.breathe();
    const state = table.state(row);
    if ((state === DONE || state === OPEN) && (predicate === null || predicate(row) === YES)) found[count++] = row;
  }
  const rows = found.slice(0, count);
  if (sort === null) return order === "asc" ? rows : rows.reverse();
  return await sortRows(rows, numbersOf(table, sort), order, slices);
}

/** The first row of every example of which a rollout is wanted, in their order: sorted by what its rollouts have in the middle. */
export async function listExamples(table: ColumnTable, listing: Listing, slices: Slices): Promise<Uint32Array> {
  const rows = await listRows(table, { ...listing, sort: null, order: "asc" }, slices);
  const firsts = new Uint32Array(rows.length);
  let count = 0;
  for (const row of rows) {
    const first = row - (row % table.rollouts);
    if (count === 0 || firsts[count - 1] !== first) firsts[count++] = first;
  }
  const examples = firsts.slice(0, count);
  if (listing.sort === null) return listing.order === "asc" ? examples : examples.reverse();
  const numbers = numbersOf(table, listing.sort);
  return await sortRows(examples, (first) => meanOf(table, first, numbers), listing.order, slices);
}

function meanOf({ rollouts }: ColumnTable, first: number, numbers: (row: number) => number): number {
  let sum = 0;
  let known = 0;
  for (let row = first; row < first + rollouts; row++) {
    const value = numbers(row);
    if (Number.isNaN(value)) continue;
    sum += value;
    known++;
  }
  return known === 0 ? Number.NaN : sum / known;
}

function numbersOf(table: ColumnTable, sort: string): (row: number) => number {
  const column = table.column(sort);
  return column === null ? () => Number.NaN : (row) => column[row] ?? Number.NaN;
}
