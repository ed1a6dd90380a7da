import Papa from "papaparse";
import { MIB } from "../limits.ts";
import { floatText } from "../rollouts/float-text.ts";
import { type Cells, type CellValue, type Column, fieldsOf, isList } from "./column.ts";
import type { RowEncoder } from "./row-encoder.ts";

/** Characters that are put together before they are given away. */
const CHUNK = MIB / 4;

/** Lines of text: a line at a time, given in pieces. */
class LineEncoder implements RowEncoder {
  readonly #line: (row: Cells) => string;
  readonly #utf8 = new TextEncoder();
  #lines: string[];
  #kept: number;
  #given = 0;

  constructor(head: string, line: (row: Cells) => string) {
    this.#line = line;
    this.#lines = [head];
    this.#kept = head.length;
  }

  get size(): number {
    return this.#given + this.#kept;
  }

  add(row: Cells): Uint8Array | null {
    const line = this.#line(row);
    this.#lines.push(line);
    this.#kept += line.length;
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
export const jsonlEncoder = (columns: readonly Column[]): RowEncoder => new LineEncoder("", (row) => `${structText(row, columns)}\n`);

const structText = (cells: Cells, fields: readonly Column[]): string =>
  `{${fields.map((field) => `${JSON.stringify(field.name)}:${valueText(cells[field.name], field)}`).join(",")}}`;

function valueText(value: CellValue | undefined, { type }: Column): string {
  if (value === null || value === undefined) return "null";
  if (type === "double") return floatText(value as number);
  if (typeof type === "string") return JSON.stringify(value);
  if (isList(type)) return `[${(value as readonly Cells[]).map((item) => structText(item, type.list)).join(",")}]`;
  return structText(value as Cells, type.struct);
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
  const record = (cells: readonly string[]): string => `${Papa.unparse([cells])}\r\n`;
  return new LineEncoder(BYTE_ORDER_MARK + record(flat.map(({ name }) => harmless(name))), (row) => record(flat.map(({ cell }) => cell(row))));
}

interface FlatColumn {
  readonly name: string;
  readonly cell: (row: Cells) => string;
}

function flattened(column: Column): FlatColumn[] {
  const { name, type } = column;
  const fields = isList(type) ? null : fieldsOf(type);
  if (fields === null) return [{ name, cell: (row) => cellOf(row[name], column) }];
  return fields.map((field) => ({ name: `${name}.${field.name}`, cell: (row) => cellOf((row[name] as Cells | null | undefined)?.[field.name], field) }));
}

function cellOf(value: CellValue | undefined, column: Column): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return harmless(value);
  // A list begins with a bracket.
  return valueText(value, column);
}

const harmless = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);
