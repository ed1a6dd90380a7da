/** One line per evaluation, in at most the lines there are, always with the selected one. Pure. */
import { formatSeconds } from "../../report/text/format.ts";
import { singleLine } from "../../report/text/printable.ts";
import { textWidth } from "../../report/text/text-width.ts";
import { fitted, type Line, lineOf, type Span, span } from "../terminal/canvas.ts";
import { clamp } from "../terminal/scroll.ts";
import type { RunView } from "./run-view.ts";
import { finishedRollouts } from "../../report/progress/speed.ts";

/** From this share of errored rollouts on they are shown in red. */
export const MANY_ERRORS = 0.1;

/** Columns that a name has at least, with its mark. */
const LEAST_NAME = 16;

export interface OverviewOptions {
  readonly selected: number;
  /** Lines there are; at least 1. */
  readonly rows: number;
  readonly columns: number;
  readonly now: number;
}

/** Each line has exactly `columns` columns. */
export function overviewLines(views: readonly RunView[], { selected, rows, columns, now }: OverviewOptions): readonly Line[] {
  const { from, to } = windowAround(selected, views.length, rows);
  const cells = views.map((view, index) => numbersOf(view, now, index === selected));
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(0, ...cells.map((row) => textWidth(row[column]?.text ?? ""))));
  const right = widths.reduce((sum, width) => sum + (width === 0 ? 0 : width + 2), 0);
  const widest = Math.max(...views.map(({ label }) => 4 + textWidth(singleLine(label))));
  // Numbers stand near the names; where both have no room, it is the last numbers that are cut.
  const names = Math.min(widest, Math.max(LEAST_NAME, columns - right));
  const lines = views.slice(from, to).map((view, offset) => {
    const index = from + offset;
    const { mark, style } = markOf(view);
    const name: Line = [
      span(views.length > 1 && index === selected ? "› " : "  ", "strong"),
      span(`${mark} `, style),
      span(view.label, index === selected ? "strong" : "plain"),
    ];
    const numbers = (cells[index] ?? []).flatMap((cell, column) => aligned(cell, widths[column] ?? 0));
    return [...fitted(name, names), ...numbers];
  });
  const above = from > 0 ? [lineOf(`  … ${from} above`, "faint")] : [];
  const below = to < views.length ? [lineOf(`  … ${views.length - to} more`, "faint")] : [];
  return [...above, ...lines, ...below].slice(0, rows).map((line) => fitted(line, columns));
}

/** The evaluations that are shown: all, or as many around the selected one as fit beside the words about the others. */
function windowAround(selected: number, count: number, rows: number): { readonly from: number; readonly to: number } {
  if (count <= rows) return { from: 0, to: count };
  const own = Math.max(1, rows - 2);
  const from = clamp(selected - Math.floor(own / 2), 0, count - own);
  if (rows < 3) return { from: selected, to: selected + 1 };
  // At either end one of the two words is not needed.
  if (from === 0) return { from, to: own + 1 };
  return from + own === count ? { from: from - 1, to: count } : { from, to: from + own };
}

export function markOf({ how, state, evaluation }: RunView): Span & { readonly mark: string } {
  if (how !== null) return how === "COMPLETED" ? { mark: "✓", text: "done", style: "good" } : { mark: "✗", text: "failed", style: "bad" };
  return state === null || evaluation === null ? { mark: "·", text: "pending", style: "faint" } : { mark: "▸", text: "running", style: "fair" };
}

/** Share, counts, reward, errors, time. The reward of the one whose details are shown is the one that stands there, of the same moment. */
function numbersOf(view: RunView, now: number, detailed: boolean): readonly Span[] {
  const { state } = view;
  const elapsed = view.elapsedMs(now);
  const time = span(elapsed === null ? "" : wholeSeconds(elapsed), "faint");
  if (state === null || state.total_rollouts === 0) return [span(""), span(""), span(""), span(""), time];
  const total = state.total_rollouts;
  const done = finishedRollouts(state);
  const reward = liveReward(view) ?? (detailed ? view.reward : state.reward);
  const errors = errorShare(view);
  return [
    span(`${Math.floor((100 * done) / total)} %`),
    span(`${done}/${total}`),
    span(reward === null ? "" : `reward ${reward.toFixed(3)}`),
    errors === 0 ? span("") : span(`errors ${(100 * errors).toFixed(1)} %`, errors > MANY_ERRORS ? "bad" : "fair"),
    time,
  ];
}

/** The mean that is shown while it goes on; null where there is none of its own. */
const liveReward = ({ how, state }: RunView): number | null => (how === null ? (state?.live?.mean ?? null) : null);

/** A time that goes on, without what nobody can read: `0s` rather than `0ms`. */
export const wholeSeconds = (ms: number): string => (ms < 1000 ? "0s" : formatSeconds(Math.floor(ms / 1000)));

/** Of the rollouts that are done. */
export function errorShare({ state }: RunView): number {
  if (state === null || state.done_rollouts === 0) return 0;
  return errorCount(state.errors) / state.done_rollouts;
}

export const errorCount = (errors: Readonly<Record<string, number>>): number => Object.values(errors).reduce((sum, count) => sum + count, 0);

/** To the right, after two spaces; an empty column takes none. */
function aligned(cell: Span, width: number): Line {
  return width === 0 ? [] : [span(" ".repeat(2 + width - textWidth(cell.text))), cell];
}
