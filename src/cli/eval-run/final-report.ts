/** The report at the end of a run, made from the rows one by one so that its size does not matter. */
import { join } from "node:path";
import { PlainReport } from "../../report/plain-report.ts";
import { concurrencyText, samplingText } from "../../report/settings.ts";
import type { Evaluation } from "../connection/api-types.ts";
import { chunksOf, type ServiceClient } from "../connection/http-client.ts";
import { readLines } from "../disk/read-lines.ts";

/** How the report is to look. */
export interface ReportStyle {
  /** Columns of the terminal. */
  readonly columns: number;
  /** Without the example. */
  readonly abbreviated: boolean;
}

/** From a folder that is complete. */
export const reportOfFolder = (evaluation: Evaluation, folder: string, style: ReportStyle): Promise<readonly string[]> =>
  reportOf(evaluation, readLines(join(folder, "results.jsonl")), style);

/** From the service, for a run whose files are not kept here. */
export async function reportOfRun(evaluation: Evaluation, client: ServiceClient, style: ReportStyle): Promise<readonly string[]> {
  return reportOf(evaluation, readLines(chunksOf(await client.file(evaluation.evaluation_id, "results.jsonl"))), style);
}

async function reportOf(evaluation: Evaluation, lines: AsyncIterable<string>, { columns, abbreviated }: ReportStyle): Promise<readonly string[]> {
  const report = new PlainReport({ ...evaluation.metadata, settings: settingsOf(evaluation) });
  for await (const line of lines) report.addRow(JSON.parse(line) as Record<string, unknown>);
  return report.lines(columns, abbreviated);
}

/** What was asked for beyond the head of the report. */
function settingsOf({ metadata, eval_config }: Evaluation): readonly string[] {
  const { num_examples, rollouts_per_example, sampling_args, env_args } = metadata;
  const sampling = samplingText(sampling_args);
  return [
    `concurrency: ${concurrencyText(eval_config.max_concurrent, num_examples * rollouts_per_example)}`,
    ...(sampling === null ? [] : [`sampling: ${sampling}`]),
    ...(Object.keys(env_args).length === 0 ? [] : [`environment arguments: ${JSON.stringify(env_args)}`]),
  ];
}
