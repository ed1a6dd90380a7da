import { EdgewiseError } from "../errors/result.ts";
import { readForeignRow } from "../rollouts/rows/foreign-row.ts";
import type { MetricColumn } from "./columns.ts";
import { rowCells } from "./row-cells.ts";
import type { SizedCells } from "./shards.ts";

/** A row of an export, and where its line ends in `results.jsonl`. */
export interface PlacedCells extends SizedCells {
  readonly end: number;
}

const LINE_FEED = 0x0a;

/** A line of `results.jsonl` that is not blank, and where it ends. */
export interface ResultLine {
  readonly text: string;
  readonly end: number;
}

/** The rows of `results.jsonl` from byte `offset` on. Throws `storage_damaged` with the place of what is no row. */
export async function* exportedRows(stream: ReadableStream<Uint8Array> | null, offset: number, metrics: readonly MetricColumn[]): AsyncGenerator<PlacedCells> {
  for await (const { text, end } of resultLines(stream, offset)) yield placed(text, end, metrics);
}

/** The lines from byte `offset` on, where one begins; `stream` has the bytes from there, null = none. */
export async function* resultLines(stream: ReadableStream<Uint8Array> | null, offset: number): AsyncGenerator<ResultLine> {
  if (stream === null) return;
  const reader = stream.getReader();
  let end = offset;
  let open: Uint8Array[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      let rest: Uint8Array = value ?? new Uint8Array(0);
      for (let at = rest.indexOf(LINE_FEED); at >= 0; at = rest.indexOf(LINE_FEED)) {
        const text = textOf([...open, rest.subarray(0, at)]);
        end += open.reduce((sum, { byteLength }) => sum + byteLength, 0) + at + 1;
        open = [];
        rest = rest.subarray(at + 1);
        if (text.trim() !== "") yield { text, end };
      }
      if (rest.byteLength > 0) open.push(rest);
      if (done) break;
    }
    const text = textOf(open);
    if (text.trim() !== "") yield { text, end: end + open.reduce((sum, { byteLength }) => sum + byteLength, 0) };
  } finally {
    // Whoever wants no more rows leaves the rest of the file unread.
    await reader.cancel().catch(() => undefined);
  }
}

const UTF_8 = new TextDecoder();

function textOf(pieces: readonly Uint8Array[]): string {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return UTF_8.decode(only);
  const bytes = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.byteLength;
  }
  return UTF_8.decode(bytes);
}

function placed(text: string, end: number, metrics: readonly MetricColumn[]): PlacedCells {
  try {
    return { cells: rowCells(readForeignRow(text), metrics), bytes: text.length, end };
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError || thrown instanceof TypeError)) throw thrown;
    throw new EdgewiseError("storage_damaged", `The row that ends at byte ${end} of results.jsonl cannot be read: ${thrown.message}`, { cause: thrown });
  }
}
