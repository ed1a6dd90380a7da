import type { Column } from "./columns.ts";
import { singleLine } from "./printable.ts";

/** Text of anybody in a line of Markdown: no line ends, no end of a cell. */
export const markdownCell = (text: string): string => singleLine(text).replaceAll("|", "\\|");

/** Rows of text under their titles. */
export function markdownTable(columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
  const row = (cells: readonly string[]): string => `| ${cells.map(markdownCell).join(" | ")} |`;
  return [row(columns.map(({ title }) => title)), row(columns.map(({ align }) => (align === "right" ? "---:" : "---"))), ...rows.map(row)];
}
