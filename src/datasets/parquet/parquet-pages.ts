import { type AsyncBuffer, type Compressors, type FileMetaData, parquetSchema, type SchemaTree } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { getTreePath } from "hyparquet/src/schema.js";
import { EdgewiseError } from "../../errors/result.ts";
import { MAX_COLUMN_VALUES, MAX_PARQUET_INDEX_BYTES, MIB } from "../../limits.ts";
import { checkRuns } from "./parquet-runs.ts";

/** Bytes of the length and the magic at the end of a file. */
const FOOTER_BYTES = 8;

const unreadable = (name: string, text: string): EdgewiseError =>
  new EdgewiseError("dataset_unreadable", `${name} ${text}`, { hint: "Write the file with smaller pages and row groups, or use JSONL." });

/** Refuses a file whose index is larger than can be parsed here. Throws `dataset_unreadable`. */
export async function checkIndex(file: AsyncBuffer, name: string): Promise<void> {
  if (file.byteLength < FOOTER_BYTES) return;
  const footer = await file.slice(file.byteLength - FOOTER_BYTES, file.byteLength);
  const bytes = new DataView(footer).getUint32(0, true);
  if (bytes > MAX_PARQUET_INDEX_BYTES)
    throw unreadable(name, `has an index of ${Math.ceil(bytes / MIB)} MiB; at most ${MAX_PARQUET_INDEX_BYTES / MIB} MiB can be read.`);
}

interface Column {
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  readonly path: readonly SchemaTree[];
  readonly unpack: (bytes: Uint8Array, length: number) => Uint8Array;
}

/** Where a file has pages, by its index. */
export class PageCheck {
  readonly #name: string;
  readonly #columns: readonly Column[];

  constructor({ row_groups, schema }: Pick<FileMetaData, "row_groups" | "schema">, name: string, compressors: Compressors) {
    this.#name = name;
    const tree = parquetSchema({ schema } as FileMetaData);
    for (const { columns } of row_groups) {
      const paths = columns.map(({ meta_data }) => meta_data?.path_in_schema.join("."));
      // Of two that have one name only one would be waited for; a failure of the other would be nobody's, and end a process.
      if (new Set(paths).size < paths.length) throw unreadable(name, "has a column twice.");
    }
    this.#columns = row_groups.flatMap(({ columns, num_rows }) =>
      columns.flatMap(({ meta_data }) => {
        if (meta_data === undefined) return [];
        const data = Number(meta_data.data_page_offset);
        const start = Math.min(data, Number(meta_data.dictionary_page_offset ?? data));
        return [
          {
            start,
            end: start + Number(meta_data.total_compressed_size),
            rows: Number(num_rows),
            path: getTreePath(tree, meta_data.path_in_schema),
            unpack: compressors[meta_data.codec] ?? ((bytes) => bytes),
          },
        ];
      }),
    );
  }

  /**
   * Looks at the pages in `bytes`, which are those of the file from `start` on, before their reader does: a page says how many values it has,
   * and room for as many is made before anybody looks inside. Throws `dataset_unreadable`.
   */
  check(start: number, bytes: ArrayBuffer): void {
    const end = start + bytes.byteLength;
    for (const column of this.#columns) {
      const [from, to] = [Math.max(start, column.start), Math.min(end, column.end)];
      if (from >= to) continue;
      const values = this.#valuesIn(new DataView(bytes, from - start, to - from), column);
      // A row has one value at least, be it none.
      if (from === column.start && to === column.end && values < column.rows)
        throw unreadable(this.#name, `says that it has ${column.rows} rows where there are ${values}.`);
    }
  }

  #valuesIn(view: DataView, { path, unpack }: Column): number {
    const reader = { view, offset: 0 };
    let sum = 0;
    while (reader.offset < view.byteLength - 1) {
      const header = parquetHeader(reader);
      const { data_page_header: first, data_page_header_v2: second, dictionary_page_header: dictionary } = header;
      const values = Number(first?.num_values ?? second?.num_values ?? 0);
      const entries = Number(dictionary?.num_values ?? 0);
      const packed = Number(header.compressed_page_size);
      // What is missing is not a number, at which a reader begins anew for ever.
      const lengths = [
        header.uncompressed_page_size,
        packed,
        first === undefined ? 0 : first.num_values,
        dictionary === undefined ? 0 : dictionary.num_values,
        ...(second === undefined
          ? []
          : [second.num_values, second.num_nulls, second.num_rows, second.repetition_levels_byte_length, second.definition_levels_byte_length]),
      ];
      if (!lengths.every((length) => Number.isSafeInteger(length) && length >= 0)) throw unreadable(this.#name, "has a page without its lengths.");
      sum += values;
      if (entries > MAX_COLUMN_VALUES || sum > MAX_COLUMN_VALUES)
        throw unreadable(this.#name, `has more than ${MAX_COLUMN_VALUES} values in one column of a row group, which is the most that can be read.`);
      if (values > 0) checkRuns(header, new Uint8Array(view.buffer, view.byteOffset + reader.offset, packed), path, unpack);
      reader.offset += packed;
    }
    return sum;
  }
}
