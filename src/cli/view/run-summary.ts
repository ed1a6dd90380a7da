/** What the viewer keeps of a run's `metadata.json`, whoever wrote it: ours, and the Python library's of any version before 0.4. */
import { importedAverages } from "../../metrics/stated-averages.ts";
import { stoppedRunIn, stoppedText } from "../../metrics/sequential/stopped-early.ts";
import { USUAL_RANGE, withinRange } from "../../metrics/interval.ts";
import type { ErrorBounds } from "../../metrics/one-run/error-bounds.ts";
import { codesText } from "../../report/text/code-text.ts";
import { readJudges } from "../../metrics/judge-fields.ts";
import { dollarsOf, readCost } from "../../prices/nano-cost.ts";
import { dollarsText } from "../../report/text/cost-text.ts";
import { formatSeconds, thousands } from "../../report/text/format.ts";
import { readCacheUsage } from "../../metrics/cache-usage.ts";
import { judgesText } from "../../report/plain-report.ts";
import { cacheText } from "../../report/text/cache-text.ts";
import { intervalText, observedText, ratesText } from "../../report/statistics/uncertainty.ts";
import { numberOf, objectOf, valueText } from "./json-text.ts";

export interface RunSummary {
  readonly envId: string;
  readonly model: string;
  readonly averageReward: number | null;
  /** What the log said of an imported run, as a `metadata.json` has it; null of any other. */
  readonly saidByLog: unknown;
  /** What it would be between, had the rollouts that ended in an error a score; null where none did, and where the file does not say. */
  readonly bounds: ErrorBounds | null;
  /** Share of rollouts with an error; null where the file does not say (before 0.1.10). */
  readonly errorShare: number | null;
  readonly examples: number | null;
  readonly rolloutsPerExample: number | null;
  /** Why a run of ours has neither pass@k nor an interval; undefined where another program wrote the file, and nothing is known of its groups. */
  readonly groupingProblem: string | null | undefined;
  /** Of ours only, such as `RUNNING`. */
  readonly status: string | null;
  /** Rollouts that are generated and in no row yet, since their examples are not complete. */
  readonly openRollouts: number;
  /** What was asked for, in the order of the file. */
  readonly settings: readonly (readonly [string, string])[];
  /** What came of it, beside the averages of metrics. */
  readonly numbers: readonly (readonly [string, string])[];
  readonly metrics: readonly (readonly [string, number])[];
}

/** Settings, metrics and tools that are kept of one file. */
const KEPT = 200;

/** Null when the value is no metadata of a run: no object, or one that names neither environment nor model. */
export function summaryOf(value: unknown): RunSummary | null {
  const file = objectOf(value);
  // `env` is the name of 2025.
  const envId = file.env_id ?? file.env;
  if (typeof envId !== "string" || typeof file.model !== "string") return null;
  const own = objectOf(file.edgewise);
  return {
    envId,
    model: file.model,
    averageReward: numberOf(file.avg_reward),
    saidByLog: importedAverages(file),
    bounds: boundsOf(own.error_bounds),
    errorShare: numberOf(file.avg_error),
    examples: numberOf(file.num_examples),
    rolloutsPerExample: numberOf(file.rollouts_per_example),
    groupingProblem: file.edgewise === undefined ? undefined : typeof own.grouping_problem === "string" ? own.grouping_problem : null,
    status: typeof own.status === "string" ? own.status : null,
    openRollouts: numberOf(own.open_rollouts) ?? 0,
    settings: settingsOf(file, own),
    numbers: numbersOf(file, own),
    metrics: metricsOf(file),
  };
}

function settingsOf(file: Readonly<Record<string, unknown>>, own: Readonly<Record<string, unknown>>): RunSummary["settings"] {
  const tools = Array.isArray(file.tools) ? file.tools.map((tool) => valueText(objectOf(objectOf(tool).function).name ?? objectOf(tool).name ?? tool, 40)) : [];
  const columns = Array.isArray(file.state_columns) ? file.state_columns.map((name) => valueText(name, 40)) : [];
  const fields: (readonly [string, unknown])[] = [
    ["endpoint", file.base_url],
    ["examples", file.num_examples],
    ["rollouts per example", file.rollouts_per_example],
    ["pass threshold", file.pass_threshold],
    ["name", file.name],
    ["shuffle", file.shuffle],
    ["shuffle seed", file.shuffle_seed],
    ...Object.entries(objectOf(file.sampling_args)).map(([name, setting]) => [`sampling.${name}`, setting] as const),
    ...Object.entries(objectOf(file.env_args)).map(([name, setting]) => [`env.${name}`, setting] as const),
    ...Object.entries(objectOf(own.extra_env_kwargs)).map(([name, setting]) => [`env option ${name}`, setting] as const),
    ["state columns", columns.length === 0 ? undefined : columns.join(", ")],
    ["tools", tools.length === 0 ? undefined : tools.join(", ")],
    ["version", objectOf(file.version_info).vf_version],
    ["environment version", objectOf(file.version_info).env_version],
    ["code", codesText(counts(own.env_digests))],
  ];
  return fields.flatMap(([name, setting]) => (setting === undefined || setting === null ? [] : [[name, valueText(setting)] as const])).slice(0, KEPT);
}

const counts = (value: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(objectOf(value)).flatMap(([name, count]) => (typeof count === "number" ? [[name, count] as const] : [])));

function numbersOf(file: Readonly<Record<string, unknown>>, own: Readonly<Record<string, unknown>>): RunSummary["numbers"] {
  const rates = (name: string, value: unknown): (readonly [string, string])[] => {
    const parts = Object.entries(objectOf(value)).flatMap(([k, rate]) => (numberOf(rate) === null ? [] : [`${k}: ${Number(rate).toFixed(3)}`]));
    return parts.length === 0 ? [] : [[name, parts.join(", ")]];
  };
  const sureness = (name: string, value: unknown): (readonly [string, string])[] => {
    const text = ratesText(Object.fromEntries(Object.entries(objectOf(value)).map(([k, interval]) => [k, pairOf(interval)])));
    return text === null ? [] : [[name, text]];
  };
  const estimates = Object.entries(objectOf(own.metric_estimates)).slice(0, KEPT);
  const interval = intervalOf(file, own);
  const stopped = stoppedRunIn(own.stopped_early);
  // 0.1.14 and later: seconds under another name.
  const seconds = numberOf(file.time_ms) === null ? numberOf(file.time) : Number(file.time_ms) / 1000;
  const usage = Object.entries(objectOf(file.usage)).flatMap(([name, tokens]) => {
    const mean = numberOf(tokens);
    return mean === null ? [] : [[`${name.replaceAll("_", " ")} (mean)`, mean.toFixed(1)] as const];
  });
  return [
    ...(interval === null ? [] : [["95% interval", `${intervalText(interval)}${overText(own)}`] as const]),
    ...(stopped === null ? [] : [["stopped early", stoppedText(stopped)] as const]),
    ...rates("pass@k", file.pass_at_k),
    ...sureness("pass@k 95%", own.pass_at_k_ci95),
    ...rates("pass^k", file.pass_all_k),
    ...sureness("pass^k 95%", own.pass_all_k_ci95),
    ...sureness("metrics 95%", Object.fromEntries(estimates.map(([name, estimate]) => [name, objectOf(estimate).ci95]))),
    ...(seconds === null || seconds === 0 ? [] : [["time", formatSeconds(seconds)] as const]),
    ...usage,
    ...costOf(file.cost, own.unpriced_rollouts),
    ...judgesOf(own.judges_total),
    ...cacheOf(own.cache_total),
    ...(typeof file.date === "string" ? [["date", file.date.slice(0, 40)] as const] : []),
  ];
}

/** Said where it is not over examples. */
function overText({ n_clusters, cluster_by }: Readonly<Record<string, unknown>>): string {
  const groups = numberOf(n_clusters);
  return groups === null || typeof cluster_by !== "string" ? "" : ` over ${observedText(groups, cluster_by)}`;
}

/** Ours, or the Python library's. */
function costOf(value: unknown, unpriced: unknown): RunSummary["numbers"] {
  const cost = readCost(value);
  if (cost === null) return [];
  const rest = numberOf(unpriced) ?? 0;
  return [["cost", `${dollarsText(dollarsOf(cost).total_usd)}${rest > 0 ? ` (of ${thousands(rest)} other rollouts it is unknown)` : ""}`]];
}

function judgesOf(value: unknown): RunSummary["numbers"] {
  const judges = readJudges(value);
  return judges === null ? [] : [["judges", judgesText(judges)]];
}

function cacheOf(value: unknown): RunSummary["numbers"] {
  const usage = readCacheUsage(value);
  return usage === null ? [] : [["cached", cacheText(usage)]];
}

/** A file that does not say what rewards can be may state an interval beyond it: it is cut at 0 and 1, unless the mean shows that these are not the ends. */
function intervalOf(file: Readonly<Record<string, unknown>>, own: Readonly<Record<string, unknown>>): readonly [number, number] | null {
  const interval = pairOf(own.reward_ci95);
  if (interval === null) return null;
  const mean = numberOf(file.avg_reward);
  if (own.reward_range !== undefined || mean === null || mean < USUAL_RANGE[0] || mean > USUAL_RANGE[1]) return interval;
  return withinRange(interval, USUAL_RANGE);
}

function pairOf(value: unknown): readonly [number, number] | null {
  const [low, high] = Array.isArray(value) ? value.map(numberOf) : [];
  return typeof low === "number" && typeof high === "number" ? [low, high] : null;
}

function boundsOf(value: unknown): ErrorBounds | null {
  const { answered, worst, best, unresolved } = objectOf(value);
  const [low, high, share] = [worst, best, unresolved].map(numberOf);
  if (typeof low !== "number" || typeof high !== "number" || typeof share !== "number") return null;
  return { answered: numberOf(answered), worst: low, best: high, unresolved: share };
}

function metricsOf(file: Readonly<Record<string, unknown>>): RunSummary["metrics"] {
  const nested = Object.entries(objectOf(file.avg_metrics));
  // In 2025 each metric was a key of its own.
  const flat = Object.entries(file).flatMap(([key, value]) =>
    key.startsWith("avg_") && !["avg_reward", "avg_error", "avg_metrics"].includes(key) ? [[key.slice(4), value] as const] : [],
  );
  return [...nested, ...flat].flatMap(([name, value]) => (numberOf(value) === null ? [] : [[name, Number(value)] as const])).slice(0, KEPT);
}
