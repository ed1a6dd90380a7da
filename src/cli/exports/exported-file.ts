import { readCsv } from "../../datasets/csv.ts";
import type { ByteSource } from "../../datasets/host.ts";
import { readParquet } from "../../datasets/parquet/parquet.ts";
import { MAX_CSV_RECORD_CHARS } from "../../limits.ts";
import { textHash } from "../../metrics/grouping.ts";
import type { Cells, Column } from "../../exports/column.ts";
import { exportColumns, SETTING_COLUMNS } from "../../exports/columns.ts";
import type { ExportFormat } from "../../exports/formats.ts";
import { resultLines } from "../../exports/result-lines.ts";
import { csvCells, csvNames, csvRecord, wellFormedLine } from "../../exports/text-encoder.ts";

/** A row of an exported file. */
export interface ReadRow {
  /** Lists of a CSV file are text. */
  readonly cells: Cells;
  /** As `RowEncoder.marks` has it of a row that is as it was written. */
  readonly hash: number;
}

/** A row of a run has 16 MiB at most, and in a CSV file its quotes twice. */
const RECORD_CHARS = 16 * MAX_CSV_RECORD_CHARS;

/**
 * Rows of a file of an export, a row group or a line at a time in memory. `columns`: those that it should have; null where nothing says, and then those
 * that it says it has. Throws an error that says what cannot be read, or which column is not there.
 */
export async function* exportedFile(source: ByteSource, format: ExportFormat, columns: readonly Column[] | null): AsyncGenerator<ReadRow> {
  let known = columns;
  const check = (names: readonly string[]): readonly Column[] => {
    known ??= columnsOf(format, names);
    requireColumns(format, known, names);
    return known;
  };
  if (format === "jsonl") {
    for await (const { text } of resultLines(await source.open(), 0)) {
      const cells = objectOf(text);
      check(Object.keys(cells));
      yield { cells, hash: textHash(text) };
    }
  } else if (format === "parquet") {
    for await (const row of readParquet(source)) {
      const cells = row as Cells;
      yield { cells, hash: textHash(wellFormedLine(cells, check(Object.keys(cells)))) };
    }
  } else {
    for await (const row of readCsv(wellFormed(await source.open()), RECORD_CHARS)) {
      const cell = (name: string): string => String(row[name.trim()]);
      const named = check(Object.keys(row));
      yield { cells: csvCells(named, cell), hash: textHash(csvRecord(csvNames(named).map(cell))) };
    }
  }
}

function objectOf(text: string): Cells {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // Told below, as every line that is none.
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("the line is no JSON object");
  return value as Cells;
}

/** Bytes that are no UTF-8 become characters that stand for them: so the row that they are in is told, rather than that there are some. */
const wellFormed = (bytes: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> =>
  bytes.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).pipeThrough(new TextEncoderStream());

const namesOf = (format: ExportFormat, columns: readonly Column[]): readonly string[] =>
  format === "csv" ? csvNames(columns).map((name) => name.trim()) : columns.map(({ name }) => name);

/** Of a file of which nothing else says them: what is none of the columns that every export has is a metric. */
function columnsOf(format: ExportFormat, names: readonly string[]): readonly Column[] {
  const usual = new Set(namesOf(format, exportColumns([], true)));
  const metrics = names.filter((name) => !usual.has(name)).map((name) => ({ metric: name, column: name }));
  return exportColumns(metrics, names.includes(SETTING_COLUMNS[0]?.name ?? ""));
}

function requireColumns(format: ExportFormat, columns: readonly Column[], names: readonly string[]): void {
  const wanted = namesOf(format, columns);
  const there = new Set(names);
  const [lacks] = wanted.filter((name) => !there.has(name));
  if (lacks !== undefined) throw new TypeError(`it has no column ${JSON.stringify(lacks)}, which an export has`);
  const known = new Set(wanted);
  const [more] = names.filter((name) => !known.has(name));
  if (more !== undefined) throw new TypeError(`it has a column ${JSON.stringify(more)}, which the card does not tell of`);
}
