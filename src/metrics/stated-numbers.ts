import type { Aggregates } from "./aggregates.ts";
import type { Estimate } from "./one-run/estimate.ts";
import { agree } from "./stated-averages.ts";

/** A number that `metadata.json` states, beside what its rows give. */
export interface ComparedNumber {
  readonly name: string;
  readonly stated: number;
  /** Null where the rows give none of that name. */
  readonly recomputed: number | null;
  readonly agrees: boolean;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});

/**
 * All numbers over rows that a `metadata.json` states (ours, or the Python library's), each beside what its rows give: averages, pass@k and pass^k,
 * errors, intervals, bounds. Those that it does not state are not compared.
 */
export function comparedNumbers(metadata: unknown, rows: Aggregates): readonly ComparedNumber[] {
  const file = fieldsOf(metadata);
  const own = fieldsOf(file.edgewise);
  const bounds = fieldsOf(own.error_bounds);
  const rates = (name: string, stated: unknown, found: Readonly<Record<string, number>>): readonly Stated[] =>
    Object.entries(fieldsOf(stated)).map(([k, rate]) => [`${name}${k}`, rate, found[k] ?? null]);
  const compared: readonly Stated[] = [
    ["reward", file.avg_reward, rows.avg_reward],
    ...metricsOf(file).map(([name, average]) => [name, average, rows.avg_metrics[name] ?? null] as const),
    ["error", file.avg_error, rows.avg_error],
    ...rates("pass@", file.pass_at_k, rows.pass_at_k),
    ...rates("pass^", file.pass_all_k, rows.pass_all_k),
    ["errored rollouts", own.errored_rollouts, rows.errored_rollouts],
    ["truncated rollouts", own.truncated_rollouts, rows.truncated_rollouts],
    ["reward without errors", own.reward_without_errors, rows.reward_without_errors],
    // That of a run which stopped early holds at any time, in an order that rows do not have.
    ...(own.stopped_early === undefined ? ends("interval", own.reward_ci95, rows.reward_ci95) : []),
    ["standard error", own.reward_stderr, rows.reward_stderr],
    ...Object.entries(fieldsOf(own.metric_estimates)).flatMap(([name, estimate]) => estimated(name, fieldsOf(estimate), rows.metric_estimates[name])),
    ...(["perplexity", "bits_per_byte", "nll", "tokens"] as const).map(
      (name) => [`corpus: ${name}`, fieldsOf(own.corpus)[name], rows.corpus?.[name] ?? null] as const,
    ),
    ...Object.entries(fieldsOf(own.pass_at_k_ci95)).flatMap(([k, interval]) => ends(`pass@${k} interval`, interval, rows.pass_at_k_ci95[k])),
    ...Object.entries(fieldsOf(own.pass_all_k_ci95)).flatMap(([k, interval]) => ends(`pass^${k} interval`, interval, rows.pass_all_k_ci95[k])),
    ...(["answered", "worst", "best", "unresolved"] as const).map(
      (name) => [`error bounds: ${name}`, bounds[name], rows.error_bounds?.[name] ?? null] as const,
    ),
  ];
  return compared.flatMap(([name, stated, recomputed]) => {
    if (typeof stated !== "number" || !Number.isFinite(stated)) return [];
    return [{ name, stated, recomputed, agrees: recomputed !== null && agree(stated, recomputed) }];
  });
}

type Stated = readonly [name: string, stated: unknown, recomputed: number | null];

function ends(name: string, stated: unknown, found: readonly [number, number] | null | undefined): readonly Stated[] {
  const [low, high] = Array.isArray(stated) ? (stated as unknown[]) : [];
  return [
    [`${name} from`, low, found?.[0] ?? null],
    [`${name} to`, high, found?.[1] ?? null],
  ];
}

function estimated(name: string, stated: Fields, found: Estimate | undefined): readonly Stated[] {
  return [
    [`examples of ${name}`, stated.n, found?.n ?? null],
    [`mean of examples of ${name}`, stated.mean, found?.mean ?? null],
    [`standard error of ${name}`, stated.stderr, found?.stderr ?? null],
    ...ends(`interval of ${name}`, stated.ci95, found?.ci95),
  ];
}

/** In 2025 the average of each metric was a key of its own. */
function metricsOf(file: Fields): readonly (readonly [string, unknown])[] {
  const flat = Object.entries(file).flatMap(([key, value]) =>
    key.startsWith("avg_") && !["avg_reward", "avg_error", "avg_metrics"].includes(key) ? [[key.slice(4), value] as const] : [],
  );
  return [...Object.entries(fieldsOf(file.avg_metrics)), ...flat];
}
