/** Lines of a screen as pieces of text with a style each; how a style looks is the terminal's business. */
import { singleLine } from "../../report/text/printable.ts";
import { cutTo, padTo, textWidth } from "../../report/text/text-width.ts";

export type Style = "plain" | "strong" | "faint" | "chosen" | "good" | "fair" | "bad" | "hit";

export interface Span {
  readonly text: string;
  readonly style: Style;
  /** Column, from 1, at which it must stand, whatever the terminal made of the text before it: widths of rare characters are guesses. */
  readonly at?: number;
}

export type Line = readonly Span[];

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export const EMPTY: Line = [];

/** The only maker of spans: whatever a model, a file or a server wrote comes out as one line that does nothing to a terminal. */
export const span = (text: string, style: Style = "plain"): Span => ({ text: singleLine(text), style });

export const lineOf = (text: string, style: Style = "plain"): Line => [span(text, style)];

/** A name and its value, side by side in a column of `width` for the names. */
export const fieldLine = (name: string, value: string, width: number, style: Style = "plain"): Line => [
  span(padTo(singleLine(name), width), "faint"),
  span("  "),
  span(value, style),
];

export const textOf = (line: Line): string => line.map(({ text }) => text).join("");

/** Exactly `width` columns: cut with `…`, or filled with spaces in the style of the last piece. */
export function fitted(line: Line, width: number): Line {
  const whole = line.reduce((sum, { text }) => sum + textWidth(text), 0);
  if (whole <= width) return [...line, { text: " ".repeat(width - whole), style: line.at(-1)?.style === "chosen" ? "chosen" : "plain" }];
  const kept: Span[] = [];
  let left = width;
  for (const piece of line) {
    const { text } = piece;
    const own = textWidth(text);
    // The mark takes a column; a piece that ends at the edge loses its last one, since more follows.
    const part = own < left ? text : padTo(cutTo(own === left ? `${text}…` : text, left), left);
    kept.push({ ...piece, text: part });
    left -= textWidth(part);
    if (left <= 0) break;
  }
  return kept;
}

/** `lines` from `top` on, as many as `rows`. */
export const windowOf = (lines: readonly Line[], top: number, rows: number): readonly Line[] => Array.from({ length: rows }, (_, i) => lines[top + i] ?? EMPTY);

/** Two panes side by side with a rule between them, each line `left + 3 + right` columns. */
export function sideBySide(left: readonly Line[], leftWidth: number, right: readonly Line[], rightWidth: number, rows: number): readonly Line[] {
  return Array.from({ length: rows }, (_, i) => [
    ...fitted(left[i] ?? EMPTY, leftWidth),
    { text: " │ ", style: "faint" as const, at: leftWidth + 1 },
    ...fitted(right[i] ?? EMPTY, rightWidth),
  ]);
}
