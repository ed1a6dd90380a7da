import type { DecodedArray } from "hyparquet";
import { ByteWriter } from "hyparquet-writer/src/bytewriter.js";
import { ParquetWriter } from "hyparquet-writer/src/parquet-writer.js";
import { MIB } from "../limits.ts";
import { textHash } from "../metrics/grouping.ts";
import { RowMarks } from "../rollouts/rows/rows-digest.ts";
import { VERSION } from "../version.ts";
import type { Cells, CellValue, Column } from "./column.ts";
import { hubMetadata } from "./hub-features.ts";
import { parquetSchema } from "./parquet-schema.ts";
import type { RowEncoder } from "./row-encoder.ts";
import { wellFormedLine } from "./text-encoder.ts";

/**
 * What a row group is closed at. Its rows are held as values, and its columns once more as bytes: some eight times its text in memory. Readers
 * take a group at a time too.
 */
const GROUP_BYTES = 2 * MIB;
const GROUP_ROWS = 10_000;
/** Of a row's text, about what is left in the file, for the size of what is kept. */
const PACKED = 1 / 3;

/** A Parquet file with Snappy, written one row group at a time: memory is that of a group, and a line per column and group in the index. */
export class ParquetEncoder implements RowEncoder {
  readonly #columns: readonly Column[];
  readonly #bytes = new ByteWriter(MIB);
  readonly #file: ParquetWriter;
  readonly #metadata: Readonly<Record<string, string>>;
  readonly #marks = new RowMarks();
  #all = 0;
  #group: CellValue[][];
  #rows = 0;
  #text = 0;

  /** `metadata`: texts for the file's own entries, beside those of the Hub. */
  constructor(columns: readonly Column[], metadata: Readonly<Record<string, string>> = {}) {
    this.#columns = columns;
    this.#metadata = { huggingface: hubMetadata(columns), ...metadata };
    this.#group = columns.map(() => []);
    this.#file = new ParquetWriter({
      writer: this.#bytes,
      schema: parquetSchema(columns),
      codec: "SNAPPY",
      createdBy: `edgewise version ${VERSION}`,
      kvMetadata: Object.entries(this.#metadata).map(([key, value]) => ({ key, value })),
    });
  }

  get size(): number {
    return this.#bytes.offset + this.#text * PACKED;
  }

  get marks(): string {
    return this.#marks.text;
  }

  add(row: Cells, bytes: number): Uint8Array | null {
    this.#marks.add(this.#all++, textHash(wellFormedLine(row, this.#columns)));
    for (const [at, column] of this.#columns.entries()) this.#group[at]?.push(asStored(row[column.name], column));
    this.#rows += 1;
    this.#text += bytes;
    if (this.#rows < GROUP_ROWS && this.#text < GROUP_BYTES) return null;
    this.#closeGroup();
    return this.#taken();
  }

  finish(): Uint8Array {
    // A file without a row has a group without one: some readers take a file without groups for one without columns.
    if (this.#rows > 0) this.#closeGroup();
    void this.#file.finish();
    return this.#taken();
  }

  #closeGroup(): void {
    const columnData = this.#columns.map(({ name }, at) => ({ name, data: (this.#group[at] ?? []) as DecodedArray, offsetIndex: false }));
    void this.#file.write({ columnData, rowGroupSize: this.#rows });
    this.#group = this.#columns.map(() => []);
    this.#rows = 0;
    this.#text = 0;
  }

  /** Its own buffer begins anew: only the count of bytes goes on. */
  #taken(): Uint8Array {
    const bytes = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    return bytes;
  }
}

/** As the library takes it: integers of 64 bits are bigints to it, and absent fields null. */
function asStored(value: CellValue | undefined, { type }: Column): CellValue {
  if (value === null || value === undefined) return null;
  if (type === "int64") return BigInt(value as number) as unknown as CellValue;
  if (typeof type === "string") return value;
  if ("struct" in type) return structOf(value as Cells, type.struct);
  return (value as readonly Cells[]).map((item) => structOf(item, type.list));
}

const structOf = (cells: Cells, fields: readonly Column[]): Cells =>
  Object.fromEntries(fields.map((field) => [field.name, asStored(cells[field.name], field)]));
