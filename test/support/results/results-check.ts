/** Recomputes from the rows of a results folder what its metadata claims. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Aggregates, Aggregator } from "../../../src/metrics/aggregates.ts";
import { summaryOfRow } from "../../../src/metrics/row-summary.ts";

export type JsonRow = Readonly<Record<string, unknown>> & { readonly example_id: number; readonly rollout_index: number; readonly reward: number };

export const jsonRows = (text: string): readonly JsonRow[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonRow);

/** The keys of `metadata.json` that follow from the rows. */
export function aggregatesOf(rows: readonly JsonRow[], rolloutsPerExample: number, passThreshold: number): Record<string, unknown> {
  const aggregator = new Aggregator({ rolloutsPerExample, passThreshold });
  for (let start = 0; start < rows.length; start += rolloutsPerExample)
    aggregator.addUnit(rows.slice(start, start + rolloutsPerExample).map((row) => summaryOfRow(row)));
  const { avg_reward, avg_metrics, avg_error, pass_at_k, pass_all_k, usage }: Aggregates = aggregator.result();
  return { avg_reward, avg_metrics, avg_error, pass_at_k, pass_all_k, usage };
}

/** Plain mean of the rewards, added in the order of the rows. */
export const meanReward = (rows: readonly JsonRow[]): number => rows.reduce((sum, { reward }) => sum + reward, 0) / rows.length;

export const readText = (folder: string, name: string): string => readFileSync(join(folder, name), "utf8");
