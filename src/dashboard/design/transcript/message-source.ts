import { type MessageOutline, messageOutline } from "../../../cells/outline.ts";
import { messagesOfRow, type RowMessage } from "../../../cells/row-messages.ts";
import { type RowTurn, turnsOfRow } from "../../../cells/row-turns.ts";
import type { Problem } from "../../api/problem.ts";

/** Where a transcript has its messages from: what each is like is known of all, the whole of one when somebody looks at it. */
export interface MessageSource {
  /** By their numbers, those of the prompt first. */
  readonly outlines: readonly MessageOutline[];
  /** What each answer of the model took; empty where nobody knows. */
  readonly turns: readonly RowTurn[];
  /** The whole message; null while it is not there. Draws again when it comes. */
  whole(number: number): RowMessage | null;
  /** Sees to it that it comes. */
  want(number: number): void;
  /** Why messages do not come; null = they do. */
  readonly problem: Problem | null;
  /** After a problem. */
  again(): void;
}

/** Of a row that is there whole, of any library. */
export function sourceOfRow(row: Readonly<Record<string, unknown>>): MessageSource {
  const messages = messagesOfRow(row);
  return {
    outlines: messages.map(messageOutline),
    turns: turnsOfRow(row, messages),
    whole: (number) => messages[number] ?? null,
    want: () => undefined,
    problem: null,
    again: () => undefined,
  };
}
