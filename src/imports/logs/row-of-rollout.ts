import type { Json } from "../../config/plan/run-config.ts";
import { MAX_RESULT_ROW_BYTES, exceeds, reservedMetricNames } from "../../rollouts/rows/row.ts";
import { rowText } from "../../rollouts/rows/row-text.ts";
import type { ImportedRollout } from "./imported-run.ts";

/** Column of a row that has the name of its example in the program that wrote it, as text. */
export const SOURCE_ID = "source_id";

/** Parts of a row that grow without bound, in the order in which a row that is too large loses them. */
const PARTS = ["info", "tool_defs", "completion", "prompt", "answer"] as const;

export interface ImportedLine {
  /** Without the line end. */
  readonly text: string;
  /** What was too large to be kept. */
  readonly leftOut: readonly string[];
}

/** The line of a rollout in `results.jsonl`, at most as large as a row may be. */
export function lineOfRollout(rollout: ImportedRollout, index: number): ImportedLine {
  const row = rowOfRollout(rollout, index);
  const leftOut: string[] = [];
  for (const part of ["", ...PARTS]) {
    if (part !== "") {
      if (row[part] === undefined || row[part] === null) continue;
      row[part] = null;
      leftOut.push(part);
    }
    const text = rowText(row);
    if (!exceeds(text, MAX_RESULT_ROW_BYTES)) return { text, leftOut };
  }
  throw new RangeError(`the scores of ${String(rollout.sourceId)} alone exceed ${MAX_RESULT_ROW_BYTES} bytes`);
}

/** Keys in the order of verifiers' rows. Errors have no code of ours: why it failed is the other program's to say. */
function rowOfRollout(rollout: ImportedRollout, index: number): Record<string, Json> {
  const { error, metrics, usage, more = {} } = rollout;
  const repeated = Object.entries(metrics).filter(([name]) => reservedMetricNames([name]).length === 0 && name !== SOURCE_ID);
  const row: Record<string, Json> = {
    ...(rollout.example === null ? {} : { example_id: rollout.example }),
    prompt: rollout.prompt,
    completion: rollout.completion,
    ...(rollout.answer === null || rollout.answer === "" ? {} : { answer: rollout.answer }),
    ...(rollout.task === null ? {} : { task: rollout.task }),
    ...(Object.keys(rollout.info).length === 0 ? {} : { info: rollout.info }),
    reward: rollout.reward,
    error: error === null ? null : { error: error.name, error_chain_repr: error.message, error_chain_str: error.name },
    timing: rollout.timing,
    is_completed: rollout.isCompleted,
    is_truncated: rollout.isTruncated,
    stop_condition: rollout.stopCondition,
    metrics: { ...metrics },
    tool_defs: rollout.tools === null ? null : [...rollout.tools],
    ...(usage === null ? {} : { token_usage: { ...usage } }),
    ...(error === null ? {} : { error_chain: error.message, long_error_chain: error.name }),
    ...Object.fromEntries(repeated),
    ...(rollout.example === null ? {} : { rollout_index: index }),
    ...(rollout.sourceId === null ? {} : { [SOURCE_ID]: typeof rollout.sourceId === "string" ? rollout.sourceId : JSON.stringify(rollout.sourceId) }),
  };
  for (const [name, value] of Object.entries(more) as [string, Json][]) if (!Object.hasOwn(row, name)) row[name] = value;
  return row;
}
