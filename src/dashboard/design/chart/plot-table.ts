import type { ChartSpan, ChartSpans, Plot, PointPlot } from "./plot.ts";

/** A plot as a table: for who does not see it, and for who wants its numbers. */
export interface PlotTable {
  readonly heads: readonly string[];
  readonly length: number;
  /** Cells of a row, and where it leads. */
  row(at: number): { readonly cells: readonly string[]; readonly href: string | null };
}

const UNKNOWN = "–";

export function tableOf(plot: Plot): PlotTable {
  if (plot.kind === "points") return pointTable(plot);
  const { x, y } = plot;
  if (plot.kind === "bars") {
    const { bars } = plot;
    return {
      heads: [x.name, y.name],
      length: bars.length,
      row: (at) => {
        const { low, high, value } = bars[at] ?? { low: Number.NaN, high: Number.NaN, value: Number.NaN };
        return { cells: [low === high ? x.text(low) : `${x.text(low)} to ${x.text(high)}`, textOf(value, y.text)], href: null };
      },
    };
  }
  const { xs, lines, held } = plot;
  return {
    heads: [
      x.name,
      ...lines.flatMap(({ name, low }) => (low === undefined ? [name] : [name, `${name}: interval`])),
      ...(held === undefined ? [] : [held.name]),
    ],
    length: xs.length,
    row: (at) => {
      const cells = lines.flatMap(({ ys, low, high }) => [textOf(ys[at], y.text), ...(low === undefined ? [] : [intervalText(low[at], high?.[at], y.text)])]);
      return { cells: [textOf(xs[at], x.text), ...cells, ...(held === undefined ? [] : [spanAt(held, xs[at])?.name ?? UNKNOWN])], href: null };
    },
  };
}

function pointTable({ of, x, y, groups }: PointPlot): PlotTable {
  const several = groups.length > 1;
  const starts = groups.map((_, index) => groups.slice(0, index).reduce((sum, { xs }) => sum + xs.length, 0));
  return {
    heads: [of, x.name, y.name, ...(several ? ["Which"] : [])],
    length: groups.reduce((sum, { xs }) => sum + xs.length, 0),
    row: (at) => {
      const index = starts.findLastIndex((start) => start <= at);
      const group = groups[index];
      if (group === undefined) return { cells: [], href: null };
      const place = at - (starts[index] ?? 0);
      const cells = [group.label(place), textOf(group.xs[place], x.text), textOf(group.ys[place], y.text), ...(several ? [group.name] : [])];
      return { cells, href: group.href?.(place) ?? null };
    },
  };
}

/** What stands under a chart where the pointer is: one row of its table. */
export function rowText(plot: Plot, at: number): string {
  const { heads, row } = tableOf(plot);
  const { cells } = row(at);
  return cells.map((cell, index) => `${heads[index]} ${cell}`).join(" · ");
}

/** What held from this place on. */
const spanAt = ({ spans }: ChartSpans, at = Number.NaN): ChartSpan | undefined =>
  spans.find(({ from, to }) => at >= from && (at < to || from === to) && at <= to);

const textOf = (value: number | undefined, text: (value: number) => string): string => (value === undefined || !Number.isFinite(value) ? UNKNOWN : text(value));

function intervalText(low: number | undefined, high: number | undefined, text: (value: number) => string): string {
  if (low === undefined || high === undefined || !Number.isFinite(low) || !Number.isFinite(high)) return UNKNOWN;
  return `${text(low)} to ${text(high)}`;
}
