import type { Json, JsonObject } from "../config/plan/run-config.ts";
import type { ForeignRow } from "../rollouts/rows/foreign-row.ts";
import { rowText } from "../rollouts/rows/row-text.ts";

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A sample of `prime-runs` (verifiers 0.4) with the scores of its rewards among its metrics: it has them beside its other fields, and their names only in the episode
 * that it carries. Any other sample as it is.
 */
export function withNativeRewards(row: ForeignRow): ForeignRow {
  const { value } = row;
  const info = isObject(value.info) ? value.info : {};
  const { native_wrapper: episode, native_trace_index: at } = info;
  const traces: Json = isObject(episode) && Array.isArray(episode.traces) ? episode.traces : [];
  const trace = traces[typeof at === "number" ? at : 0];
  const rewards = isObject(trace) && isObject(trace.rewards) ? trace.rewards : {};
  const metrics = isObject(value.metrics) ? value.metrics : {};
  const lacking = Object.keys(rewards).filter((name) => typeof value[name] === "number" && !Object.hasOwn(metrics, name));
  if (lacking.length === 0) return row;
  const scores = Object.fromEntries(lacking.map((name) => [name, value[name] ?? null]));
  const whole = { ...value, metrics: { ...metrics, ...scores } };
  return { text: rowText(whole), value: whole };
}
