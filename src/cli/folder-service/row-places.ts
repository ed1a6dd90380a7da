import type { ExamplePlace } from "../../../durable-objects/run/reading/cells-protocol.ts";
import { segmentName } from "../../../r2-layout/keys.ts";
import type { RowIndex } from "./row-index.ts";

/**
 * Where rows of a folder are, in the words of a service: `1-…` is their file as it stands; `2-{example}-{rows}` the rows of one example, which are scattered over
 * the file, or shown as other texts than they have there, as they were when the file had so many rows. Neither changes while a file grows.
 */
const FILE = 1;
const EXAMPLE = 2;

export type RowsObject = { readonly kind: "file" } | { readonly kind: "example"; readonly example: number; readonly rows: number };

/** What a segment of that name is; null for none of these. */
export function rowsObjectOf(segment: string): RowsObject | null {
  const [kind, example = 0, rows = 0] = segment.split("-").map(Number);
  return kind === FILE ? { kind: "file" } : kind === EXAMPLE ? { kind: "example", example, rows } : null;
}

/** Where the rows of an example are. `rollouts`: of each example; those behind its last row are missing. */
export function placeOfExample(index: RowIndex, example: number, generation: number, rollouts: number): ExamplePlace {
  const rows = index.rowsOf(example);
  const missing = Array.from({ length: Math.max(0, rollouts - rows.length) }, (_, at) => rows.length + at);
  const length = rows.reduce((sum, row) => sum + index.bytesOf(row) + 1, 0);
  return index.isPlain(example)
    ? { example, segment: segmentName(FILE, generation, 1), offset: index.startOf(rows[0] ?? 0), length, missing }
    : { example, segment: segmentName(EXAMPLE, example, index.rows), offset: 0, length, missing };
}
