import type { Cells } from "./column.ts";
import type { MetricColumn } from "./columns.ts";

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** A row as it stood in `results.jsonl`, as far as numbers are made of it. */
export function rowOfCells(cells: Cells, metrics: readonly MetricColumn[]): Fields {
  const rest = otherMetrics(cells.other);
  const inColumns = metrics.map(({ metric, column }) => [metric, cells[column] ?? null] as const).filter(([, value]) => value !== null);
  const { example_id, prompt, reward, error, token_usage, is_truncated } = cells;
  return { example_id, prompt, reward, error, token_usage, is_truncated, metrics: { ...rest, ...Object.fromEntries(inColumns) } };
}

function otherMetrics(other: unknown): Fields {
  // Of a state column this is no more than a text to look for.
  if (typeof other !== "string" || !other.includes('"metrics":')) return {};
  try {
    const fields: unknown = JSON.parse(other);
    return isFields(fields) && isFields(fields.metrics) ? fields.metrics : {};
  } catch {
    // A changed byte made it no JSON: the row's hash tells which, and the average of the metric that some is missing.
    return {};
  }
}

/**
 * The row with what was asked and answered as well, and what reports say of it beside its numbers; `info` is JSON as text. Messages of a CSV file are JSON as text, and its texts that spreadsheets would run have an apostrophe before
 * them. Throws a `SyntaxError` for messages that cannot be read.
 */
export function rowWithMessages(cells: Cells, metrics: readonly MetricColumn[]): Fields {
  return {
    ...rowOfCells(cells, metrics),
    prompt: messagesOf(cells.prompt),
    completion: messagesOf(cells.completion),
    answer: typeof cells.answer === "string" ? cells.answer.replace(SHIELDED, "") : cells.answer,
    rollout_index: cells.rollout_index,
    info: cells.info,
    task: cells.task,
    stop_condition: cells.stop_condition,
    timing: cells.timing,
  };
}

/** Before what `csvEncoder` takes for a formula. */
const SHIELDED = /^'(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])/;

function messagesOf(cell: unknown): unknown {
  const messages: unknown = typeof cell === "string" ? JSON.parse(cell) : cell;
  if (!Array.isArray(messages)) return messages ?? null;
  return messages.map((message: unknown) => (isFields(message) ? messageOf(message) : message));
}

/** As it stood in the row: a column that it had no field for is null in an export, and content in parts and further fields are JSON as text. */
function messageOf({ content_json: parts, other, ...columns }: Fields): Fields {
  const own = Object.fromEntries(Object.entries(columns).filter(([name, value]) => name === "content" || value !== null));
  const more: unknown = typeof other === "string" ? JSON.parse(other) : null;
  return { ...own, ...(typeof parts === "string" ? { content: JSON.parse(parts) as unknown } : {}), ...(isFields(more) ? more : {}) };
}
