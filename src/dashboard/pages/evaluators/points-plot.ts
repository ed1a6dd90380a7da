import { intervalText } from "../../../report/statistics/uncertainty.ts";
import { panelNumber } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import type { Evaluator } from "../../api/schedule-answers.ts";
import type { ChartMark, LinePlot } from "../../design/chart/plot.ts";

/** A metric of an evaluator by step, as a chart. */

export interface PointsPlot {
  readonly plot: LinePlot;
  readonly says: string;
  /** Run of each place, in the order of the plot; null = none. */
  readonly runs: readonly (string | null)[];
}

/** The metric that is shown: what is asked for, else what the advice is about, else the first; null where there is none. */
export function shownMetric({ series, advice }: Pick<Evaluator, "series" | "advice">, asked: string | undefined): string | null {
  const names = Object.keys(series);
  return [asked, advice.metric].find((each) => each !== undefined && names.includes(each)) ?? names[0] ?? null;
}

/** Null where nothing is known of the metric yet. */
export function pointsPlot({ series, advice }: Pick<Evaluator, "series" | "advice">, metric: string): PointsPlot | null {
  const points = series[metric] ?? [];
  const last = points.at(-1);
  if (last === undefined) return null;
  const name = singleLine(metric);
  const ends = (end: 0 | 1): readonly number[] => points.map(({ ci95 }) => ci95?.[end] ?? Number.NaN);
  const isAdvised = metric === advice.metric;
  const marks: readonly ChartMark[] = [
    ...(isAdvised && advice.best !== null ? [{ at: advice.best.step, name: "Best" }] : []),
    ...(isAdvised && advice.stop_at !== null ? [{ at: advice.stop_at, name: "Patience over" }] : []),
  ];
  const between = last.ci95 === undefined ? "" : ` (95 %: ${intervalText(last.ci95)})`;
  const best = isAdvised && advice.best !== null ? ` The best is ${panelNumber(advice.best.value)} at step ${advice.best.step}.` : "";
  return {
    plot: {
      kind: "lines",
      x: { name: "Step", text: String },
      y: { name, text: panelNumber },
      xs: points.map(({ step }) => step),
      lines: [{ name, ys: points.map(({ value }) => value), low: ends(0), high: ends(1) }],
      marks,
    },
    says: `${points.length === 1 ? "One step" : `${points.length} steps`}, the newest ${panelNumber(last.value)} at step ${last.step}${between}.${best}`,
    runs: points.map(({ run_id }) => run_id),
  };
}
