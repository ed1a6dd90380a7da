/** Fields of a row as it is written now, beside its metrics. */
export const ROW_FIELDS = [
  ...["example_id", "prompt", "completion", "answer", "task", "info", "reward", "error", "timing", "is_completed", "is_truncated", "stop_condition"],
  ...["metrics", "tool_defs", "token_usage", "error_chain", "long_error_chain"],
  // Of ours alone.
  ...["rollout_index", "env_digest", "usage_cost", "judge_usage", "scored_anew", "cache_usage"],
] as const;

/** Fields of a row that are no metric, in any version of verifiers and in ours. */
export const STANDARD_FIELDS: ReadonlySet<string> = new Set([
  ...ROW_FIELDS,
  ...["id", "src_id", "advantage", "generation_ms", "scoring_ms", "total_ms", "trajectory"],
]);

/** Metrics by name. Rows up to 0.1.9 have them beside the standard fields only, where a state column that is a number looks like one. */
export function metricsOfRow(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { metrics } = row;
  if (typeof metrics === "object" && metrics !== null && !Array.isArray(metrics)) return metrics as Record<string, unknown>;
  return Object.fromEntries(Object.entries(row).filter(([name, value]) => !STANDARD_FIELDS.has(name) && typeof value === "number"));
}
