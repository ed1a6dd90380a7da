import Papa from "papaparse";
import type { JsonObject } from "../config/plan/run-config.ts";
import { EdgewiseError } from "../errors/result.ts";
import { MAX_CSV_RECORD_CHARS, MIB } from "../limits.ts";
import { decodedText } from "./text.ts";

/**
 * Rows of a CSV file (RFC 4180: quotes, doubled quotes, line breaks in quotes) whose first record names the columns; every value is a
 * text. Tabs and semicolons separate where the header has more of them than commas. Holds one chunk and one record, of at most `maxChars`, in memory. Throws
 * `dataset_unreadable` with the record's number (from 1, the header not counted).
 */
export async function* readCsv(stream: ReadableStream<Uint8Array>, maxChars = MAX_CSV_RECORD_CHARS): AsyncGenerator<JsonObject> {
  let header: string[] | null = null;
  let record = 0;
  for await (const fields of readRecords(stream, maxChars)) {
    if (fields.length === 1 && fields[0] === "") continue;
    if (header === null) {
      header = checkedHeader(fields);
      continue;
    }
    record++;
    if (fields.length !== header.length) throw unreadable(record, `it has ${fields.length} fields, the header has ${header.length}`);
    yield Object.fromEntries(header.map((name, index) => [name, fields[index] ?? ""]));
  }
}

const unreadable = (record: number, text: string): EdgewiseError => new EdgewiseError("dataset_unreadable", `data set record ${record}: ${text}`);

function checkedHeader(names: readonly string[]): string[] {
  const trimmed = names.map((name) => name.trim());
  const twice = trimmed.find((name, index) => trimmed.indexOf(name) !== index);
  if (twice !== undefined || trimmed.includes("")) {
    const problem = twice === undefined ? "a column without a name" : `column ${JSON.stringify(twice)} twice`;
    throw new EdgewiseError("dataset_unreadable", `The first record of a CSV file names its columns; this one has ${problem}.`);
  }
  return trimmed;
}

/** What separates the fields and the records of a file: what its header uses. */
interface Dialect {
  readonly delimiter: string;
  readonly newline: "\n" | "\r\n" | "\r";
}

async function* readRecords(stream: ReadableStream<Uint8Array>, maxChars: number): AsyncGenerator<string[]> {
  let open = "";
  /** What came since `open` was looked at, put together when it is as much again: a record that does not end is gone through once for each doubling. */
  let pieces: string[] = [];
  let length = 0;
  let wanted = 0;
  let dialect: Dialect | null = null;
  let records = 0;
  /** Characters of blank records since the last that has something; nobody else sees them. */
  let blank = 0;
  for await (const text of decodedText(stream, () => `data set record ${Math.max(1, records)}`)) {
    pieces.push(text);
    length += text.length;
    if (length < wanted) continue;
    open += pieces.join("");
    pieces = [];
    // A \r at the end of what is there may be half of a line end.
    let cursor = 0;
    if (dialect !== null || /[\r\n][\s\S]/.test(open)) {
      dialect ??= dialectOf(open);
      const parsed = parse(open, dialect, true);
      cursor = parsed.cursor;
      records += parsed.data.length;
      blank = parsed.data.some((fields) => fields.length > 1 || fields[0] !== "") ? 0 : blank + cursor;
      yield* parsed.data;
      open = open.slice(cursor);
    }
    length = open.length;
    const problem = length > maxChars ? "is a quote never closed?" : "it holds nothing";
    if (Math.max(length, blank) > maxChars) throw unreadable(records, `longer than ${maxChars / MIB} MiB; ${problem}`);
    wanted = Math.min(maxChars + 1, 2 * length);
  }
  open += pieces.join("");
  if (open !== "") yield* parse(open, dialect ?? dialectOf(open), false).data;
}

/** With `partial` the last record stays for the next chunk, since it may not be whole. */
function parse(text: string, dialect: Dialect, partial: boolean): { data: string[][]; cursor: number } {
  const { data, errors, meta } = new Papa.Parser({ ...dialect }).parse(text, 0, partial) as Papa.ParseResult<string[]>;
  const error = partial ? undefined : errors[0];
  if (error !== undefined) throw new EdgewiseError("dataset_unreadable", `The CSV file cannot be read: ${error.message}.`);
  return { data, cursor: meta.cursor };
}

/** Of the separators in use the one that the header has most of. */
function dialectOf(text: string): Dialect {
  const header = text.split(/[\r\n]/, 1)[0] ?? "";
  const count = (separator: string): number => header.split(separator).length;
  const delimiter = [",", "\t", ";"].reduce((best, separator) => (count(separator) > count(best) ? separator : best));
  const after = text.slice(header.length, header.length + 2);
  return { delimiter, newline: after === "\r\n" ? "\r\n" : after.startsWith("\r") ? "\r" : "\n" };
}
