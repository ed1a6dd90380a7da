import { panelNumber, thousands } from "../../../../report/text/format.ts";
import type { Timeline } from "../../../api/run-answers.ts";
import { boundKind, boundName, boundSpans, isResumed } from "./bound-spans.ts";
import type { ChartAxis, ChartLine, ChartMark, LinePlot } from "../../../design/chart/plot.ts";

/** Plots of how a run went. */

const TIME: ChartAxis = { name: "Time (UTC)", text: (ms) => new Date(ms).toISOString().slice(0, 19).replace("T", " "), isTime: true };
const count = (value: number): string => (Number.isInteger(value) ? thousands(value) : "");

const resumesOf = (course: Timeline): readonly ChartMark[] => course.t.flatMap((at, index) => (isResumed(course, index) ? [{ at, name: "resumed" }] : []));

/** Samples by their places, with nothing from the last before a resume up to the resume: what was before is not joined with what follows. */
function columnsOf(course: Timeline): { readonly xs: Float64Array; readonly of: (values: readonly (number | null)[]) => Float64Array } {
  const places = course.t.flatMap((_, index) => (isResumed(course, index) ? [null, index] : [index]));
  const xs = Float64Array.from(places, (place, at) => course.t[place ?? (places[at - 1] as number)] ?? 0);
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
  const spans = boundSpans(course).map((span) => ({ from: span.from, to: span.to, kind: boundKind(span), name: boundName(span) }));
  const held = spans.length === 0 ? {} : { held: { name: "Waited for", spans } };
  return { kind: "lines", x: TIME, y: { name: "Requests", text: count, from: 0 }, xs, lines, marks: resumesOf(course), ...held };
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
