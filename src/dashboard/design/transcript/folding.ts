import type { MessageOutline } from "../../../cells/outline.ts";

/** Lines of a message that stand there before somebody asks for the rest. */
export const SHOWN_LINES = 40;
/** The same of a result of a tool. */
export const RESULT_LINES = 16;
/** The same in a transcript of more than `MANY` messages, which has to fit into the height that a browser gives a page (about 16 million pixels). */
export const FEW_LINES = 6;
export const MANY = 5_000;

/** Whether a message is shown by its heading alone until somebody opens it: system prompts are, which are the same in every rollout. */
export const isFoldedUnasked = ({ role }: MessageOutline): boolean => role === "system" || role === "developer";

/** Lines that a message may take. `count`: messages of the transcript. */
export const linesOf = (role: string, count: number): number => (count > MANY ? FEW_LINES : role === "tool" ? RESULT_LINES : SHOWN_LINES);

/** Pixels of a line, and of what surrounds a message. */
const LINE = 21;
const AROUND = 64;
/** Characters of a line, about. */
const LINE_CHARACTERS = 100;

/** How high a message is before anybody has measured it, in pixels. */
export function heightOf(outline: MessageOutline, count: number, isFolded: boolean): number {
  if (isFolded) return AROUND / 2;
  const lines = Math.max(1, Math.ceil(outline.chars / LINE_CHARACTERS), outline.chars > 300 ? 4 : outline.text.split("\n").length);
  return AROUND + Math.min(lines, linesOf(outline.role, count)) * LINE;
}

/** `<think>…</think>` in front of an answer, as models write it whose server does not take it out. */
export function withoutThinking(text: string): { readonly thinking: string; readonly answer: string } {
  const found = /^\s*<think(?:ing)?>/.exec(text);
  if (found === null) return { thinking: "", answer: text };
  const start = found[0].length;
  const end = /<\/think(?:ing)?>/.exec(text.slice(start));
  // What was never closed is thinking all the way.
  if (end === null) return { thinking: text.slice(start).trim(), answer: "" };
  return { thinking: text.slice(start, start + end.index).trim(), answer: text.slice(start + end.index + end[0].length).trimStart() };
}
