import type { Aggregates } from "./aggregates.ts";
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
 * errors, the interval. Those that it does not state are not compared.
 */
export function comparedNumbers(metadata: unknown, rows: Aggregates): readonly ComparedNumber[] {
  const file = fieldsOf(metadata);
  const own = fieldsOf(file.edgewise);
  const [low, high] = Array.isArray(own.reward_ci95) ? (own.reward_ci95 as unknown[]) : [];
  const rates = (name: string, stated: unknown, found: Readonly<Record<string, number>>): (readonly [string, unknown, number | null])[] =>
    Object.entries(fieldsOf(stated)).map(([k, rate]) => [`${name}${k}`, rate, found[k] ?? null]);
  const compared: readonly (readonly [string, unknown, number | null])[] = [
    ["reward", file.avg_reward, rows.avg_reward],
    ...metricsOf(file).map(([name, average]) => [name, average, rows.avg_metrics[name] ?? null] as const),
    ["error", file.avg_error, rows.avg_error],
    ...rates("pass@", file.pass_at_k, rows.pass_at_k),
    ...rates("pass^", file.pass_all_k, rows.pass_all_k),
    ["errored rollouts", own.errored_rollouts, rows.errored_rollouts],
    ["truncated rollouts", own.truncated_rollouts, rows.truncated_rollouts],
    ["reward without errors", own.reward_without_errors, rows.reward_without_errors],
    ["interval from", low, rows.reward_ci95?.[0] ?? null],
    ["interval to", high, rows.reward_ci95?.[1] ?? null],
  ];
  return compared.flatMap(([name, stated, recomputed]) => {
    if (typeof stated !== "number" || !Number.isFinite(stated)) return [];
    return [{ name, stated, recomputed, agrees: recomputed !== null && agree(stated, recomputed) }];
  });
}

/** In 2025 the average of each metric was a key of its own. */
function metricsOf(file: Fields): readonly (readonly [string, unknown])[] {
  const flat = Object.entries(file).flatMap(([key, value]) =>
    key.startsWith("avg_") && !["avg_reward", "avg_error", "avg_metrics"].includes(key) ? [[key.slice(4), value] as const] : [],
  );
  return [...Object.entries(fieldsOf(file.avg_metrics)), ...flat];
}
