import type { MessageOutline } from "../../../cells/outline.ts";

/** What stands below one another in a transcript: messages, and calls of tools with their results beside them. */

export interface MessageRow {
  readonly kind: "message";
  readonly number: number;
  /** Which answer of the model it is, from 1; null = it is none. */
  readonly turn: number | null;
}
export interface CallRow {
  readonly kind: "call";
  /** Of the message that calls. */
  readonly number: number;
  /** Which of its calls. */
  readonly call: number;
  readonly name: string;
  /** Number of the message that answers; null = none does. */
  readonly result: number | null;
}
export type TranscriptRow = MessageRow | CallRow;

/** The same for as long as the row is the same. */
export const rowKey = (row: TranscriptRow): string => (row.kind === "message" ? `m${row.number}` : `m${row.number}c${row.call}`);

interface OpenCall {
  readonly id: string | null;
  readonly row: { -readonly [Key in keyof CallRow]: CallRow[Key] };
}

const isResult = ({ role }: MessageOutline): boolean => role === "tool" || role === "function";

/**
 * A result belongs to the call that it names, of the message before it that calls; one that names none (rows before verifiers 0.1.10) to the first call that
 * waits. What belongs to no call is a message of its own.
 */
export function transcriptRows(outlines: readonly MessageOutline[]): readonly TranscriptRow[] {
  const rows: TranscriptRow[] = [];
  let open: OpenCall[] = [];
  let turns = 0;
  outlines.forEach((outline, number) => {
    if (isResult(outline)) {
      const call = open.find(({ id, row }) => row.result === null && (outline.tool_call_id === undefined || id === outline.tool_call_id));
      if (call === undefined) rows.push({ kind: "message", number, turn: null });
      else call.row.result = number;
      return;
    }
    const isAnswer = outline.part === "completion" && (outline.role === "assistant" || outline.role === "text");
    rows.push({ kind: "message", number, turn: isAnswer ? ++turns : null });
    open = (outline.tool_calls ?? []).map(({ id, name }, call) => ({ id, row: { kind: "call", number, call, name, result: null } }));
    rows.push(...open.map(({ row }) => row));
  });
  return rows;
}

/** Of each message the row that it stands in. */
export function rowsByMessage(rows: readonly TranscriptRow[]): ReadonlyMap<number, number> {
  const places = new Map<number, number>();
  rows.forEach((row, index) => {
    if (row.kind === "message") places.set(row.number, index);
    else if (row.result !== null) places.set(row.result, index);
  });
  return places;
}
