import { parseShallow } from "../../config/json-depth.ts";
import { MAX_ROW_DEPTH } from "../../limits.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { rowText } from "./row-text.ts";

/** A line of a `results.jsonl` that another program may have written: its text is kept, since numbers and escapes differ between languages. */
export interface ForeignRow {
  readonly text: string;
  readonly value: JsonObject;
}

/** A text that is never closed goes to the end, or each of its quotes would be tried as the beginning of another. */
const TEXT_OR_BARE_NUMBER = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)|-?(?:NaN|Infinity)/g;

/** Python writes NaN and Infinity, which no other JSON reader takes: null in their place. Texts stay as they are. */
const strictJson = (text: string): string => text.replace(TEXT_OR_BARE_NUMBER, (found) => (found.startsWith('"') ? found : "null"));

/** Reads a line. Throws a `SyntaxError` for what is no JSON object. */
export function readForeignRow(line: string): ForeignRow {
  const text = line.trim();
  try {
    return { text, value: objectOf(parseShallow(text, MAX_ROW_DEPTH)) };
  } catch (error) {
    const strict = strictJson(text);
    if (strict === text) throw error;
    return { text: strict, value: objectOf(parseShallow(strict, MAX_ROW_DEPTH)) };
  }
}

function objectOf(value: unknown): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new SyntaxError("a row must be a JSON object");
}

/** The line with `rollout_index`: every other byte of it stays. Rows of the Python library have none, and stand in the order of their attempts. */
export function numberedLine({ text, value }: ForeignRow, index: number): string {
  if (value.rollout_index === index) return text;
  if (Object.hasOwn(value, "rollout_index")) return rowText({ ...value, rollout_index: index });
  const [comma, colon] = /^\{\s*"[^"]*":\s/.test(text) ? [", ", ": "] : [",", ":"];
  return `${text.slice(0, -1)}${comma}"rollout_index"${colon}${index}}`;
}
