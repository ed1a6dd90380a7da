/** What a results folder says of its rows, held against them before the folder is written again. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type WrongAverage, wrongAverages } from "../../metrics/stated-averages.ts";
import type { RowIndex } from "./row-index.ts";

/** Averages of `metadata.json` that the rows of the folder contradict; none where those were not computed. */
export function wrongAveragesIn(folder: string, { averages }: RowIndex): readonly WrongAverage[] {
  if (averages === null) return [];
  const metadata: unknown = JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8"));
  return wrongAverages(metadata, averages.result());
}
