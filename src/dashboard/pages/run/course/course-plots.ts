import { panelNumber, thousands } from "../../../../report/text/format.ts";
import type { Timeline } from "../../../api/run-answers.ts";
import type { ChartAxis, ChartMark, LinePlot } from "../../../design/chart/plot.ts";

/** Plots of how a run went. */

const TIME: ChartAxis = { name: "Time (UTC)", text: (ms) => new Date(ms).toISOString().slice(0, 19).replace("T", " "), isTime: true };
const count = (value: number): string => (Number.isInteger(value) ? thousands(value) : "");

const known = (values: readonly (number | null)[]): Float64Array => Float64Array.from(values, (value) => value ?? Number.NaN);

/** Where a resume began: what was before it is not joined with what follows. */
function resumesOf({ t, generation }: Timeline): readonly ChartMark[] {
  return t.flatMap((at, index) => (index > 0 && generation[index] !== generation[index - 1] ? [{ at, name: "resumed" }] : []));
}

/** The mean reward so far, and its band. */
export const rewardPlot = (course: Timeline): LinePlot => ({
  kind: "lines",
  x: TIME,
  y: { name: "Mean reward", text: panelNumber },
  xs: Float64Array.from(course.t),
  lines: [{ name: "Mean so far", ys: known(course.reward), low: known(course.lo), high: known(course.hi) }],
  marks: resumesOf(course),
});

/** Requests at once, and what was allowed. */
export const concurrencyPlot = (course: Timeline): LinePlot => ({
  kind: "lines",
  x: TIME,
  y: { name: "Requests", text: count, from: 0 },
  xs: Float64Array.from(course.t),
  lines: [
    { name: "In flight", ys: Float64Array.from(course.in_flight), look: "steps" },
    { name: "Waiting", ys: Float64Array.from(course.waiting), look: "steps" },
    ...(course.limit.some((each) => each !== null) ? [{ name: "Allowed (max_concurrent)", ys: known(course.limit), look: "steps" } as const] : []),
  ],
  marks: resumesOf(course),
});

/** Rollouts that are done, and those that ended in errors. */
export const donePlot = (course: Timeline): LinePlot => ({
  kind: "lines",
  x: TIME,
  y: { name: "Rollouts", text: count, from: 0 },
  xs: Float64Array.from(course.t),
  lines: [
    { name: "Done", ys: Float64Array.from(course.done) },
    { name: "With an error", ys: Float64Array.from(course.errored) },
  ],
  marks: resumesOf(course),
});

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
