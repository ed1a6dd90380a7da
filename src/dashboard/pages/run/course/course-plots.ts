import { panelNumber, thousands } from "../../../../report/text/format.ts";
import type { Timeline } from "../../../api/run-answers.ts";
import type { ChartAxis, ChartLine, ChartMark, LinePlot } from "../../../design/chart/plot.ts";

/** Plots of how a run went. */

const TIME: ChartAxis = { name: "Time (UTC)", text: (ms) => new Date(ms).toISOString().slice(0, 19).replace("T", " "), isTime: true };
const count = (value: number): string => (Number.isInteger(value) ? thousands(value) : "");

/** Where a resume began. */
const isResumed = ({ generation }: Timeline, index: number): boolean => index > 0 && generation[index] !== generation[index - 1];

const resumesOf = (course: Timeline): readonly ChartMark[] => course.t.flatMap((at, index) => (isResumed(course, index) ? [{ at, name: "resumed" }] : []));

/** Samples by their places, with nothing between one resume and the next: what was before is not joined with what follows. */
function columnsOf(course: Timeline): { readonly xs: Float64Array; readonly of: (values: readonly (number | null)[]) => Float64Array } {
  const places = course.t.flatMap((_, index) => (isResumed(course, index) ? [null, index] : [index]));
  const xs = Float64Array.from(places, (place, at) => course.t[place ?? (places[at + 1] as number)] ?? 0);
  return { xs, of: (values) => Float64Array.from(places, (place) => (place === null ? Number.NaN : (values[place] ?? Number.NaN))) };
}

/** The mean reward so far, and its band. */
export function rewardPlot(course: Timeline): LinePlot {
  const { xs, of } = columnsOf(course);
  // One value is no line, which would be nothing on the screen.
  const look = course.reward.filter((each) => each !== null).length < 2 ? "dots" : "line";
  const lines = [{ name: "Mean so far", ys: of(course.reward), low: of(course.lo), high: of(course.hi), look } as const];
  return { kind: "lines", x: TIME, y: { name: "Mean reward", text: panelNumber }, xs, lines, marks: resumesOf(course) };
}

/** Requests at once, and what was allowed. */
export function concurrencyPlot(course: Timeline): LinePlot {
  const { xs, of } = columnsOf(course);
  const lines: readonly ChartLine[] = [
    { name: "In flight", ys: of(course.in_flight), look: "steps" },
    { name: "Waiting", ys: of(course.waiting), look: "steps" },
    ...(course.limit.some((each) => each !== null) ? [{ name: "Allowed (max_concurrent)", ys: of(course.limit), look: "steps" } as const] : []),
  ];
  return { kind: "lines", x: TIME, y: { name: "Requests", text: count, from: 0 }, xs, lines, marks: resumesOf(course) };
}

/** Rollouts that are done, and those that ended in errors. */
export function donePlot(course: Timeline): LinePlot {
  const { xs, of } = columnsOf(course);
  const lines = [
    { name: "Done", ys: of(course.done) },
    { name: "With an error", ys: of(course.errored) },
  ];
  return { kind: "lines", x: TIME, y: { name: "Rollouts", text: count, from: 0 }, xs, lines, marks: resumesOf(course) };
}

export interface BoundSpan {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
  /** The last one; null where it has no number. */
  readonly limit: number | null;
  /** The most requests that waited. */
  readonly waiting: number;
}

/** What requests waited for, one after another: spans of time in which it was the same. */
export function boundSpans({ t, bound, bound_limit, waiting }: Timeline): readonly BoundSpan[] {
  const spans: BoundSpan[] = [];
  let isOpen = false;
  t.forEach((at, index) => {
    const kind = bound[index] ?? null;
    const last = spans.at(-1);
    if (isOpen && last !== undefined && last.kind === kind)
      spans[spans.length - 1] = { ...last, to: at, limit: bound_limit[index] ?? null, waiting: Math.max(last.waiting, waiting[index] ?? 0) };
    else if (kind !== null) spans.push({ from: at, to: at, kind, limit: bound_limit[index] ?? null, waiting: waiting[index] ?? 0 });
    isOpen = kind !== null;
  });
  return spans;
}
