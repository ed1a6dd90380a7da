/** How sure a number is, in words: the same in the report, the viewer, the live display, a run's page and `eval get`. */
import type { ErrorBounds } from "../../metrics/one-run/error-bounds.ts";
import type { Estimate } from "../../metrics/one-run/estimate.ts";
import { fixed } from "../text/format.ts";
import { singleLine } from "../text/printable.ts";

type Interval = readonly [number, number];

/** `0.812 to 0.901`. */
export const intervalText = ([low, high]: Interval): string => `${fixed(low, 3)} to ${fixed(high, 3)}`;

/** What an interval is over: `12 examples`, or `4 values of passage` where examples with the same one are one observation. */
export const observedText = (n: number, clusterBy: string | undefined): string =>
  clusterBy === undefined ? `${n} ${n === 1 ? "example" : "examples"}` : `${n} ${n === 1 ? "value" : "values"} of ${singleLine(clusterBy)}`;

/** The three numbers of a mean of which some rollouts are unknown. */
export const boundsText = (bounds: ErrorBounds): string => `${intervalText([bounds.worst, bounds.best])}, as ${unscoredText(bounds)}`;

/** Why a reward is a range: `12.2 % of the rollouts have no score (0.671 over the others)`. */
export function unscoredText({ answered, unresolved }: ErrorBounds): string {
  const scored = answered === null ? "no rollout was scored" : `${fixed(answered, 3)} over the others`;
  return `${fixed(100 * unresolved, 1)} % of the rollouts have no score (${scored})`;
}

/** `1: 0.320 to 0.530, 2: 0.453 to 0.680`; null where no k has one. */
export function ratesText(intervals: Readonly<Record<string, Interval | null>>): string | null {
  const parts = Object.entries(intervals).flatMap(([k, interval]) => (interval === null ? [] : [`${k}: ${intervalText(interval)}`]));
  return parts.length === 0 ? null : parts.join(", ");
}

/** Metrics that a report names with their intervals; the others stand in `metadata.json`. */
const NAMED = 12;

/** One line for each metric that has an interval, but for those that are the reward under another name. */
export function metricLines(estimates: Readonly<Record<string, Estimate>>, reward: Interval | null): readonly string[] {
  const lines = Object.entries(estimates).flatMap(([name, { mean, ci95 }]) => {
    if (ci95 === null || (ci95[0] === reward?.[0] && ci95[1] === reward[1])) return [];
    return [` - ${singleLine(name)}: ${fixed(mean, 3)} (${intervalText(ci95)})`];
  });
  return lines.length <= NAMED ? lines : [...lines.slice(0, NAMED), ` - … ${lines.length - NAMED} more in metadata.json`];
}
