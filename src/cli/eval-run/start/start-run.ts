/** From a command line to a run that works: created, resumed, joined while it works, or made again from a results folder. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { createBody } from "../../../config/plan/creation-body.ts";
import { differencesOf } from "../../../config/plan/evaluation-settings.ts";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import type { GivenOptions } from "../../command-line/flags.ts";
import { expectedSettings, resumeBody } from "../../command-line/request.ts";
import { stopCommand } from "../../command-line/typed-commands.ts";
import type { Evaluation } from "../../connection/api-types.ts";
import { type ServiceClient, ServiceError } from "../../connection/http-client.ts";
import { pause } from "../../connection/pause.ts";
import { type FoundFolder, namedFolder, readFolder } from "../../results/resume-folder.ts";
import { resultsFolderOf } from "../../results/results-folder.ts";
import { rememberedFolder } from "../../state/state-folder.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { createFromFolder } from "./create-from-folder.ts";
import type { RescoreWish } from "../wish/eval-wish.ts";
import { uploadFolder } from "./folder-upload.ts";
import { furtherOf } from "../wish/further.ts";
import { nameOf, uploadDataset } from "../../datasets/dataset-upload.ts";
import { isFailedTakeOver, isWorking, knownRun, type RunWish, type StartedRun } from "../wish/run-wish.ts";
import { unfinishedRun } from "./unfinished-run.ts";

/** A run that is writing its results, or whose open units are ending, is ready for a resume within this time. */
const BUSY_MS = 60_000;

export async function startRun(client: ServiceClient, wish: RunWish, signal: AbortSignal): Promise<StartedRun> {
  const { resume } = wish.given;
  if (wish.dataset !== null) await uploadDataset(client, wish.dataset);
  if (resume === undefined || resume === false) return await create(client, wish, signal);
  if (resume !== true) return await goOnWith(client, wish, namedFolder(resume, wish.cwd), signal);
  const { found, num_examples, passedOver } = await unfinishedRun(client, wish);
  if (found === null) return { ...(await create(client, wish, signal)), passedOver };
  // Each of its settings, addresses among them, is what is asked for now.
  return await goOnWith(client, { ...wish, given: { ...wish.given, num_examples }, agreed: found.path }, found, signal);
}

async function goOnWith(client: ServiceClient, wish: RunWish, found: FoundFolder | { readonly runId: string }, signal: AbortSignal): Promise<StartedRun> {
  const folder = "path" in found ? found : null;
  const known = found.runId === null ? null : await knownRun(client, found.runId);
  // A take-over that failed is tried with the folder as it is now.
  if (known !== null && isFailedTakeOver(known) && folder !== null && folder.metadata !== null) {
    return await createFromFolder(client, wish, { ...folder, runId: null }, folder.metadata, signal);
  }
  if (known !== null) return await goOnWithFurther(client, wish, known, folder, signal);
  if (folder === null)
    throw new CliError(`the service knows no run ${found.runId}`, {
      exitCode: 2,
      hints: ["Name the run's results folder instead: it is enough to go on from."],
    });
  if (folder.metadata === null) {
    throw new CliError(
      `-R/--resume: ${folder.path} cannot be resumed: ${folder.lacks ?? "it has no metadata.json"}, and the service does not know run ${folder.runId}`,
      {
        exitCode: 2,
      },
    );
  }
  return await createFromFolder(client, wish, folder, folder.metadata, signal);
}

/** Goes on with what the service knows, unless the folder is further. */
async function goOnWithFurther(client: ServiceClient, wish: RunWish, known: Evaluation, named: FoundFolder | null, signal: AbortSignal): Promise<StartedRun> {
  const folder = named ?? keptFolder(wish, known);
  // A run that works is writing its folder, and one that takes rows over has those of its folder yet to take.
  if (folder === null || isWorking(known) || known.edgewise.importing === true) return await goOn(client, wish, known, named?.path ?? null, signal);
  const { which, said } = await furtherOf(client, known, folder);
  if (which === "folder" && folder.metadata !== null) {
    return { ...(await createFromFolder(client, wish, { ...folder, runId: null }, folder.metadata, signal)), said };
  }
  return { ...(await goOn(client, wish, known, folder.path, signal)), said };
}

/** The folder that a run named by its id alone will be written to; null where there is none, or nothing is written. */
function keptFolder({ given, stateFolder = null, base }: RunWish, { evaluation_id, metadata }: Evaluation): FoundFolder | null {
  if (given.no_save === true) return null;
  const path =
    (stateFolder === null ? null : rememberedFolder(stateFolder, evaluation_id)) ?? resultsFolderOf(base, metadata.env_id, metadata.model, evaluation_id);
  if (!existsSync(path)) return null;
  const found = readFolder(path);
  if (typeof found === "string") return null;
  if (found.runId !== null && found.runId !== evaluation_id) {
    throw new CliError(`-R/--resume: ${path}, where the results of run ${evaluation_id} were kept, holds those of run ${found.runId} now`, {
      exitCode: 2,
      hints: [`Go on with that one: -R ${found.runId}`, `Or move the folder elsewhere, and type the same again.`],
    });
  }
  return found;
}

async function create(
  client: ServiceClient,
  { reference, given, replicas, commonLimit, preflight, dataset, rescore }: RunWish,
  signal: AbortSignal,
): Promise<StartedRun> {
  const rescoring: JsonObject = rescore === undefined ? {} : { rescore: await rescoreBody(client, rescore, signal) };
  const body: JsonObject = { ...createBody(reference, given, replicas, commonLimit), ...nameOf(dataset), ...rescoring };
  const warnings = (await preflight?.(body.eval_config as JsonObject, String(body.inference_model))) ?? [];
  const { evaluation_id } = await client.createRun(body, randomUUID());
  return { evaluation: await client.run(evaluation_id), folder: null, after: 0, how: "created", owed: null, warnings };
}

/** Rows of one's own are sent before; each example has some, so that none comes before the others. */
const rescoreBody = async (client: ServiceClient, { fields, rows }: RescoreWish, signal: AbortSignal): Promise<JsonObject> =>
  rows === null ? fields : { ...fields, results: await uploadFolder(client, rows, 1, signal) };

/** Resumes a run that the service knows, or joins it where it works already. */
async function goOn(client: ServiceClient, wish: RunWish, known: Evaluation, folder: string | null, signal: AbortSignal): Promise<StartedRun> {
  const { envId, given } = wish;
  const runId = known.evaluation_id;
  for (let now = known, deadline = performance.now() + BUSY_MS; ; now = await client.run(runId)) {
    const after = now.edgewise.seq;
    if (isWorking(now)) {
      mustAgree(now, wish);
      return { evaluation: now, folder, after, how: "joined", owed: null, warnings: [] };
    }
    if (now.edgewise.owed_rollouts > 0 && now.edgewise.rescored_from === undefined) await wish.preflight?.(calledOf(now, given), now.metadata.model);
    try {
      const {
        owed_rollouts,
        owed_scores = 0,
        warnings,
      } = await client.resumeRun(runId, {
        ...resumeBody(envId, given, now.metadata.sampling_args),
        ...(wish.commonLimit === undefined ? {} : { common_limit: wish.commonLimit }),
        ...nameOf(wish.dataset),
      });
      return {
        evaluation: await client.run(runId),
        folder,
        after,
        how: owed_rollouts === 0 ? "nothing owed" : "resumed",
        owed: owed_rollouts,
        scores: owed_scores,
        warnings,
      };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "run_busy" || performance.now() > deadline) throw error;
      await pause(300, signal);
    }
  }
}

/** Where a resume calls the model: another address or key stands for all places. */
function calledOf({ eval_config }: Evaluation, { api_base_url, api_key_var, headers }: GivenOptions): JsonObject {
  const { replicas, ...own } = eval_config;
  const moved = api_base_url !== undefined || api_key_var !== undefined;
  return {
    ...own,
    ...(replicas === undefined || moved ? {} : { replicas }),
    ...(api_base_url === undefined ? {} : { api_base_url }),
    ...(api_key_var === undefined ? {} : { api_key_var }),
    ...(headers === undefined ? {} : { headers }),
  };
}

/** A run that works is not changed by a command that joins it, so everything typed must be as it is. */
function mustAgree({ metadata, evaluation_id, eval_config, edgewise }: Evaluation, { envId, given }: RunWish): void {
  const expected: JsonObject = { env_id: envId, ...expectedSettings(given, metadata.sampling_args) };
  // It may have been asked for more than the data set has.
  if (given.num_examples !== undefined && ![metadata.num_examples, eval_config.num_examples].includes(given.num_examples))
    expected.num_examples = given.num_examples;
  const actual: JsonObject = { extra_env_kwargs: {}, ...(metadata as unknown as JsonObject), ...edgewise.settings };
  const differences = [...differencesOf(actual, expected)];
  // Nobody is told those it has.
  if (given.custom_secrets !== undefined) differences.push("custom_secrets: it keeps those it was given");
  if (differences.length > 0) {
    throw new CliError(`run ${evaluation_id} is working with other settings: ${differences.join("; ")}`, {
      exitCode: 2,
      hints: [`Leave them out to join it, or end it first: ${stopCommand(evaluation_id)}`],
    });
  }
}
