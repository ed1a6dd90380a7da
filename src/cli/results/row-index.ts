/**
 * One reading of the rows in a results folder: where each lies, and what a resume must know of them. Every row is looked at here, so that a
 * folder which cannot be taken over is refused before anything is sent or asked of a model.
 */
import { errorCodeOf, summaryOfRow } from "../../metrics/row-summary.ts";
import { Aggregator } from "../../metrics/aggregates.ts";
import { type ForeignRow, readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import { usageError } from "../terminal/cli-error.ts";
import { countRow, type RowCounts } from "./row-counts.ts";
import { linesOf } from "./row-lines.ts";

const UNCHANGED = "Resume from an unchanged results folder, or start a new run.";

/** Places of rows, one column per field, since there may be millions; `order` is that of a finished run, by example and attempt. */
export interface RowIndex {
  readonly path: string;
  readonly counts: RowCounts;
  readonly example: readonly number[];
  /** Whether the row ended in any error. */
  readonly failed: readonly boolean[];
  readonly offset: readonly number[];
  /** Without the line end. */
  readonly bytes: readonly number[];
  readonly order: readonly number[];
  /** Averages of all rows; null unless asked for. */
  readonly averages: Aggregator | null;
}

/**
 * Reads the file up to its last whole line. Rows of the Python library carry no `rollout_index`: theirs is their place among the rows of the
 * example, which a stable sort keeps. Throws a usage error that names the line of what is no row, or a row of an attempt from `rollouts` on.
 */
export async function indexRows(path: string, rollouts: number, withAverages: boolean): Promise<RowIndex> {
  const example: number[] = [];
  const attempt: number[] = [];
  const failed: boolean[] = [];
  const offset: number[] = [];
  const bytes: number[] = [];
  const counts: RowCounts = { rows: 0, infrastructure: 0, scorer: 0 };
  // Averages only: each row is an example of its own.
  const averages = withAverages ? new Aggregator({ rolloutsPerExample: 1, passThreshold: 1 }) : null;
  let sorted = true;
  for await (const { text, line, at, length } of linesOf(path)) {
    const where = `${path} line ${line}`;
    const { value } = rowOf(text, where);
    const { example_id, rollout_index } = value;
    if (typeof example_id !== "number" || !Number.isSafeInteger(example_id)) throw usageError(`${where} has no example_id`, UNCHANGED);
    if (typeof rollout_index === "number" && !(Number.isSafeInteger(rollout_index) && rollout_index >= 0 && rollout_index < rollouts))
      throw usageError(`${where}: rollout_index ${rollout_index} is not below rollouts_per_example ${rollouts}`, UNCHANGED);
    const code = errorCodeOf(value.error);
    countRow(counts, code);
    averages?.addUnit([summaryOfRow(value)]);
    const number = typeof rollout_index === "number" ? rollout_index : 0;
    const before = example.length - 1;
    sorted &&= before < 0 || (example[before] ?? 0) < example_id || (example[before] === example_id && (attempt[before] ?? 0) <= number);
    example.push(example_id);
    attempt.push(number);
    failed.push(code !== null);
    offset.push(at);
    bytes.push(length);
  }
  const order = Array.from(example, (_, index) => index);
  if (!sorted) order.sort((a, b) => (example[a] ?? 0) - (example[b] ?? 0) || (attempt[a] ?? 0) - (attempt[b] ?? 0) || a - b);
  return { path, counts, example, failed, offset, bytes, order, averages };
}

function rowOf(text: string, where: string): ForeignRow {
  try {
    return readForeignRow(text);
  } catch {
    throw usageError(`${where} is not JSON`, UNCHANGED);
  }
}
