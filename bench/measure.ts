/** One number of the bench. A target says what issue and documentation promise; without one the number is for information. */
export interface Measure {
  readonly scenario: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly target?: { readonly at_least: number } | { readonly at_most: number };
}

/** Null when nothing was promised. */
export function isMet({ value, target }: Measure): boolean | null {
  if (target === undefined) return null;
  return "at_least" in target ? value >= target.at_least : value <= target.at_most;
}

/** A table for a terminal; numbers to four digits. */
export function tableOf(measures: readonly Measure[]): string {
  const rows = measures.map((measure) => [measure.scenario, measure.name, numberText(measure.value), measure.unit, targetText(measure), verdict(measure)]);
  return columnsOf(["scenario", "measure", "value", "unit", "target", ""], rows);
}

/** Columns as wide as what is in them; the third has numbers. */
export function columnsOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  return [
    line(head),
    widths
      .map((width) => "-".repeat(width))
      .join("  ")
      .trimEnd(),
    ...rows.map(line),
  ].join("\n");
}

export function verdict(measure: Measure): string {
  const met = isMet(measure);
  return met === null ? "" : met ? "met" : "MISSED";
}

export function targetText({ target }: Measure): string {
  if (target === undefined) return "";
  return "at_least" in target ? `>= ${numberText(target.at_least)}` : `<= ${numberText(target.at_most)}`;
}

export function numberText(value: number): string {
  return Math.abs(value) >= 1000 || Number.isInteger(value) ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(4)));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
