import type { JsonObject } from "../config/plan/run-config.ts";
import { EdgewiseError } from "../errors/result.ts";
import { depthOf } from "../config/json-depth.ts";
import { MAX_ROW_CHARS, MAX_ROW_DEPTH, MIB } from "../limits.ts";
import { decodedText } from "./text.ts";

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

const unreadable = (line: number, text: string): EdgewiseError => new EdgewiseError("dataset_unreadable", `data set line ${line}: ${text}`);

function parseLine(text: string, line: number): JsonObject {
  if (depthOf(text) > MAX_ROW_DEPTH) throw unreadable(line, `nested deeper than ${MAX_ROW_DEPTH} levels`);
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

/** The lines of a JSONL file that are not blank, with their numbers from 1. */
export async function* numberedLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<{ readonly line: number; readonly text: string }> {
  let open: string[] = [];
  let openChars = 0;
  let lines = 0;
  /** Characters of blank lines since the last that is none. */
  let blank = 0;
  const take = (piece: string): void => {
    open.push(piece);
    openChars += piece.length;
    if (openChars > MAX_ROW_CHARS) throw unreadable(lines + 1, `longer than ${MAX_ROW_CHARS / MIB} MiB; is this a JSONL file?`);
  };
  const skip = (chars: number): void => {
    blank += chars;
    if (blank > MAX_ROW_CHARS) throw unreadable(lines, `nothing but blanks for ${MAX_ROW_CHARS / MIB} MiB; is this a JSONL file?`);
  };
  /** The line that has ended; null where it is blank. */
  const finish = (): { line: number; text: string } | null => {
    const text = open.join("");
    open = [];
    openChars = 0;
    lines++;
    if (text.trim() !== "") {
      blank = 0;
      return { line: lines, text };
    }
    skip(text.length + 1);
    return null;
  };
  for await (const text of decodedText(stream, () => `data set line ${lines + 1}`)) {
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      // There may be millions of empty lines, each of one byte.
      if (end === from && openChars === 0) {
        lines++;
        skip(1);
      } else {
        take(text.slice(from, end));
        const line = finish();
        if (line !== null) yield line;
      }
      from = end + 1;
    }
    if (from < text.length) take(text.slice(from));
  }
  const last = openChars > 0 ? finish() : null;
  if (last !== null) yield last;
}
