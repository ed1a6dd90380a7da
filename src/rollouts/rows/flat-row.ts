import type { JsonObject } from "../../config/plan/run-config.ts";

/**
 * A row as verifiers had it up to 0.1.9: times and metrics among the other fields, and nothing of how the rollout ended. `error` is the
 * one field that such a row may have beyond those: a resume could not tell a failure from an answer without it.
 */
export function flatRow(row: JsonObject): JsonObject {
  const { example_id, prompt, completion, answer, task, info, reward, error, timing, ...others } = row;
  const { is_completed: _completed, is_truncated: _truncated, stop_condition: _stop, metrics: _metrics, tool_defs: _tools, ...more } = others;
  const { token_usage: _usage, error_chain: _chain, long_error_chain: _long, ...rest } = more;
  const { generation_ms = 0, scoring_ms = 0, total_ms = 0 } = timing as JsonObject;
  return {
    ...{ example_id: example_id ?? 0, prompt: prompt ?? null, completion: completion ?? null, task: task ?? "default", reward: reward ?? 0 },
    ...(error === null || error === undefined ? {} : { error }),
    ...{ generation_ms, scoring_ms, total_ms },
    ...(info === undefined ? {} : { info }),
    ...(answer === undefined ? {} : { answer }),
    ...rest,
  };
}
