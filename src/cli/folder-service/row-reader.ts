import type { JsonObject } from "../../config/plan/run-config.ts";
import { isEpisode } from "../../imports/traces/episode.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import { rowText } from "../../rollouts/rows/row-text.ts";
import { rowOfLine, TRACES } from "../view/trace-folder.ts";

/** A line of a folder as the row that is shown of it. */
export interface LineRow {
  readonly value: JsonObject;
  readonly text: string;
  /** The text is another than that of the line: the line is of traces, or holds what JSON does not know. */
  readonly isChanged: boolean;
}

/** How lines of a file of this name become rows; what it gives throws a `SyntaxError` for what is no JSON object. */
export function rowReader(file: string): (line: Buffer) => LineRow {
  const isTraces = file === TRACES;
  return (line) => {
    const given = line.toString("utf8");
    const { text, value } = readForeignRow(given);
    if (!isTraces || !isEpisode(value)) return { value, text, isChanged: text !== given.trim() };
    const row = rowOfLine(value) as JsonObject;
    return { value: row, text: rowText(row), isChanged: true };
  };
}
