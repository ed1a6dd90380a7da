import type { JsonObject } from "../../../config/plan/run-config.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import type { RowSource } from "../../definition/examples.ts";

/**
 * Rows of a data set as samples, one after another: an evaluation of a whole corpus holds one row of it. `once`: a column of which rows that follow each other with the same value
 * are one sample.
 */
export async function* samplesOf<Sample>(rows: RowSource, read: (row: JsonObject, index: number) => Sample, once?: string): AsyncGenerator<Sample> {
  let index = -1;
  let before: unknown;
  for await (const row of rows(-1)) {
    index += 1;
    const value = once === undefined ? undefined : row[once];
    if (value !== undefined && value === before) continue;
    before = value;
    yield read(row, index);
  }
}

/** For evaluations whose samples come from a stream. */
export const STREAMED = (): never => {
  throw new TypeError("its samples are read from a stream: use samples()");
};

/** The text in a column. Throws `dataset_unreadable` naming the row. */
export function textIn(row: JsonObject, column: string, index: number): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw unreadable(row, index, `has no text in ${column}`);
}

export const unreadable = (row: JsonObject, index: number, problem: string): EdgewiseError =>
  new EdgewiseError("dataset_unreadable", `data set row ${index}: it ${problem} (it has ${Object.keys(row).slice(0, 20).join(", ")})`, {
    hint: 'columns under other names are given as env_args {"dataset_columns": {"question": "problem"}}',
  });
