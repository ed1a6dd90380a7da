import type { RunDrift } from "../../drift/series.ts";
import { driftOf, type ScheduleDefinition } from "../../schedules/definition.ts";
import { signedText } from "../text/signed-text.ts";

/** Drift in words. */

/** What of a schedule says it, as the service tells it. */
export interface DriftingSeries {
  readonly definition: Pick<ScheduleDefinition, "drift">;
  readonly drift: {
    readonly verdict: string;
    readonly since: string | null;
    readonly baseline_runs: readonly string[];
    readonly judged: number;
  } | null;
  /** The newest first. */
  readonly series: readonly { readonly drift: RunDrift | null }[];
}

const between = ([low, high]: readonly [number, number]): string => `${signedText(low)} to ${signedText(high)}`;

/** What is said of one run, in a cell. */
export function verdictText(drift: RunDrift | null): string {
  if (drift === null) return "-";
  if (drift.verdict === "gathering") return `baseline ${drift.runs}/${drift.of}`;
  if (drift.verdict === "waiting") return "waiting";
  if (drift.verdict === "unjudged") return `unjudged: ${drift.reason}`;
  return `${drift.verdict} ${signedText(drift.difference)}${drift.ci95 === null ? "" : ` (${between(drift.ci95)})`}`;
}

/** Where the series stands, in a field. */
export function driftText({ drift, definition, series }: DriftingSeries): string {
  const { baseline, first, metric, false_alarms, detect } = driftOf(definition);
  if (baseline === "none") return "not looked for";
  const held = baseline === "first" ? `the first ${first}` : baseline;
  const asked = `${metric} against ${held}, at most ${false_alarms} false alarm${false_alarms === 1 ? "" : "s"} in 100 runs${detect === undefined ? "" : `, looking for ${detect}`}`;
  if (drift === null) return `no run yet; ${asked}`;
  if (baseline === "first" && drift.baseline_runs.length < first) return `baseline of ${drift.baseline_runs.length} of ${first} runs; ${asked}`;
  const newest = series.map((entry) => entry.drift).find((each) => each !== null && "level" in each);
  if (drift.judged === 0 || newest === undefined || newest === null || !("level" in newest)) return `no run judged yet; ${asked}`;
  const { level, evidence, limit } = newest;
  const where = drift.since === null ? "" : ` since run ${drift.since}`;
  return `${drift.verdict}${where}, ${signedText(level.difference)} (${between(level.ci95)}); evidence of a change ${evidence.toPrecision(2)} of ${limit}; ${asked}`;
}
