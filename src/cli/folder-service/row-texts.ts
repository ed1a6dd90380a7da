import { type FileHandle, open } from "node:fs/promises";
import type { ReadRows } from "./folder-rows.ts";
import { rowReader } from "./row-reader.ts";

/** Bytes read at once, of rows that lie side by side. */
const STEP = 4 * 1024 * 1024;

/** Rows by their numbers as they are shown, each with a line end, in pieces of some megabytes, or of one row. */
export async function* textsOf({ file, index }: ReadRows, rows: Iterable<number>): AsyncGenerator<Buffer> {
  if (file === null) return;
  const handle = await open(file.path, "r");
  const read = rowReader(file.name);
  try {
    for (const group of groupsOf(index, rows)) {
      const bytes = await bytesAt(handle, index.startOf(group[0] ?? 0), endOf(index, group.at(-1) ?? 0) - index.startOf(group[0] ?? 0));
      for (const part of group.every((row) => !index.isChanged(row)) ? [bytes] : [Buffer.from(`${read(bytes).text}\n`)]) yield part;
    }
  } finally {
    await handle.close();
  }
}

/** Rows that are read together: unchanged ones side by side, or one that is changed. */
function* groupsOf(index: ReadRows["index"], rows: Iterable<number>): Generator<readonly number[]> {
  let group: number[] = [];
  for (const row of rows) {
    const last = group.at(-1);
    const joins =
      last !== undefined &&
      !index.isChanged(row) &&
      !index.isChanged(last) &&
      endOf(index, last) === index.startOf(row) &&
      endOf(index, row) - index.startOf(group[0] ?? row) <= STEP;
    if (!joins && group.length > 0) yield group;
    if (joins) group.push(row);
    else group = [row];
  }
  if (group.length > 0) yield group;
}

/** Behind the line end of a row that has one; a changed one is read by its own bytes. */
const endOf = (index: ReadRows["index"], row: number): number => index.startOf(row) + index.lengthOf(row) + (index.isChanged(row) ? 0 : 1);

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) throw new Error("The file was made shorter while it was read.");
    filled += bytesRead;
  }
  return buffer;
}

/** All rows in the order of their examples. */
export function* allRows({ index }: ReadRows): Generator<number> {
  for (let example = 0; example < index.examples; example++) yield* index.rowsOf(example);
}

/** Of pieces those bytes that are in the range. */
export async function* within(pieces: AsyncIterable<Buffer>, { offset, length }: { readonly offset: number; readonly length: number }): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const piece of pieces) {
    const from = Math.max(0, offset - at);
    const to = Math.min(piece.byteLength, offset + length - at);
    at += piece.byteLength;
    if (to > from) yield piece.subarray(from, to);
    if (at >= offset + length) return;
  }
}
