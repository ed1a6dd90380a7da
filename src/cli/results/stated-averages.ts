/** What a results folder says of its rows, held against them before the folder is written again. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Aggregator } from "../../metrics/aggregates.ts";
import { summaryOfRow } from "../../metrics/row-summary.ts";
import { type WrongAverage, wrongAverages } from "../../metrics/stated-averages.ts";
import { readForeignRow } from "../../rollouts/foreign-row.ts";
import { readLines } from "../disk/read-lines.ts";

/** Averages of `metadata.json` that the rows of the folder contradict. Lines that are no rows are whoever reads them next's to refuse. */
export async function wrongAveragesIn(folder: string): Promise<readonly WrongAverage[]> {
  const metadata: unknown = JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8"));
  // Averages only: each row is an example of its own.
  const rows = new Aggregator({ rolloutsPerExample: 1, passThreshold: 1 });
  for await (const line of readLines(join(folder, "results.jsonl"))) {
    const summary = summaryOf(line);
    if (summary !== null) rows.addUnit([summary]);
  }
  return wrongAverages(metadata, rows.result());
}

function summaryOf(line: string): ReturnType<typeof summaryOfRow> | null {
  try {
    return summaryOfRow(readForeignRow(line).value);
  } catch {
    return null;
  }
}
