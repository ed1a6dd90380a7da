import type { Aggregates } from "./aggregates.ts";

/** An average that `metadata.json` states and the rows beside it do not bear out. */
export interface WrongAverage {
  /** `reward`, `error`, or the name of a metric. */
  readonly name: string;
  readonly stated: number;
  /** Over the rows, as they are. */
  readonly recomputed: number;
}

/** What another program rounds or sums in another order differs by less than this, for numbers around 1. */
const TOLERANCE = 1e-6;

/** Whether a number that is stated is what was computed, but for rounding. */
export const agree = (stated: number, recomputed: number): boolean =>
  Math.abs(stated - recomputed) <= TOLERANCE * Math.max(1, Math.abs(stated), Math.abs(recomputed));

const numbersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {};

/**
 * The averages that the program of an imported run stated of it, as a `metadata.json` has them; Inspect calls a mean `SCORER/accuracy` or `SCORER/mean`. Null for
 * what was not imported.
 */
export function importedAverages(metadata: unknown): unknown {
  const { imported } = numbersOf(numbersOf(metadata).edgewise);
  if (imported === undefined) return null;
  const { reward, ...others } = numbersOf(numbersOf(imported).stated);
  const metrics = Object.entries(others).map(([name, value]) => [name.replace(/\/(accuracy|mean)$/, ""), value] as const);
  return { avg_reward: reward, avg_metrics: Object.fromEntries(metrics) };
}

/**
 * The averages of a `metadata.json` (of ours, or of the Python library's of any version) that its rows contradict: those of files that
 * were written once and not again as rows were added. Averages that the file does not state, or no row has, are not compared; nor is
 * anything where there are no rows.
 */
export function wrongAverages(metadata: unknown, rows: Pick<Aggregates, "rollouts" | "avg_reward" | "avg_error" | "avg_metrics">): readonly WrongAverage[] {
  if (rows.rollouts === 0) return [];
  const file = numbersOf(metadata);
  const nested = numbersOf(file.avg_metrics);
  // In 2025 the average of each metric was a key of its own.
  const metric = (name: string): unknown => nested[name] ?? file[`avg_${name}`];
  const compared: readonly (readonly [string, unknown, number])[] = [
    ["reward", file.avg_reward, rows.avg_reward],
    ["error", file.avg_error, rows.avg_error],
    ...Object.entries(rows.avg_metrics).map(([name, average]) => [name, metric(name), average] as const),
  ];
  return compared.flatMap(([name, stated, recomputed]) => {
    if (typeof stated !== "number" || !Number.isFinite(stated)) return [];
    return agree(stated, recomputed) ? [] : [{ name, stated, recomputed }];
  });
}
