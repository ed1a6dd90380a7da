/** A results folder that is all that is left of its run, or that the Python library wrote, becomes a run of the service. */
import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { createBody } from "../../../config/plan/creation-body.ts";
import { ABSENT_SETTINGS, differencesOf } from "../../../config/plan/evaluation-settings.ts";
import { type JsonObject, LOADING_FIELDS } from "../../../config/plan/run-config.ts";
import { NO_STOP_RULE } from "../../../config/options/stop-rule.ts";
import { stoppedText } from "../../../metrics/sequential/stopped-early.ts";
import type { GivenOptions } from "../../command-line/flags.ts";
import { expectedSettings } from "../../command-line/request.ts";
import type { ServiceClient } from "../../connection/http-client.ts";
import { type FolderMetadata, type FoundFolder, isUnfinished, settingsOfFolder } from "../../results/resume-folder.ts";
import { wrongAveragesIn } from "../../results/stated-averages.ts";
import { wholeLinesOf } from "../../results/row-file.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { nameOf, nameText } from "../../datasets/dataset-upload.ts";
import { rowsOfFolder } from "../early-rows.ts";
import { environmentOfFolder } from "./folder-environment.ts";
import { uploadFolder } from "./folder-upload.ts";
import type { RunWish, StartedRun } from "../wish/run-wish.ts";
import { notAgreed, unnamedPlaces } from "../wish/unnamed-places.ts";

/** The folder is all that is left of the run: its rows are uploaded and taken over by a run of the same id. */
export async function createFromFolder(
  client: ServiceClient,
  wish: RunWish,
  { path, runId }: FoundFolder,
  metadata: FolderMetadata,
  signal: AbortSignal,
): Promise<StartedRun> {
  const { envId, given, replicas, commonLimit, envVersion } = wish;
  if (metadata.shuffled) {
    throw new CliError(`-R/--resume: the examples of ${path} were shuffled by the Python library, and no other program knows that order`, {
      exitCode: 2,
      hints: ["Go on with it there, or start a new run."],
    });
  }
  const stopped = metadata.edgewise?.stopped_early ?? null;
  if (stopped !== null && given.stop_when !== NO_STOP_RULE) {
    throw new CliError(`-R/--resume: ${path} is of a run that needs nothing more, and that the service does not know. ${stoppedText(stopped)}`, {
      exitCode: 2,
      hints: [`Play the other examples too: add --stop-when ${NO_STOP_RULE}`],
    });
  }
  const examples = stopped?.of ?? metadata.num_examples;
  const told = settingsOfFolder(metadata);
  const sampling = told.sampling_args as JsonObject;
  const expected: JsonObject = { env_id: envId, ...expectedSettings(given, sampling) };
  // What a folder cannot tell is as this command says.
  const actual: JsonObject = { ...told, ...(metadata.edgewise === null ? untold(given) : {}), order: "data" };
  const kwargs = actual.extra_env_kwargs as JsonObject;
  const seed = metadata.edgewise?.shuffle_seed ?? null;
  if (told.env_version !== undefined && envVersion !== null && given.accept_code_change !== true) expected.env_version = envVersion;
  // A folder without a row is of no data yet: what loads the environment may be another.
  const begun = (await wholeLinesOf(join(path, "results.jsonl"))) > 0;
  if (!begun) for (const name of LOADING_FIELDS) delete expected[name];
  const differences = [...differencesOf(actual, expected)];
  const { num_examples = examples } = given;
  if (num_examples >= 1 && num_examples < examples) {
    differences.push(`num_examples: the run has ${examples}, this command ${num_examples}; a run can only grow`);
  }
  if (differences.length > 0)
    throw new CliError(`this is another evaluation: ${differences.join("; ")}`, { exitCode: 2, hints: ["Use the same settings, or start a new run."] });

  const unnamed = unnamedPlaces(wish, metadata, wish.keyVars);
  if (unnamed.length > 0 && wish.agreed !== path) throw notAgreed(path, unnamed);
  await mustHaveDataset(client, given.env_args ?? metadata.env_args);
  const rows = await (wish.early?.get(path) ?? rowsOfFolder(path, metadata));
  const wrong = wrongAveragesIn(path, rows);
  const settings = {
    ...given,
    env_args: given.env_args ?? metadata.env_args,
    model: given.model ?? metadata.model,
    // The Python library joins the addresses of replicas.
    api_base_url: given.api_base_url ?? (metadata.base_url.split(",")[0] || undefined),
    num_examples,
    rollouts_per_example: given.rollouts_per_example ?? metadata.rollouts_per_example,
    sampling_args: (expected.sampling_args ?? sampling) as JsonObject,
    ...(Object.keys(kwargs).length === 0 ? {} : { extra_env_kwargs: kwargs }),
    ...(seed === null ? {} : { shuffle: true, shuffle_seed: seed }),
    ...(typeof actual.cluster_by === "string" ? { cluster_by: given.cluster_by ?? actual.cluster_by } : {}),
    state_columns: given.state_columns ?? [...metadata.state_columns],
    ...reachOf(actual, given),
  };
  const body = createBody(environmentOfFolder(wish, metadata), settings, replicas, commonLimit);
  // A folder in which nothing is missing needs no model.
  const terms = { num_examples, keep_errors: given.keep_errors === true };
  const asks = wish.preflight !== undefined && (await isUnfinished({ path, runId, metadata }, terms, false, rows.counts));
  // The folder is on its way while the endpoint is looked at.
  const uploading = uploadFolder(client, rows, metadata.rollouts_per_example, signal);
  uploading.catch(() => undefined);
  if (asks) await wish.preflight?.(body.eval_config as JsonObject, String(body.inference_model));
  const { evaluation_id } = await client.createRun(
    {
      ...body,
      ...(metadata.edgewise?.dataset_name ? { dataset_name: nameText(metadata.edgewise.dataset_name) } : {}),
      ...nameOf(wish.dataset),
      resume_from: {
        run_id: runId ?? randomBytes(4).toString("hex"),
        results: await uploading,
        in_parts: true,
        dataset_digest: begun ? (metadata.edgewise?.dataset_digest ?? null) : null,
        keep_errors: given.keep_errors ?? false,
        ...(!begun || metadata.edgewise === null || metadata.edgewise.env_digests.length === 0 ? {} : { env_digests: [...metadata.edgewise.env_digests] }),
        ...(given.accept_code_change === true ? { accept_code_change: true } : {}),
        // Before the data set had been read a folder of ours only knew how many were asked for.
        ...(!begun || metadata.edgewise?.dataset_digest === null || examples < 0 ? {} : { num_examples: examples }),
        ...(metadata.shape === "0.1.13" ? {} : { results_shape: metadata.shape }),
      },
    },
    randomUUID(),
  );
  return {
    evaluation: await client.run(evaluation_id),
    folder: path,
    after: 0,
    how: "resumed",
    owed: null,
    warnings: [...endpointWarnings(given, metadata), ...ruleWarnings(told)],
    wrongAverages: wrong,
    rows: rows.counts,
  };
}

const untold = ({ extra_env_kwargs, api_client_type, independent_scoring, cluster_by }: GivenOptions): JsonObject =>
  Object.fromEntries(
    Object.entries({ extra_env_kwargs, api_client_type, independent_scoring, cluster_by }).filter(([, value]) => value !== undefined),
  ) as JsonObject;

/** Of a folder, in the form in which a creation takes them; headers may be others now, the rest agrees with what was typed. */
function reachOf({ api_client_type, independent_scoring, headers, headers_from_state }: JsonObject, given: GivenOptions): GivenOptions {
  const other = {
    ...(api_client_type === ABSENT_SETTINGS.api_client_type ? {} : { api_client_type }),
    ...(independent_scoring === true ? { independent_scoring } : {}),
  };
  const filled = Object.entries({ headers, headers_from_state }).filter(([, table]) => Object.keys(table as object).length > 0);
  return { ...Object.fromEntries(filled), ...other, ...headersOf(given) } as GivenOptions;
}

const headersOf = ({ headers, headers_from_state }: GivenOptions): GivenOptions => ({
  ...(headers === undefined ? {} : { headers }),
  ...(headers_from_state === undefined ? {} : { headers_from_state }),
});

function endpointWarnings({ api_base_url }: GivenOptions, { base_url }: FolderMetadata): readonly string[] {
  return api_base_url === undefined || api_base_url === base_url
    ? []
    : [`base_url changes from ${base_url} to ${api_base_url}; earlier rollouts were made at the former.`];
}

/** What is left is no random part of what was drawn for the rule. */
const ruleWarnings = ({ stop_when }: JsonObject): readonly string[] =>
  typeof stop_when === "string" ? [`The run was to stop by ${stop_when}; gone on with from its folder alone it plays all of its examples.`] : [];

/** An upload goes with the state folder; better to say so now than to fail when the data set is read. */
async function mustHaveDataset(client: ServiceClient, { dataset }: JsonObject): Promise<void> {
  const digest = typeof dataset === "string" ? /^sha256:([0-9a-f]{64})$/.exec(dataset)?.[1] : undefined;
  if (digest === undefined || (await client.hasDataset(digest))) return;
  throw new CliError(`the data set of this run (sha256:${digest.slice(0, 12)}…) is not in the service any more`, {
    exitCode: 2,
    hints: [`Name the same file again: -a '{"dataset": "<path of the file>"}'`],
  });
}
