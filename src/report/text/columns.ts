import { singleLine } from "./printable.ts";
import { cutTo, padTo, textWidth } from "./text-width.ts";

export interface Column {
  readonly title: string;
  /** Numbers are easier to compare from the right. */
  readonly align?: "right";
  /** Columns that may be cut to fit the terminal; the others are shown whole. */
  readonly flexible?: boolean;
}

/** Between two columns. */
const GAP = 2;
/** What is left of a cut column at least. */
const LEAST = 8;
/** More of a cell is never shown; a text of megabytes is not measured. */
const KEPT = 1000;

/**
 * Rows of text under their titles, one line each, in at most `width` terminal columns where cutting the flexible ones (the widest first) can
 * achieve that. Cells may hold anything: line ends become `\n`, what would act on a terminal goes.
 */
export function columnLines(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): readonly string[] {
  const cells = rows.map((row) => columns.map((_, i) => singleLine((row[i] ?? "").slice(0, KEPT))));
  const widths = columns.map(({ title }, i) => Math.max(textWidth(title), ...cells.map((row) => textWidth(row[i] ?? ""))));
  shrink(widths, columns, width);
  const line = (row: readonly string[]): string =>
    columns
      .map((column, i) => fitted(row[i] ?? "", widths[i] ?? 0, column))
      .join(" ".repeat(GAP))
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...cells.map(line)];
}

/** Names and values side by side; long values are not cut. */
export function fieldLines(fields: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(0, ...fields.map(([name]) => textWidth(name)));
  return fields.map(([name, value]) => `${padTo(name, width)}${" ".repeat(GAP)}${singleLine(value)}`.trimEnd());
}

function shrink(widths: number[], columns: readonly Column[], width: number): void {
  const gaps = GAP * (columns.length - 1);
  for (let over = widths.reduce((sum, own) => sum + own, gaps) - width; over > 0; over -= 1) {
    const widest = columns.reduce<number>((best, { flexible }, i) => (flexible && (widths[i] ?? 0) > (widths[best] ?? LEAST) ? i : best), -1);
    if (widest < 0) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
}

function fitted(text: string, width: number, { align }: Column): string {
  const shown = cutTo(text, width);
  return align === "right" ? " ".repeat(Math.max(0, width - textWidth(shown))) + shown : padTo(shown, width);
}
