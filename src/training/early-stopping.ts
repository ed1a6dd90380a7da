import type { EarlyStopping } from "./definition.ts";
import type { Point } from "./series.ts";

/** Which step is best, and whether training may as well end. */
export interface Advice {
  readonly metric: string;
  readonly mode: EarlyStopping["mode"];
  readonly best: { readonly step: number; readonly value: number; readonly model: string } | null;
  /** Evaluations since the best one, of which none was better. */
  readonly since_best: number;
  /** Never true without a patience. */
  readonly stop: boolean;
  /** The step at which patience was first at its end; null = it never was. */
  readonly stop_at: number | null;
}

/**
 * The first evaluation sets the best; one that is better by more than `min_delta` takes its place; `patience` in a row that were not end it. In the order of
 * steps, whenever they were evaluated: a late one moves the advice. A point with errored rollouts counts for neither: its value says too little of the model.
 */
export function adviceOf({ metric, mode, min_delta, patience }: EarlyStopping, points: readonly Pick<Point, "step" | "value" | "model" | "errored">[]): Advice {
  let best: Advice["best"] = null;
  let since = 0;
  let stopAt: number | null = null;
  for (const { step, value, model } of points.filter(({ errored }) => errored === 0).toSorted((a, b) => a.step - b.step)) {
    const gain = best === null ? Number.POSITIVE_INFINITY : mode === "max" ? value - best.value : best.value - value;
    if (gain > min_delta) [best, since] = [{ step, value, model }, 0];
    else since += 1;
    if (patience !== undefined && since >= patience) stopAt ??= step;
  }
  return { metric, mode, best, since_best: since, stop: stopAt !== null, stop_at: stopAt };
}
