import { ROLLOUT_ERRORS, type RolloutErrorCode } from "../errors/codes.ts";
import type { RolloutSummary } from "../metrics/rollout-summary.ts";

/** Columns of the grid: numbers that are known of every rollout without reading its row. */

const NANO = 1e9;
const dollars = (cost: { readonly input_nano: number; readonly output_nano: number } | undefined): number | null =>
  cost === undefined ? null : (cost.input_nano + cost.output_nano) / NANO;

/** What `error` counts into: its element 0 is no error. */
export const ERROR_CODES: readonly (RolloutErrorCode | null)[] = [null, ...(Object.keys(ROLLOUT_ERRORS) as RolloutErrorCode[])];
const numberOfCode = new Map(ERROR_CODES.map((code, number) => [code, number]));

type Read = (rollout: RolloutSummary) => number | null;

const STANDARD = {
  reward: ({ reward }) => reward,
  /** An index into `ERROR_CODES`. */
  error: ({ error }) => numberOfCode.get(error) ?? null,
  /** 1 = the answer was cut off. */
  truncated: ({ truncated }) => (truncated ? 1 : 0),
  input_tokens: ({ input_tokens }) => input_tokens,
  output_tokens: ({ output_tokens }) => output_tokens,
  /** Dollars of the model's answers. */
  cost: ({ cost }) => dollars(cost),
  final_input_tokens: ({ final_input_tokens }) => final_input_tokens ?? null,
  final_output_tokens: ({ final_output_tokens }) => final_output_tokens ?? null,
  judge_requests: ({ judges }) => judges?.requests ?? null,
  /** Dollars of those requests of judges whose cost is known. */
  judge_cost: ({ judges }) => dollars(judges?.priced),
  /** Calls that the cache answered. */
  cached_calls: ({ cache }) => cache?.cached ?? null,
} satisfies Readonly<Record<string, Read>>;

export type StandardColumn = keyof typeof STANDARD;
export const STANDARD_COLUMNS = Object.keys(STANDARD) as readonly StandardColumn[];
/** What comes where nobody names columns, beside metrics. */
export const USUAL_COLUMNS: readonly StandardColumn[] = ["reward", "error", "truncated", "input_tokens", "output_tokens", "cost"];
/** Metrics that come where nobody names columns: the first of them. */
export const USUAL_METRICS = 32;
/** Columns of one answer. */
export const MOST_COLUMNS = 64;

const METRIC = "m:";
export const metricColumn = (metric: string): string => `${METRIC}${metric}`;
export const metricOf = (column: string): string | null => (column.startsWith(METRIC) ? column.slice(METRIC.length) : null);

/** How a column is read from what is known of a rollout; null for a name that is no column. */
export function readerOf(column: string): Read | null {
  const metric = metricOf(column);
  if (metric !== null) return ({ metrics }) => (Object.hasOwn(metrics, metric) ? (metrics[metric] ?? null) : null);
  return Object.hasOwn(STANDARD, column) ? STANDARD[column as StandardColumn] : null;
}

/** Columns that come where nobody names any, of a run with these metrics. */
export const usualColumns = (metrics: readonly string[]): readonly string[] => [...USUAL_COLUMNS, ...metrics.slice(0, USUAL_METRICS).map(metricColumn)];

/** Columns as a query names them, with commas between; a `,` or `%` in the name of a metric is written `%2C`, `%25`. A text that says what is wrong. */
export function readColumns(text: string): readonly string[] | string {
  const columns = [...new Set(text.split(","))].map(unescaped);
  if (columns.length > MOST_COLUMNS) return `must be at most ${MOST_COLUMNS} columns`;
  const wrong = columns.find((column) => column === null || readerOf(column) === null);
  if (wrong !== undefined)
    return `must be of ${STANDARD_COLUMNS.join(", ")} and m:<metric>, with commas between${wrong === null ? "" : `; ${JSON.stringify(wrong.slice(0, 80))} is none`}`;
  return columns as string[];
}

/** As `readColumns` reads it. */
export const columnsText = (columns: readonly string[]): string => columns.map((column) => column.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");

function unescaped(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
