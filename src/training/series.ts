import { reportedStep } from "../evaluators/due.ts";
import { metricName } from "./definition.ts";
import type { StepRecord } from "./state.ts";

/** One number of the series: what a trainer would have logged. */
export interface Point {
  /** `val/<evaluation>/<metric>`. */
  readonly name: string;
  /** As it is reported: the trainer's own, and one. */
  readonly step: number;
  readonly value: number;
  readonly ci95?: readonly [number, number];
  readonly model: string;
  readonly run_id: string | null;
  /** When it was known. Unix milliseconds. */
  readonly at: number;
  readonly rollouts: number;
  /** Rollouts that ended in an error: they are in no metric that is made of rewards. */
  readonly errored: number;
}

/** The points of records, in their order; one that failed or was replaced has none. */
export function pointsOf(records: readonly StepRecord[]): Point[] {
  return records.flatMap(({ step, evaluation, model, run_id, ended_at, end }) => {
    if (end?.kind !== "evaluated") return [];
    const { rollouts, errored } = end;
    return Object.entries(end.values).map(([metric, { value, ci95 }]) => ({
      name: metricName(evaluation, metric),
      step: reportedStep(step),
      value,
      ...(ci95 === undefined ? {} : { ci95 }),
      model,
      run_id,
      at: ended_at ?? 0,
      rollouts,
      errored,
    }));
  });
}

/** By metric, each in the order of steps. */
export function seriesOf(records: readonly StepRecord[]): Record<string, Point[]> {
  const series: Record<string, Point[]> = {};
  for (const point of pointsOf(records)) {
    series[point.name] ??= [];
    series[point.name]?.push(point);
  }
  for (const points of Object.values(series)) points.sort((a, b) => a.step - b.step);
  return series;
}
