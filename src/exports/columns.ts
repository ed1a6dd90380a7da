import type { Column } from "./column.ts";

/**
 * Which columns an exported row has. Types never depend on what is in the rows, so that files of two runs, and all parts of one, fit together;
 * whatever has no type of its own (`info`, arguments, state columns) is JSON as text.
 */

const text = (name: string): Column => ({ name, type: "string" });

/** `content` is the text of a message; where it came in parts (images, sound) they are in `content_json`, and fields that have no column in `other`. */
const MESSAGE: readonly Column[] = [
  text("role"),
  text("content"),
  { name: "tool_calls", type: { list: [text("id"), text("name"), text("arguments")] } },
  text("tool_call_id"),
  text("reasoning_content"),
  text("content_json"),
  text("other"),
];

const integers = (...names: readonly string[]): readonly Column[] => names.map((name) => ({ name, type: "int64" }));
const numbers = (...names: readonly string[]): readonly Column[] => names.map((name) => ({ name, type: "double" }));

/** Beside the metrics, which stand behind `reward`. */
const BEFORE_METRICS: readonly Column[] = [
  { name: "example_id", type: "int64" },
  { name: "rollout_index", type: "int32" },
  text("task"),
  { name: "prompt", type: { list: MESSAGE } },
  { name: "completion", type: { list: MESSAGE } },
  text("answer"),
  text("info"),
  { name: "reward", type: "double" },
];

const AFTER_METRICS: readonly Column[] = [
  { name: "error", type: { struct: [text("error"), text("error_chain_repr"), text("error_chain_str"), text("code")] } },
  text("stop_condition"),
  { name: "is_completed", type: "boolean" },
  { name: "is_truncated", type: "boolean" },
  { name: "token_usage", type: { struct: integers("input_tokens", "output_tokens", "final_input_tokens", "final_output_tokens") } },
  { name: "timing", type: { struct: numbers("start_time", "generation_ms", "scoring_ms", "total_ms") } },
  text("tool_defs"),
  text("other"),
];

/** The settings of its run, in each row: where rows of several runs are in one file. */
export const SETTING_COLUMNS: readonly Column[] = [
  ...["run_id", "env_id", "env_version", "env_args", "model", "base_url", "sampling_args"].map(text),
  { name: "num_examples", type: "int64" },
  { name: "rollouts_per_example", type: "int32" },
];

const FIXED: ReadonlySet<string> = new Set([...SETTING_COLUMNS, ...BEFORE_METRICS, ...AFTER_METRICS].map(({ name }) => name));

/** Metrics with a column of their own; a file that has more of them (a metric for each example, say) has the rest in `other`. */
export const MAX_METRIC_COLUMNS = 256;

export interface MetricColumn {
  readonly metric: string;
  readonly column: string;
}

/** A metric has its own name, and `metric_` before it where a column is called that already. */
export function metricColumns(metrics: readonly string[]): readonly MetricColumn[] {
  const taken = new Set(FIXED);
  return metrics.slice(0, MAX_METRIC_COLUMNS).map((metric) => {
    let column = metric;
    while (taken.has(column) || column === "" || column === "__proto__") column = `metric_${column}`;
    taken.add(column);
    return { metric, column };
  });
}

/** The columns of a file whose rows have these metrics. */
export function exportColumns(metrics: readonly MetricColumn[], withSettings: boolean): readonly Column[] {
  return [
    ...(withSettings ? SETTING_COLUMNS : []),
    ...BEFORE_METRICS,
    ...metrics.map(({ column }): Column => ({ name: column, type: "double" })),
    ...AFTER_METRICS,
  ];
}
