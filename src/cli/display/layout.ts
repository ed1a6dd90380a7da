/** The whole screen as lines: overview, details, log, keys. Pure: the same views and size give the same lines. */
import { textWidth } from "../../report/text/text-width.ts";
import { EMPTY, fitted, type Line, lineOf, type Size, span, textOf } from "../terminal/canvas.ts";
import { clamp } from "../terminal/scroll.ts";
import { detailLines } from "./detail.ts";
import type { TailLine } from "./log-tail.ts";
import { markOf, overviewLines, wholeSeconds } from "./overview.ts";
import type { RunView } from "./run-view.ts";

/** What the person at the keyboard has chosen. */
export interface Choice {
  readonly selected: number;
  /** What up and down move in. */
  readonly focus: "log" | "details";
  /** First line of the details that is shown. */
  readonly detailTop: number;
  /** Number of the log line below the last one shown; null = the newest lines, whatever comes. */
  readonly logEnd: number | null;
}

export const FIRST_CHOICE: Choice = { selected: 0, focus: "log", detailTop: 0, logEnd: null };

export interface LayoutOptions {
  readonly size: Size;
  /** Milliseconds that only go forward. */
  readonly now: number;
  /** Unix milliseconds. */
  readonly clock: number;
  /** False where nobody can press any. */
  readonly keys: boolean;
  /** Everything has ended, and the display waits to be left. */
  readonly over: boolean;
}

/** Lines the log has at least, where there is room for it at all. */
const LOG_ROWS = 4;
/** Title, two rules, keys. */
const FRAME_ROWS = 4;
const LINES_PER_KEY = 3;

interface Parts {
  readonly overview: number;
  readonly details: number;
  readonly log: number;
}

/** How many lines each part gets; the details as many as they need, as long as something of the log is left. */
function partsOf(rows: number, evaluations: number, details: number): Parts {
  const overview = clamp(evaluations, 1, Math.max(1, Math.floor(rows / 2) - 2));
  const left = Math.max(0, rows - FRAME_ROWS - overview);
  const shown = Math.min(details, Math.max(0, left - LOG_ROWS));
  return { overview, details: shown, log: left - shown };
}

/** Exactly `size.rows` lines of exactly one column less than there are: a terminal whose last column is written to may break the line. */
export function screenLines(views: readonly RunView[], choice: Choice, options: LayoutOptions): readonly Line[] {
  const { size, now } = options;
  const columns = Math.max(1, size.columns - 1);
  const { view, details, parts } = measured(views, choice, options);
  const lines = [titleLine(views, now), ...overviewLines(views, { selected: choice.selected, rows: parts.overview, columns, now })];
  if (view !== null) {
    const top = clamp(choice.detailTop, 0, Math.max(0, details.length - parts.details));
    const rest = details.length - parts.details;
    const hidden = rest > 0 ? ` · lines ${top + 1} to ${top + parts.details} of ${details.length}` : "";
    lines.push(rule(`${view.label}${hidden}`, choice.focus === "details" && rest > 0, columns), ...details.slice(top, top + parts.details));
    const end = logEndOf(view, choice, parts.log);
    const behind = view.log.count - end;
    lines.push(rule(`log${behind > 0 ? ` · ${behind} newer ${behind === 1 ? "line" : "lines"} below` : ""}`, choice.focus === "log" && behind > 0, columns));
    lines.push(...view.log.between(Math.max(view.log.first, end - parts.log), end).map(logLine));
  }
  const room = Math.max(0, size.rows - 1);
  const body = lines.slice(0, room);
  const last = options.keys ? [keysLine(views.length > 1, details.length > parts.details, options.over)] : [EMPTY];
  return [...body, ...Array.from({ length: room - body.length }, () => EMPTY), ...last].slice(0, size.rows).map((line) => fitted(line, columns));
}

/** What a key changes. `key`: as `KeyReader` names it. */
export function choiceAfter(choice: Choice, key: string, views: readonly RunView[], options: LayoutOptions): Choice {
  const { view, details, parts } = measured(views, choice, options);
  if (view === null) return choice;
  const select = (selected: number): Choice =>
    selected === choice.selected ? choice : { ...FIRST_CHOICE, focus: choice.focus, selected: clamp(selected, 0, views.length - 1) };
  const hidden = details.length - parts.details;
  switch (key) {
    case "left":
      return select(Math.max(0, choice.selected - 1));
    case "right":
      return select(Math.min(views.length - 1, choice.selected + 1));
    case "tab":
      return { ...choice, focus: choice.focus === "log" && hidden > 0 ? "details" : "log" };
  }
  const inDetails = choice.focus === "details" && hidden > 0;
  const page = Math.max(1, inDetails ? parts.details : parts.log);
  const steps: Readonly<Record<string, number>> = {
    up: -LINES_PER_KEY,
    down: LINES_PER_KEY,
    pageup: -page,
    pagedown: page,
    home: Number.NEGATIVE_INFINITY,
    end: Number.POSITIVE_INFINITY,
  };
  const step = steps[key];
  if (step === undefined) return choice;
  if (inDetails) return { ...choice, detailTop: clamp(choice.detailTop + step, 0, hidden) };
  const { first, count } = view.log;
  const end = clamp(logEndOf(view, choice, parts.log) + step, Math.min(count, first + parts.log), count);
  return { ...choice, logEnd: end === count ? null : end };
}

function measured(views: readonly RunView[], { selected }: Choice, { size, clock, now }: LayoutOptions) {
  const view = views[selected] ?? null;
  const details = view === null ? [] : detailLines(view, { columns: Math.max(1, size.columns - 1), clock, now });
  return { view, details, parts: partsOf(size.rows, views.length, details.length) };
}

/** Never before what is kept: a line that was looked at may be gone. */
function logEndOf({ log }: RunView, { logEnd }: Choice, rows: number): number {
  return logEnd === null ? log.count : clamp(logEnd, Math.min(log.count, log.first + rows), log.count);
}

function titleLine(views: readonly RunView[], now: number): Line {
  const elapsed = Math.max(0, ...views.map((view) => view.elapsedMs(now) ?? 0));
  const ended = views.filter(({ how }) => how !== null);
  const failed = ended.filter((view) => markOf(view).style === "bad").length;
  const count = views.length === 1 ? "" : ` · ${ended.length} of ${views.length} evaluations ended`;
  return [span("edgewise", "strong"), span(`${count} · ${wholeSeconds(elapsed)}`, "faint"), ...(failed > 0 ? [span(` · ${failed} failed`, "bad")] : [])];
}

/** A title between lines that fill the row. */
function rule(title: string, active: boolean, columns: number): Line {
  const named: Line = [span("── ", "faint"), span(title, active ? "strong" : "faint"), span(" ")];
  return [...named, span("─".repeat(Math.max(0, columns - textWidth(textOf(named)))), "faint")];
}

function logLine({ text, level, time }: TailLine): Line {
  const clock = new Date(time).toTimeString().slice(0, 8);
  const style = level === "ERROR" ? "bad" : level === "WARNING" ? "fair" : level === "DEBUG" ? "faint" : "plain";
  return [span(`${clock} `, "faint"), span(text, style)];
}

function keysLine(several: boolean, hidden: boolean, over: boolean): Line {
  const keys = [
    ...(several ? ["←→ evaluation"] : []),
    "↑↓ scroll",
    ...(hidden ? ["tab details or log"] : []),
    ...(over ? ["q leave"] : ["p pause", "+- requests", "Ctrl-C interrupt"]),
  ];
  return lineOf(keys.join("   "), "faint");
}
