import Papa from "papaparse";
import { MIB } from "../limits.ts";
import { textHash } from "../metrics/grouping.ts";
import { floatText } from "../rollouts/rows/float-text.ts";
import { RowMarks } from "../rollouts/rows/rows-digest.ts";
import { type Cells, type CellValue, type Column, fieldsOf, isList } from "./column.ts";
import type { RowEncoder } from "./row-encoder.ts";

/** Characters that are put together before they are given away. */
const CHUNK = MIB / 4;

/** Lines of text: a line at a time, given in pieces. */
class LineEncoder implements RowEncoder {
  readonly #line: (row: Cells) => string;
  readonly #end: string;
  readonly #marks = new RowMarks();
  #rows = 0;
  readonly #utf8 = new TextEncoder();
  #lines: string[];
  #kept: number;
  #given = 0;

  constructor(head: string, line: (row: Cells) => string, end: string) {
    this.#line = line;
    this.#end = end;
    this.#lines = [head];
    this.#kept = head.length;
  }

  get size(): number {
    return this.#given + this.#kept;
  }

  get marks(): string {
    return this.#marks.text;
  }

  add(row: Cells): Uint8Array | null {
    // As its bytes are read again.
    const line = this.#line(row).toWellFormed();
    this.#marks.add(this.#rows++, textHash(line));
    this.#lines.push(line, this.#end);
    this.#kept += line.length + this.#end.length;
    return this.#kept < CHUNK ? null : this.finish();
  }

  finish(): Uint8Array {
    const bytes = this.#utf8.encode(this.#lines.join(""));
    this.#lines = [];
    this.#kept = 0;
    this.#given += bytes.byteLength;
    return bytes;
  }
}

/** JSON Lines with the types of Parquet: every row has every field, null where it has no value, and numbers that may be fractions are written as such. */
export const jsonlEncoder = (columns: readonly Column[]): RowEncoder => new LineEncoder("", (row) => structText(row, columns, asIs), "\n");

/** The line of a row as it is read again from a format whose texts are UTF-8: half a pair of surrogates is none there. */
export const wellFormedLine = (cells: Cells, columns: readonly Column[]): string => structText(cells, columns, (text) => text.toWellFormed());

type OfText = (text: string) => string;
const asIs: OfText = (text) => text;

const structText = (cells: Cells, fields: readonly Column[], of: OfText): string =>
  `{${fields.map((field) => `${JSON.stringify(field.name)}:${valueText(cells[field.name], field, of)}`).join(",")}}`;

function valueText(value: CellValue | undefined, { type }: Column, of: OfText): string {
  if (value === null || value === undefined) return "null";
  if (type === "double") return floatText(value as number);
  if (typeof type === "string") return JSON.stringify(typeof value === "string" ? of(value) : value);
  if (isList(type)) return `[${(value as readonly Cells[]).map((item) => structText(item, type.list, of)).join(",")}]`;
  return structText(value as Cells, type.struct, of);
}

/**
 * What a spreadsheet takes for a formula, or for the beginning of another cell, and runs: such a text gets an apostrophe before it, which
 * spreadsheets do not show (OWASP, "CSV Injection"). Numbers are not texts. Also the wide forms of East Asian keyboards.
 */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
/** Spreadsheets know a text as UTF-8 by it. */
const BYTE_ORDER_MARK = "\ufeff";

/** One cell per value: fields of structs have columns `timing.total_ms`, lists are JSON as text. */
export function csvEncoder(columns: readonly Column[]): RowEncoder {
  const flat = columns.flatMap(flattened);
  const head = `${BYTE_ORDER_MARK}${csvRecord(flat.map(({ name }) => name))}${RECORD_END}`;
  return new LineEncoder(head, (row) => csvRecord(flat.map(({ cell }) => cell(row))), RECORD_END);
}

const RECORD_END = "\r\n";

/** A record as it is written, without its end. */
export const csvRecord = (cells: readonly string[]): string => Papa.unparse([cells as string[]]);

/** The columns of a CSV file, as its header names them. */
export const csvNames = (columns: readonly Column[]): readonly string[] => columns.flatMap(flattened).map(({ name }) => name);

/** The cells of a record by their columns, as far as they are no lists, which stay text. Throws a `TypeError` that names a cell that is not of its column's type. */
export function csvCells(columns: readonly Column[], cell: (name: string) => string): Cells {
  const of = (name: string, { type }: Column): CellValue => typedCell(name, type, cell(harmless(name)));
  return Object.fromEntries(
    columns.map((column) => {
      const { name, type } = column;
      const fields = isList(type) ? null : fieldsOf(type);
      if (fields === null) return [name, of(name, column)];
      const cells = fields.map((field) => [field.name, of(`${name}.${field.name}`, field)] as const);
      return [name, cells.every(([, value]) => value === null) ? null : Object.fromEntries(cells)];
    }),
  );
}

function typedCell(name: string, type: Column["type"], text: string): CellValue {
  if (text === "") return null;
  if (type === "string" || typeof type !== "string") return text;
  const value = type === "boolean" ? { true: true, false: false }[text] : Number(text);
  if (value === undefined || Number.isNaN(value)) throw new TypeError(`column ${name} has ${JSON.stringify(text.slice(0, 40))}, which is no ${type}`);
  return value;
}

interface FlatColumn {
  readonly name: string;
  readonly cell: (row: Cells) => string;
}

function flattened(column: Column): FlatColumn[] {
  const { name, type } = column;
  const fields = isList(type) ? null : fieldsOf(type);
  if (fields === null) return [{ name: harmless(name), cell: (row) => cellOf(row[name], column) }];
  return fields.map((field) => ({
    name: harmless(`${name}.${field.name}`),
    cell: (row) => cellOf((row[name] as Cells | null | undefined)?.[field.name], field),
  }));
}

function cellOf(value: CellValue | undefined, column: Column): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return harmless(value);
  // A list begins with a bracket.
  return valueText(value, column, asIs);
}

const harmless = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);
