/** `results.jsonl` of any size, or `traces.jsonl` as if it were one: a row is found by its place, places are learned as far as somebody has looked, rows are not kept. */
import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { MAX_FOLDER_ROW_BYTES } from "../../limits.ts";
import { reasonOf, systemCode } from "../terminal/cli-error.ts";
import { isObject, parseLoosely } from "./json-text.ts";
import { rowOfLine, TRACES } from "./trace-folder.ts";

export type Row = Readonly<Record<string, unknown>>;

/** A row, or what stands in its place. */
export type ReadRow = { readonly row: Row } | { readonly problem: string; readonly text: string };

const STEP = 256 * 1024;
/** Of a broken row, what is shown. */
const SHOWN_BYTES = 4096;
const LINE_END = 0x0a;

export class ResultsFile {
  private readonly file: FileHandle;
  /** How an object of a line becomes a row. */
  private readonly rowOf: (value: Row) => Row;
  /** Where the rows found so far begin and end: 16 bytes a row, whatever the rows have. */
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];
  /** Bytes that have been looked through, and where the row that is open there began. */
  private scanned = 0;
  private openStart = 0;
  private complete = false;
  private closed = false;
  private scanning: Promise<void> = Promise.resolve();
  /** Bytes when it was last looked at. */
  size: number;

  private constructor(file: FileHandle, size: number, rowOf: (value: Row) => Row) {
    this.file = file;
    this.rowOf = rowOf;
    this.size = size;
  }

  /** The file of a results folder; a text that says why there is none. */
  static async open(folder: string): Promise<ResultsFile | string> {
    const rows = await ResultsFile.openAs(folder, "results.jsonl", (value) => value);
    return rows ?? (await ResultsFile.openAs(folder, TRACES, rowOfLine)) ?? "there is no results.jsonl";
  }

  private static async openAs(folder: string, name: string, rowOf: (value: Row) => Row): Promise<ResultsFile | string | null> {
    const path = join(folder, name);
    try {
      const stat = statSync(path);
      // Opening a pipe would wait for somebody to write into it.
      return stat.isFile() ? new ResultsFile(await open(path, "r"), stat.size, rowOf) : `${name} is not a file`;
    } catch (error) {
      return systemCode(error) === "ENOENT" ? null : `${name} cannot be read: ${reasonOf(error)}`;
    }
  }

  /** Rows found so far; all of them once `known`. */
  get count(): number {
    return this.starts.length;
  }

  get known(): boolean {
    return this.complete;
  }

  /** Bytes looked through so far. */
  get seen(): number {
    return this.scanned;
  }

  /** Row `index`, from 0; null behind the last one. Looks no further into the file than it must. */
  async row(index: number): Promise<ReadRow | null> {
    await this.scanTo(index);
    const [start, end] = [this.starts[index], this.ends[index]];
    if (start === undefined || end === undefined || this.closed) return null;
    return this.readRow(index, await this.read(start, Math.min(end - start, MAX_FOLDER_ROW_BYTES)), end - start);
  }

  /** All rows in their order, with a piece of the file in memory at a time. */
  async *rows(): AsyncGenerator<ReadRow> {
    for (let index = 0; ; ) {
      await this.scanTo(index);
      const from = this.starts[index];
      if (from === undefined || this.closed) return;
      let after = index + 1;
      while (after < this.starts.length && (this.ends[after] ?? 0) - from <= STEP) after += 1;
      const bytes = await this.read(from, Math.min((this.ends[after - 1] ?? from) - from, MAX_FOLDER_ROW_BYTES));
      for (; index < after && !this.closed; index += 1) {
        const [start, end] = [this.starts[index] ?? 0, this.ends[index] ?? 0];
        yield this.readRow(index, bytes.subarray(start - from, end - from), end - start);
      }
    }
  }

  /** `bytes`: the row, or its beginning when it has more (`length`) than is read. */
  private readRow(index: number, bytes: Buffer, length: number): ReadRow {
    const problem = (why: string): ReadRow => ({ problem: `row ${index + 1} ${why}`, text: bytes.subarray(0, SHOWN_BYTES).toString("utf8") });
    if (length > MAX_FOLDER_ROW_BYTES) return problem(`has ${length} bytes, more than is shown`);
    if (bytes.byteLength < length) return problem("has gone: the file was made shorter");
    const parsed = parseLoosely(bytes.toString("utf8"));
    if (parsed.ok) return isObject(parsed.value) ? { row: this.rowOf(parsed.value) } : problem("is JSON, but no object");
    const last = this.complete && index === this.count - 1;
    return problem(last ? `is cut; the program that wrote it may have been killed (${parsed.reason})` : `is no JSON (${parsed.reason})`);
  }

  /** Learns where rows are until row `index` is known or the file ends. Calls wait for each other. */
  scanTo(index: number): Promise<void> {
    const next = this.scanning.then(async () => {
      while (!this.complete && !this.closed && this.starts.length <= index) await this.step();
    });
    this.scanning = next.catch(() => undefined);
    return next;
  }

  /** Nothing may be asked afterwards; what is under way gives nothing more. */
  async close(): Promise<void> {
    this.closed = true;
    await this.scanning;
    await this.file.close();
  }

  private async step(): Promise<void> {
    const chunk = await this.read(this.scanned, STEP);
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      this.found(this.scanned + end, this.scanned + end === this.openStart);
      start = end + 1;
    }
    this.scanned += chunk.byteLength;
    this.size = Math.max(this.size, this.scanned);
    if (chunk.byteLength > 0) return;
    this.complete = true;
    if (this.scanned > this.openStart) this.found(this.scanned, false);
  }

  private found(end: number, blank: boolean): void {
    if (!blank) {
      this.starts.push(this.openStart);
      this.ends.push(end);
    }
    this.openStart = end + 1;
  }

  private async read(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.alloc(length);
    let filled = 0;
    while (filled < length && !this.closed) {
      const { bytesRead } = await this.file.read(buffer, filled, length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }
}
