import type { JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { readForeignRow } from "./foreign-row.ts";

/** Why what lies where a row should lie is none. */
export interface UnreadableRow {
  readonly code: "row_unreadable";
  readonly reason: string;
}

export type StoredRow = { readonly row: JsonObject; readonly unreadable?: never } | { readonly row?: never; readonly unreadable: UnreadableRow };

/** Characters of a reason: it may quote what stands there. */
const REASON_CHARACTERS = 200;

/** A row as it was stored, or was to be: one that is torn, no JSON object, or nested too deep takes no other one with it. */
export function storedRow(text: string): StoredRow {
  try {
    return { row: readForeignRow(text).value };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { unreadable: { code: "row_unreadable", reason: error.message.slice(0, REASON_CHARACTERS) } };
  }
}

/** The same for who can do nothing without it. Throws `row_unreadable`; `name` begins its sentence. */
export function neededRow(text: string, name: string): JsonObject {
  const { row, unreadable } = storedRow(text);
  if (unreadable === undefined) return row;
  throw new EdgewiseError(unreadable.code, `${name} cannot be read: ${unreadable.reason}.`);
}
