import { messagesOfRow, type RowMessage } from "./row-messages.ts";

/** Characters of one answer, as JSON; a message that is larger comes alone. */
export const PAGE_CHARACTERS = 4_000_000;

export interface MessagePage {
  readonly from: number;
  readonly messages: readonly RowMessage[];
  /** Number of the next message; null = there is none, or it was not asked for. */
  readonly next: number | null;
}

/** Messages `[from, to)` of a row, as many as fit; `to` left out: all. */
export function messagePage(row: Readonly<Record<string, unknown>>, from: number, to?: number): MessagePage {
  const all = messagesOfRow(row);
  const end = Math.min(to ?? all.length, all.length);
  const messages: RowMessage[] = [];
  let characters = 0;
  for (let at = from; at < end; at++) {
    const message = all[at];
    if (message === undefined) break;
    characters += JSON.stringify(message.message).length;
    if (messages.length > 0 && characters > PAGE_CHARACTERS) return { from, messages, next: at };
    messages.push(message);
  }
  return { from, messages, next: null };
}
