import type { JsonObject } from "../config/run-config.ts";
import { EdgewiseError } from "../errors/result.ts";
import { MIB } from "../limits.ts";
import { decodedText } from "./text.ts";

/** A line beyond this is not a row but a file that has no lines. */
const MAX_LINE_CHARS = 16 * MIB;

const BARE_NUMBER = /(?<![\w"])-?(?:NaN|Infinity)(?![\w"])/;

export interface JsonlRow {
  /** From 1. */
  readonly line: number;
  readonly value: JsonObject;
}

/**
 * Rows of a JSONL file, one at a time; blank lines are passed over. Holds one chunk and one line in memory, and cancels the
 * stream when the reader has enough. Throws `dataset_unreadable` naming the line that is no JSON object.
 */
export async function* readJsonl(stream: ReadableStream<Uint8Array>): AsyncGenerator<JsonlRow> {
  for await (const { line, text } of numberedLines(stream)) yield { line, value: parseLine(text, line) };
}

/** The lines of a JSONL file that are not blank, with their numbers from 1. */
export async function* numberedLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<{ readonly line: number; readonly text: string }> {
  let line = 0;
  for await (const text of readLines(stream)) {
    line++;
    if (text.trim() !== "") yield { line, text };
  }
}

const unreadable = (line: number, text: string): EdgewiseError => new EdgewiseError("dataset_unreadable", `data set line ${line}: ${text}`);

function parseLine(text: string, line: number): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    if (BARE_NUMBER.test(text)) throw unreadable(line, "NaN and Infinity are not JSON: write null, a number or a text instead");
    throw unreadable(line, `not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unreadable(line, "a row must be a JSON object");
  return value as JsonObject;
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let open: string[] = [];
  let openChars = 0;
  let lines = 0;
  const take = (piece: string): void => {
    open.push(piece);
    openChars += piece.length;
    if (openChars > MAX_LINE_CHARS) throw unreadable(lines + 1, `longer than ${MAX_LINE_CHARS / MIB} MiB; is this a JSONL file?`);
  };
  const finish = (): string => {
    const text = open.join("");
    open = [];
    openChars = 0;
    lines++;
    return text;
  };
  for await (const text of decodedText(stream, () => `data set line ${lines + 1}`)) {
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      take(text.slice(from, end));
      from = end + 1;
      yield finish();
    }
    take(text.slice(from));
  }
  if (openChars > 0) yield finish();
}
