import { gunzipSync } from "fflate";
import { type AsyncBuffer, type Compressors, parquetMetadataAsync, parquetReadObjects, snappyUncompress } from "hyparquet";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError, failureOf } from "../../errors/result.ts";
import { MAX_PAGE_BYTES, MAX_ROW_CHARS, MAX_ROW_DEPTH, MIB } from "../../limits.ts";
import type { ByteSource } from "../host.ts";
import { Pace } from "../pace.ts";
import { checkIndex, PageCheck } from "./parquet-pages.ts";
import { checkSnappy } from "./parquet-runs.ts";
import { unzstd } from "../zstd.ts";

/**
 * hyparquet has Snappy; its own package of decompressors compiles WebAssembly when it is loaded, which workerd refuses;
 * files in Brotli or LZ4 are refused by name.
 */
const compressors: Compressors = {
  GZIP: (bytes, length) => gunzipSync(bytes, { out: room(length) }),
  ZSTD: (bytes, length) => unzstd(bytes, allowed(length)),
  SNAPPY(bytes, length) {
    const page = room(length);
    checkSnappy(bytes);
    snappyUncompress(bytes, page);
    return page;
  },
};

/** A page that says how long it becomes is given that much, and no more whatever is in it. */
const room = (length: number): Uint8Array => new Uint8Array(allowed(length));

function allowed(length: number): number {
  if (length > MAX_PAGE_BYTES) throw new RangeError(`a page of ${length} bytes`);
  return length;
}

/** Rows decoded at once. */
const WINDOW_ROWS = 500;
/** Compressed bytes of one row group that are kept while its rows are read; a larger group is read page by page. */
const GROUP_BYTES = 24 * MIB;

/**
 * Rows of a Parquet file, by range reads: its index, then one row group at a time, decoded window by window, so that memory grows
 * neither with the file nor with a row group. Throws `dataset_unreadable`.
 */
export async function* readParquet(source: ByteSource): AsyncGenerator<JsonObject> {
  const failed = (thrown: unknown): EdgewiseError =>
    thrown instanceof EdgewiseError
      ? thrown
      : new EdgewiseError("dataset_unreadable", `${source.name} cannot be read as Parquet: ${failureOf(thrown).message}`, { cause: thrown });
  let row = 0;
  const pace = new Pace();
  try {
    const file = new GroupBuffer(source, await source.size());
    await checkIndex(file, source.name);
    const metadata = await parquetMetadataAsync(file);
    const pages = new PageCheck(metadata, source.name, compressors);
    let groupStart = 0;
    for (const group of metadata.row_groups) {
      const groupEnd = groupStart + Number(group.num_rows);
      const bytes = group.columns.reduce((sum, column) => sum + Number(column.meta_data?.total_compressed_size ?? 0), 0);
      const paged = bytes > GROUP_BYTES;
      if (paged && !group.columns.every((column) => column.offset_index_length !== undefined)) throw tooLarge(source, bytes);
      file.begins(!paged, pages);
      for (let start = groupStart; start < groupEnd; start += WINDOW_ROWS) {
        const rowEnd = Math.min(groupEnd, start + WINDOW_ROWS);
        const rows = await file.orFailure(parquetReadObjects({ file, metadata, compressors, rowStart: start, rowEnd, useOffsetIndex: paged }));
        if (rows.length === 0) throw new EdgewiseError("dataset_unreadable", `${source.name} says that it has more rows than there are.`);
        for (const each of rows) yield toRow(each, row++);
        // Every window goes through the pages of its row group from their beginning.
        await pace.spend(bytes + WINDOW_ROWS);
      }
      groupStart = groupEnd;
    }
  } catch (thrown) {
    throw failed(thrown);
  }
}

const tooLarge = (source: ByteSource, bytes: number): EdgewiseError =>
  new EdgewiseError(
    "dataset_unreadable",
    `${source.name} has a row group of ${Math.ceil(bytes / MIB)} MiB without a page index; at most ${GROUP_BYTES / MIB} MiB can be read.`,
    {
      hint: "Write the file with smaller row groups or with a page index, or use JSONL.",
    },
  );

/** The file as hyparquet reads it; every window of a row group asks for the same column chunks, which are fetched once. */
class GroupBuffer implements AsyncBuffer {
  readonly byteLength: number;
  readonly #source: ByteSource;
  #kept: Map<string, Promise<ArrayBuffer>> | null = null;
  #pages: PageCheck | null = null;
  #failure = Promise.withResolvers<never>();
  #failed: { readonly thrown: unknown } | null = null;

  constructor(source: ByteSource, byteLength: number) {
    this.#source = source;
    this.byteLength = byteLength;
  }

  /** From here on comes the next row group, nothing but pages and lists of them. */
  begins(keep: boolean, pages: PageCheck): void {
    this.#kept = keep ? new Map() : null;
    this.#pages = pages;
  }

  /** What comes of `work`, or the first failure of what it asks the file for. */
  orFailure<T>(work: Promise<T>): Promise<T> {
    // One for each work: a promise that stays open holds whatever came of every race that it was in, and so all rows.
    this.#failure = Promise.withResolvers<never>();
    this.#failure.promise.catch(() => undefined);
    if (this.#failed !== null) this.#failure.reject(this.#failed.thrown);
    return Promise.race([work, this.#failure.promise]);
  }

  /** Of several parts that are read ahead, hyparquet waits for the first alone; a failure of another would be nobody's, and end a process. */
  #fail(thrown: unknown): Promise<ArrayBuffer> {
    this.#failed ??= { thrown };
    this.#failure.reject(thrown);
    return new Promise(() => undefined);
  }

  slice(start: number, end: number = this.byteLength): Promise<ArrayBuffer> {
    const key = `${start}-${end}`;
    const known = this.#kept?.get(key);
    if (known !== undefined) return known;
    const pages = this.#pages;
    const bytes = this.#source.read(start, end).then(
      (read) => {
        if (pages === null) return read;
        try {
          pages.check(start, read);
          return read;
        } catch (thrown) {
          return this.#fail(thrown);
        }
      },
      (thrown: unknown) => (pages === null ? Promise.reject(thrown) : this.#fail(thrown)),
    );
    this.#kept?.set(key, bytes);
    return bytes;
  }
}

function toRow(values: Record<string, unknown>, row: number): JsonObject {
  const object: JsonObject = {};
  for (const [name, value] of Object.entries(values)) object[name] = toJson(value, { row, column: name }, 1);
  return object;
}

interface Place {
  readonly row: number;
  readonly column: string;
}

const unreadable = ({ row, column }: Place, what: string): EdgewiseError =>
  new EdgewiseError("dataset_unreadable", `data set row ${row}: column ${column} ${what}`);

/** Parquet's values in JSON: large integers and binary data as text, times in ISO form, a number that is none as null. */
function toJson(value: unknown, place: Place, depth: number): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || value instanceof Uint8Array) {
    if (value.length > MAX_ROW_CHARS) throw unreadable(place, `is longer than ${MAX_ROW_CHARS / MIB} MiB`);
    return typeof value === "string" ? value : base64(value);
  }
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (depth > MAX_ROW_DEPTH) throw unreadable(place, `is nested deeper than ${MAX_ROW_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((item) => toJson(item, place, depth + 1));
  if (ArrayBuffer.isView(value)) return Array.from(value as Float32Array, (item) => toJson(item, place, depth + 1));
  if (typeof value !== "object") throw unreadable(place, `holds a ${typeof value}`);
  const object: JsonObject = {};
  for (const [name, item] of Object.entries(value)) object[name] = toJson(item, place, depth + 1);
  return object;
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
