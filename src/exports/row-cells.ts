import { metricsOfRow, STANDARD_FIELDS } from "../metrics/row-metrics.ts";
import type { ForeignRow } from "../rollouts/rows/foreign-row.ts";
import { contentText } from "../rollouts/messages.ts";
import { readMessages } from "../rollouts/rows/output.ts";
import { rawFields } from "../rollouts/rows/raw-fields.ts";
import type { Message } from "../rollouts/types.ts";
import type { Cells } from "./column.ts";
import type { MetricColumn } from "./columns.ts";

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
const numberOrNull = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);
const integerOrNull = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null);
const booleanOrNull = (value: unknown): boolean | null => (typeof value === "boolean" ? value : null);
/** As metrics are counted: of booleans 1 and 0. */
const scoreOrNull = (value: unknown): number | null => (typeof value === "boolean" ? Number(value) : numberOrNull(value));

/**
 * A row of `results.jsonl`, ours or the Python library's of any version, as an export has it. What the row does not say is null; what has no
 * column of its own is in `other`, so that nothing is lost. JSON as text has the bytes of the row. Throws a `TypeError` that names a field that is not what rows have.
 */
export function rowCells({ text, value: row }: ForeignRow, metrics: readonly MetricColumn[]): Cells {
  const raw = new Map(rawFields(text));
  const json = (name: string): string | null => (row[name] === null ? null : (raw.get(name) ?? null));
  const scores = metricsOfRow(row);
  return {
    example_id: integerOrNull(row.example_id),
    rollout_index: integerOrNull(row.rollout_index),
    task: textOrNull(row.task),
    prompt: messageCells(readMessages(row.prompt, "prompt")),
    completion: messageCells(readMessages(row.completion, "completion")),
    answer: typeof row.answer === "string" ? row.answer : json("answer"),
    info: json("info"),
    reward: scoreOrNull(row.reward),
    ...Object.fromEntries(metrics.map(({ metric, column }) => [column, Object.hasOwn(scores, metric) ? scoreOrNull(scores[metric]) : null])),
    error: errorCells(row.error),
    stop_condition: textOrNull(row.stop_condition),
    is_completed: booleanOrNull(row.is_completed),
    is_truncated: booleanOrNull(row.is_truncated),
    token_usage: usageCells(row.token_usage),
    timing: timingCells(row),
    tool_defs: json("tool_defs"),
    other: otherText(row, scores, metrics, raw),
  };
}

function messageCells(messages: readonly Message[] | null): readonly Cells[] | null {
  if (messages === null) return null;
  return messages.map((message) => {
    const { role, content, tool_calls: calls, tool_call_id: id, reasoning_content: reasoning, ...more } = message as unknown as Fields;
    const parts = Array.isArray(content) ? content : null;
    const other = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== null));
    return {
      role: textOrNull(role),
      content: parts === null ? textOrNull(content) : contentText(parts),
      tool_calls: Array.isArray(calls) ? calls.map(callCells) : null,
      tool_call_id: textOrNull(id),
      reasoning_content: textOrNull(reasoning),
      content_json: parts === null && (typeof content === "string" || content === null || content === undefined) ? null : JSON.stringify(content),
      other: Object.keys(other).length === 0 ? null : JSON.stringify(other),
    };
  });
}

const callCells = ({ id, name, arguments: text }: Fields): Cells => ({ id: textOrNull(id), name: textOrNull(name), arguments: textOrNull(text) });

/** Before they were objects, errors were their texts. */
function errorCells(error: unknown): Cells | null {
  if (error === null || error === undefined || error === "") return null;
  if (!isFields(error)) return { error: typeof error === "string" ? error : JSON.stringify(error), error_chain_repr: null, error_chain_str: null, code: null };
  return {
    error: textOrNull(error.error),
    error_chain_repr: textOrNull(error.error_chain_repr),
    error_chain_str: textOrNull(error.error_chain_str),
    code: textOrNull(error.code),
  };
}

function usageCells(usage: unknown): Cells | null {
  if (!isFields(usage)) return null;
  return {
    input_tokens: integerOrNull(usage.input_tokens),
    output_tokens: integerOrNull(usage.output_tokens),
    final_input_tokens: integerOrNull(usage.final_input_tokens),
    final_output_tokens: integerOrNull(usage.final_output_tokens),
  };
}

/** Milliseconds, of all three shapes: flat in the row (to 0.1.9), flat below `timing` (to 0.1.13), spans in seconds (from 0.1.14 on). */
function timingCells(row: Fields): Cells | null {
  const timing = isFields(row.timing) ? row.timing : row;
  const start_time = numberOrNull(timing.start_time);
  if (isFields(timing.generation) || "total" in timing) {
    const seconds = (value: unknown): number | null => {
      const length = numberOrNull(value);
      return length === null ? null : length * 1_000;
    };
    const span = (part: unknown): number | null => (isFields(part) ? seconds(part.duration) : null);
    return { start_time, generation_ms: span(timing.generation), scoring_ms: span(timing.scoring), total_ms: seconds(timing.total) };
  }
  const [generation_ms, scoring_ms, total_ms] = [timing.generation_ms, timing.scoring_ms, timing.total_ms].map(numberOrNull);
  if ([generation_ms, scoring_ms, total_ms].every((value) => value === null)) return null;
  return { start_time, generation_ms: generation_ms ?? null, scoring_ms: scoring_ms ?? null, total_ms: total_ms ?? null };
}

/** Fields that are in columns, whole, and repetitions of what is in another. */
const IN_COLUMNS: ReadonlySet<string> = new Set([
  ...["example_id", "rollout_index", "task", "prompt", "completion", "answer", "info", "reward", "error", "stop_condition", "is_completed", "is_truncated"],
  ...["token_usage", "metrics", "tool_defs", "error_chain", "long_error_chain", "generation_ms", "scoring_ms", "total_ms"],
]);
const FLAT_TIMES: ReadonlySet<string> = new Set(["start_time", "generation_ms", "scoring_ms", "total_ms"]);

/** Everything else that the row has, as one JSON text; null where there is nothing. */
function otherText(row: Fields, scores: Fields, metrics: readonly MetricColumn[], raw: ReadonlyMap<string, string>): string | null {
  const inColumn = new Set(metrics.map(({ metric }) => metric));
  const fields: string[] = [];
  for (const [name, text] of raw) {
    if (IN_COLUMNS.has(name) || text === "null") continue;
    // Spans of the parts of a rollout are not in the columns.
    if (name === "timing" && isFields(row.timing) && Object.keys(row.timing).every((part) => FLAT_TIMES.has(part))) continue;
    // Metrics stand beside the fields of a row too.
    if (!STANDARD_FIELDS.has(name) && Object.hasOwn(scores, name) && (scores[name] === row[name] || inColumn.has(name))) continue;
    fields.push(`${JSON.stringify(name)}:${text}`);
  }
  const rest = Object.entries(scores).filter(([name, value]) => value !== null && !(inColumn.has(name) && scoreOrNull(value) !== null));
  if (rest.length > 0) fields.push(`"metrics":${JSON.stringify(Object.fromEntries(rest))}`);
  return fields.length === 0 ? null : `{${fields.join(",")}}`;
}
