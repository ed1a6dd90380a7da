import type { ExamplePlace } from "../../../durable-objects/run/reading/cells-protocol.ts";
import { segmentName } from "../../../r2-layout/keys.ts";
import type { RowIndex } from "./row-index.ts";

/**
 * Where rows of a folder are, in the words of a service: `{state}-0-0` is their file as it stands; `{state}-{example + 1}-{rows}` the rows of one example, which are
 * scattered over the file, or shown as other texts than they have there, as they were when the file had so many rows. Every state of the file (its size, and when it
 * was written to) has names of its own, so that what was kept of one is never taken for what is in another.
 */
export type RowsObject =
  | { readonly kind: "file"; readonly state: number }
  | { readonly kind: "example"; readonly state: number; readonly example: number; readonly rows: number };

/** What a segment of that name is; null for none of these. */
export function rowsObjectOf(segment: string): RowsObject | null {
  const [state = 0, named, rows = 0] = segment === "" ? [] : segment.split("-").map(Number);
  if (named === undefined) return null;
  return named === 0 ? { kind: "file", state } : { kind: "example", state, example: named - 1, rows };
}

interface PlacedRows {
  readonly index: RowIndex;
  readonly state: number;
}

/** Where the rows of an example are. `rollouts`: of each example; those behind its last row are missing. */
export function placeOfExample({ index, state }: PlacedRows, example: number, rollouts: number): ExamplePlace {
  const rows = index.rowsOf(example);
  const missing = Array.from({ length: Math.max(0, rollouts - rows.length) }, (_, at) => rows.length + at);
  const length = rows.reduce((sum, row) => sum + index.bytesOf(row) + 1, 0);
  return index.isPlain(example)
    ? { example, segment: segmentName(state, 0, 0), offset: index.startOf(rows[0] ?? 0), length, missing }
    : { example, segment: segmentName(state, example + 1, index.rows), offset: 0, length, missing };
}
