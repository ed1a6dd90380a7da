/** The report at the end of a run, made from the rows one by one so that its size does not matter. */
import { join } from "node:path";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import { codesText } from "../../report/text/code-text.ts";
import { severalModelsText } from "../../report/text/response-models-text.ts";
import { rescoredText } from "../../report/rescored-text.ts";
import type { WrongAverage } from "../../metrics/stated-averages.ts";
import { wrongAveragesText } from "../../report/statistics/wrong-averages.ts";
import { PlainReport } from "../../report/plain-report.ts";
import { argumentsText, concurrencyText, datasetText, notRunText, optionsText, samplingText } from "../../report/settings.ts";
import { knownKeysText, unknownKeyText } from "../../report/statistics/unknown-key-text.ts";
import { flagName } from "../command-line/flags.ts";
import type { Evaluation } from "../connection/api-types.ts";
import { chunksOf, type ServiceClient } from "../connection/http-client.ts";
import { readLines } from "../disk/read-lines.ts";
import { CliError } from "../terminal/cli-error.ts";

/** How the report is to look. */
export interface ReportStyle {
  /** Columns of the terminal. */
  readonly columns: number;
  /** Without the example. */
  readonly abbreviated: boolean;
  /** With the values of every attempt. */
  readonly verbose: boolean;
  /** By which key the reward is broken down. */
  readonly by?: string | undefined;
  /** Of a folder that was gone on with, as it was found. */
  readonly wrongAverages: readonly WrongAverage[];
  /** The folder whose rows were scored again; null = none was, or none that this command knows. */
  readonly rescoredFolder: string | null;
  /** This command found nothing to do: there is no time that it took. */
  readonly rested: boolean;
}

export interface FinalReport {
  readonly lines: readonly string[];
  /** 95 % interval of the mean reward; null where there is none. */
  readonly interval: readonly [number, number] | null;
  /** What of it could not be made as was asked; there is no breakdown by a key that no row has. */
  readonly problems: readonly string[];
  /** What the newest generation of the run took; null where it has not ended, or was not this command's. */
  readonly seconds: number | null;
}

/** From a folder that is complete. */
export const reportOfFolder = (evaluation: Evaluation, folder: string, style: ReportStyle): Promise<FinalReport> =>
  reportOf(evaluation, () => readLines(join(folder, "results.jsonl")), folder, style);

/** From the service, for a run whose files are not kept here. */
export async function reportOfRun(evaluation: Evaluation, client: ServiceClient, style: ReportStyle): Promise<FinalReport> {
  const chunks = async () => chunksOf(await client.file(evaluation.evaluation_id, "results.jsonl"));
  return await reportOf(
    evaluation,
    async function* () {
      yield* readLines(await chunks());
    },
    null,
    style,
  );
}

async function reportOf(evaluation: Evaluation, lines: () => AsyncIterable<string>, place: string | null, style: ReportStyle): Promise<FinalReport> {
  const { columns, abbreviated, verbose, by, wrongAverages, rescoredFolder, rested } = style;
  const wrong = wrongAveragesText(wrongAverages);
  const seconds = rested ? null : secondsTaken(evaluation);
  const report = new PlainReport({
    ...evaluation.metadata,
    grouping_problem: evaluation.edgewise.grouping_problem,
    stopped_early: evaluation.edgewise.stopped_early,
    settings: [...settingsOf(evaluation, rescoredFolder), ...(wrong === null ? [] : [wrong])],
    seconds,
    verbose,
    by,
  });
  let number = 0;
  for await (const line of lines()) {
    number++;
    try {
      report.addRow(readForeignRow(line).value);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw damagedRow(evaluation, place, number, error);
    }
  }
  const unknown = report.unknownKeys().find(([name]) => name === "by");
  if (unknown !== undefined) {
    const problems = [`error: ${unknownKeyText(flagName("by"), unknown[1])}`, `  ${knownKeysText(unknown[1])}`, REPORT_AGAIN];
    return { ...(await reportOf(evaluation, lines, place, { ...style, by: undefined })), problems };
  }
  const interval = evaluation.edgewise.stopped_early?.reward_ci95 ?? report.result().reward_ci95;
  return { lines: report.lines(columns, abbreviated), interval, problems: [], seconds };
}

const REPORT_AGAIN = "  The run is as it should be; its report by another key: npx edgewise eval report RUN|FOLDER --by KEY";

/** Every row was whole when it was stored, so its bytes have changed since: on the disk, or by a hand. */
function damagedRow({ evaluation_id, metadata }: Evaluation, folder: string | null, number: number, cause: SyntaxError): CliError {
  const file = folder === null ? `results.jsonl of run ${evaluation_id}` : join(folder, "results.jsonl");
  const hints =
    folder === null
      ? ["The state of the service is damaged; rows that can be read are given by `npx edgewise eval samples`."]
      : [`Remove that line, then make its rollout again: npx edgewise eval run ${metadata.env_id} -R ${folder} --fresh-state`];
  return new CliError(`${file}, line ${number}, is no row: what was stored of it has been damaged (${cause.message})`, { hints, cause });
}

const secondsTaken = ({ started_at, finalized_at }: Evaluation): number | null =>
  started_at === null || finalized_at === null ? null : (Date.parse(finalized_at) - Date.parse(started_at)) / 1000;

/** What was asked for beyond the head of the report. */
function settingsOf({ evaluation_id, metadata, eval_config, edgewise }: Evaluation, rescoredFolder: string | null): readonly string[] {
  const { num_examples, rollouts_per_example, sampling_args, env_args, extra_env_kwargs } = metadata;
  const { dataset_name, dataset_digest } = edgewise;
  const line = (name: string, value: string | null): readonly string[] => (value === null ? [] : [`${name}: ${value}`]);
  return [
    ...line("dataset", datasetText(dataset_name, dataset_digest)),
    ...line("not run", notRunText(edgewise.n_not_run)),
    `concurrency: ${concurrencyText(eval_config.max_concurrent, num_examples * rollouts_per_example)}`,
    ...line("sampling", samplingText(sampling_args)),
    ...line("environment arguments", argumentsText(env_args, dataset_name)),
    ...line("environment options", optionsText(extra_env_kwargs)),
    ...line("code", codesText(edgewise.env_digests)),
    ...line("answered by", severalModelsText(edgewise.response_models)),
    ...line("scored again", rescoredText(edgewise.rescored_from, evaluation_id, num_examples, rescoredFolder)),
    ...line("stops when", typeof eval_config.stop_when === "string" ? `${eval_config.stop_when} (alpha ${eval_config.stop_alpha})` : null),
  ];
}
