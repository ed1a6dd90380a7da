import type { Json, JsonObject } from "../config/plan/run-config.ts";
import { erroredRollouts, type Totals } from "../metrics/totals.ts";

/** An average that was pushed and is another than that of the rows. */
export type AverageDifference = {
  readonly name: string;
  readonly pushed: number;
  /** Null where no row has it. */
  readonly computed: number | null;
};

/** Sums of floats in another order differ by less. */
const TOLERANCE = 1e-6;

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

/** Averages by name, whichever way they are sent: `reward` or `avg_reward`, metrics in `metrics` or `avg_metrics`, `error` or `avg_error`. */
export function pushedAverages(metrics: JsonObject): Readonly<Record<string, number>> {
  const named = new Map<string, number>();
  const note = (name: string, value: Json | undefined): void => {
    if (typeof value === "number" && Number.isFinite(value)) named.set(name, value);
  };
  note("reward", metrics.reward ?? metrics.avg_reward);
  note("error", metrics.error ?? metrics.avg_error);
  const own = metrics.metrics ?? metrics.avg_metrics;
  if (isObject(own)) for (const [name, value] of Object.entries(own)) note(`metrics.${name}`, value);
  return Object.fromEntries(named);
}

/** The averages that differ from those of the rows. None where there is no row to compute them from. */
export function differencesOf(metrics: JsonObject, totals: Totals): AverageDifference[] {
  if (totals.rollouts === 0) return [];
  const computed = (name: string): number | null => {
    if (name === "reward") return totals.reward_sum / totals.rollouts;
    if (name === "error") return erroredRollouts(totals) / totals.rollouts;
    const metric = totals.metrics[name.slice("metrics.".length)];
    return metric === undefined || metric.count === 0 ? null : metric.sum / metric.count;
  };
  return Object.entries(pushedAverages(metrics)).flatMap(([name, pushed]) => {
    const own = computed(name);
    const same = own !== null && Math.abs(own - pushed) <= TOLERANCE * Math.max(1, Math.abs(own));
    return same ? [] : [{ name, pushed, computed: own }];
  });
}

/** For a log. */
export const differenceText = ({ name, pushed, computed }: AverageDifference): string =>
  `${name} was pushed as ${pushed}, ${computed === null ? "and no row has it" : `its rows say ${computed}`}`;
