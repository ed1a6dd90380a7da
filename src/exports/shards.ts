import { MIB } from "../limits.ts";
import type { Cells } from "./column.ts";
import type { ExportFormat } from "./formats.ts";
import type { RowEncoder } from "./row-encoder.ts";

/** A file of an export is closed at this size: a part that is lost is soon made again, and readers share files out among their workers. */
export const SHARD_BYTES = 64 * MIB;

/** A row, and about how long it was as text. */
export interface SizedCells {
  readonly cells: Cells;
  readonly bytes: number;
}

/** As `datasets` names the files of a split, from 0. */
export const shardPath = (format: ExportFormat, shard: number, shards: number): string => `data/train-${digits(shard)}-of-${digits(shards)}.${format}`;

const digits = (number: number): string => String(number).padStart(5, "0");

/** Rows of which the next one is known before it is taken: a file is begun for a row that is there. */
export class RowsAhead<Row extends SizedCells> {
  readonly #rows: AsyncIterator<Row>;
  #next: IteratorResult<Row> | null = null;

  constructor(rows: AsyncIterable<Row>) {
    this.#rows = rows[Symbol.asyncIterator]();
  }

  async hasNext(): Promise<boolean> {
    this.#next ??= await this.#rows.next();
    return this.#next.done !== true;
  }

  /** Null behind the last one. */
  async take(): Promise<Row | null> {
    const next = this.#next ?? (await this.#rows.next());
    this.#next = next.done === true ? next : null;
    return next.done === true ? null : next.value;
  }

  /** Lets go of what they are read from. */
  async close(): Promise<void> {
    await this.#rows.return?.();
  }
}

/** Writes rows to one file until it is large enough, or there are no more; how many. `write` is waited for before the next row is taken. */
export async function writeShard<Row extends SizedCells>(
  rows: RowsAhead<Row>,
  encoder: RowEncoder,
  write: (bytes: Uint8Array) => Promise<void> | void,
  { limit = SHARD_BYTES, onRow }: { readonly limit?: number; readonly onRow?: (row: Row) => void } = {},
): Promise<number> {
  let count = 0;
  while (encoder.size < limit) {
    const row = await rows.take();
    if (row === null) break;
    onRow?.(row);
    count += 1;
    const bytes = encoder.add(row.cells, row.bytes);
    if (bytes !== null) await write(bytes);
  }
  const rest = encoder.finish();
  if (rest.byteLength > 0) await write(rest);
  return count;
}
