import { gunzipSync } from "fflate";
import { decompress as unzstd } from "fzstd";
import { type AsyncBuffer, type Compressors, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import type { Json, JsonObject } from "../config/run-config.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import { MIB } from "../limits.ts";
import type { ByteSource } from "./host.ts";

/**
 * Beside Snappy, which hyparquet has. Its own package of decompressors compiles WebAssembly when it is loaded, which workerd refuses;
 * files in Brotli or LZ4 are refused by name.
 */
const compressors: Compressors = {
  GZIP: (bytes, length) => gunzipSync(bytes, { out: new Uint8Array(length) }),
  ZSTD: (bytes, length) => unzstd(bytes, new Uint8Array(length)),
};

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
  try {
    const file = new GroupBuffer(source, await source.size());
    const metadata = await parquetMetadataAsync(file);
    let groupStart = 0;
    for (const group of metadata.row_groups) {
      const groupEnd = groupStart + Number(group.num_rows);
      const bytes = group.columns.reduce((sum, column) => sum + Number(column.meta_data?.total_compressed_size ?? 0), 0);
      const paged = bytes > GROUP_BYTES;
      if (paged && !group.columns.every((column) => column.offset_index_length !== undefined)) throw tooLarge(source, bytes);
      file.keeps(!paged);
      for (let start = groupStart; start < groupEnd; start += WINDOW_ROWS) {
        const rowEnd = Math.min(groupEnd, start + WINDOW_ROWS);
        const rows = await parquetReadObjects({ file, metadata, compressors, rowStart: start, rowEnd, useOffsetIndex: paged });
        for (const each of rows) yield toRow(each, row++);
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

  constructor(source: ByteSource, byteLength: number) {
    this.#source = source;
    this.byteLength = byteLength;
  }

  /** Begins with the next row group. */
  keeps(keep: boolean): void {
    this.#kept = keep ? new Map() : null;
  }

  slice(start: number, end: number = this.byteLength): Promise<ArrayBuffer> {
    const key = `${start}-${end}`;
    const known = this.#kept?.get(key);
    if (known !== undefined) return known;
    const bytes = this.#source.read(start, end);
    this.#kept?.set(key, bytes);
    return bytes;
  }
}

function toRow(values: Record<string, unknown>, row: number): JsonObject {
  const object: JsonObject = {};
  for (const [name, value] of Object.entries(values)) object[name] = toJson(value, row, name);
  return object;
}

/** Parquet's values in JSON: large integers and binary data as text, times in ISO form, a number that is none as null. */
function toJson(value: unknown, row: number, column: string): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return base64(value);
  if (Array.isArray(value)) return value.map((item) => toJson(item, row, column));
  if (ArrayBuffer.isView(value)) return Array.from(value as Float32Array, (item) => toJson(item, row, column));
  if (typeof value !== "object") throw new EdgewiseError("dataset_unreadable", `data set row ${row}: column ${column} holds a ${typeof value}`);
  const object: JsonObject = {};
  for (const [name, item] of Object.entries(value)) object[name] = toJson(item, row, column);
  return object;
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
