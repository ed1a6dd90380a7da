/** From a command line to a run that works: created, resumed, joined while it works, or made again from a results folder. */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalJson } from "../../config/canonical-json.ts";
import { createBody } from "../../config/creation-body.ts";
import type { ReplicaBody } from "../../config/endpoint-choice.ts";
import type { Json, JsonObject } from "../../config/run-config.ts";
import type { Evaluation } from "../connection/api-types.ts";
import { CliError } from "../terminal/cli-error.ts";
import { stopCommand } from "../command-line/typed-commands.ts";
import { describeDataset, type LocalDataset, uploadDataset } from "./dataset-upload.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import { type ServiceClient, ServiceError } from "../connection/http-client.ts";
import { pause } from "../connection/pause.ts";
import { expectedSettings, resumeBody } from "../command-line/request.ts";
import { type FolderMetadata, type FoundFolder, fittingFolders, isUnfinished, namedFolder } from "../results/resume-folder.ts";
import { sortRows, wholeLinesOf } from "../results/row-file.ts";

/** What is asked for, with data set files replaced by their digests. */
export interface RunWish {
  readonly envId: string;
  /** How a new run asks for the environment: maybe with owner and version. */
  readonly reference: string;
  readonly given: GivenOptions;
  /** Several places that serve the model; empty = the one in `given`. */
  readonly replicas?: readonly ReplicaBody[];
  readonly dataset: LocalDataset | null;
  /** Base of the results, where `-R` without a path looks. */
  readonly base: string;
  readonly cwd: string;
  /** Version of the environment in this installation; null when it has none of that name, or the service is elsewhere. */
  readonly envVersion: string | null;
}

export interface StartedRun {
  readonly evaluation: Evaluation;
  /** Where its results go on; null = the usual place. */
  readonly folder: string | null;
  /** Events up to here happened before this command. */
  readonly after: number;
  readonly how: "created" | "resumed" | "joined" | "nothing owed";
  readonly owed: number | null;
  readonly warnings: readonly string[];
}

/** A run that is writing its results, or whose open units are ending, is ready for a resume within this time. */
const BUSY_MS = 60_000;

export async function startRun(client: ServiceClient, wish: RunWish, signal: AbortSignal): Promise<StartedRun> {
  const { resume } = wish.given;
  if (wish.dataset !== null) await uploadDataset(client, wish.dataset);
  if (resume === undefined || resume === false) return await create(client, wish);
  const found = resume === true ? await newestUnfinished(client, wish) : namedFolder(resume, wish.cwd);
  if (found === null) return await create(client, wish);
  const folder = "path" in found ? found : null;
  const known = found.runId === null ? null : await knownRun(client, found.runId);
  // A take-over that failed is tried with the folder as it is now.
  if (known?.edgewise.settled && known.edgewise.importing === true && folder !== null && folder.metadata !== null) {
    return await createFromFolder(client, wish, { ...folder, runId: null }, folder.metadata);
  }
  if (known !== null) return await goOn(client, wish, known, folder?.path ?? null, signal);
  if (folder === null)
    throw new CliError(`the service knows no run ${found.runId}`, {
      exitCode: 2,
      hints: ["Name the run's results folder instead: it is enough to go on from."],
    });
  if (folder.metadata === null) {
    throw new CliError(`-R/--resume: ${folder.path} cannot be resumed: it has no metadata.json, and the service does not know its run`, { exitCode: 2 });
  }
  return await createFromFolder(client, wish, folder, folder.metadata);
}

async function create(client: ServiceClient, { reference, given, replicas }: RunWish): Promise<StartedRun> {
  const { evaluation_id } = await client.createRun(createBody(reference, given, replicas), randomUUID());
  return { evaluation: await client.run(evaluation_id), folder: null, after: 0, how: "created", owed: null, warnings: [] };
}

async function knownRun(client: ServiceClient, runId: string): Promise<Evaluation | null> {
  try {
    return await client.run(runId);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return null;
    throw error;
  }
}

/** `-R` without a path: the newest run in the results that fits and has something left to do; null = none. */
async function newestUnfinished(client: ServiceClient, { base, envId, given }: RunWish): Promise<FoundFolder | null> {
  for (const found of fittingFolders(base, envId, given)) {
    const known = found.runId === null ? null : await knownRun(client, found.runId);
    const stored = known?.metadata ?? found.metadata;
    if (stored !== null && !measuresTheSame(stored, given)) continue;
    if (known === null ? found.metadata !== null && (await isUnfinished(found, given)) : await hasWork(known, found, given)) return found;
  }
  return null;
}

/** What was typed of arguments and sampling is what the run has: evaluations of one sweep differ in nothing else. */
function measuresTheSame(stored: Pick<FolderMetadata, "env_args" | "sampling_args">, given: GivenOptions): boolean {
  const sampling = ownSampling(stored.sampling_args);
  const { env_args, sampling_args } = expectedSettings(given, sampling);
  const expected = { ...(env_args === undefined ? {} : { env_args }), ...(sampling_args === undefined ? {} : { sampling_args }) };
  return differencesOf({ env_args: stored.env_args, sampling_args: sampling }, expected).length === 0;
}

async function hasWork({ edgewise, metadata }: Evaluation, found: FoundFolder, given: GivenOptions): Promise<boolean> {
  if (!edgewise.settled || edgewise.owed_rollouts > 0) return true;
  const { num_examples } = given;
  if (num_examples !== undefined && num_examples >= 1 && num_examples > metadata.num_examples) return true;
  return await isUnfinished(found, given);
}

/** Resumes a run that the service knows, or joins it where it works already. */
async function goOn(client: ServiceClient, wish: RunWish, known: Evaluation, folder: string | null, signal: AbortSignal): Promise<StartedRun> {
  const { envId, given } = wish;
  const runId = known.evaluation_id;
  for (let now = known, deadline = Date.now() + BUSY_MS; ; now = await client.run(runId)) {
    const after = now.edgewise.seq;
    if (isWorking(now)) {
      mustAgree(now, wish);
      return { evaluation: now, folder, after, how: "joined", owed: null, warnings: [] };
    }
    try {
      const { owed_rollouts, warnings } = await client.resumeRun(runId, resumeBody(envId, given, now.metadata.sampling_args));
      return { evaluation: await client.run(runId), folder, after, how: owed_rollouts === 0 ? "nothing owed" : "resumed", owed: owed_rollouts, warnings };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "run_busy" || Date.now() > deadline) throw error;
      await pause(300, signal);
    }
  }
}

const isWorking = ({ edgewise }: Evaluation): boolean => !edgewise.suspended && (edgewise.phase === "preparing" || edgewise.phase === "open");

/** A run that works is not changed by a command that joins it, so everything typed must be as it is. */
function mustAgree({ metadata, evaluation_id }: Evaluation, { envId, given }: RunWish): void {
  const expected: JsonObject = { env_id: envId, ...expectedSettings(given, metadata.sampling_args) };
  if (given.num_examples !== undefined && given.num_examples !== metadata.num_examples) expected.num_examples = given.num_examples;
  const actual: JsonObject = { extra_env_kwargs: {}, ...(metadata as unknown as JsonObject) };
  const differences = differencesOf(actual, expected);
  if (differences.length > 0) {
    throw new CliError(`run ${evaluation_id} is working with other settings: ${differences.join("; ")}`, {
      exitCode: 2,
      hints: [`Leave them out to join it, or end it first: ${stopCommand(evaluation_id)}`],
    });
  }
}

/** One text per field that differs, with both values. */
export function differencesOf(actual: JsonObject, expected: JsonObject): readonly string[] {
  return Object.entries(expected).flatMap(([field, value]) => {
    const own = (actual[field] ?? null) as Json;
    return canonicalJson(own) === canonicalJson(value) ? [] : [`${field}: the run has ${canonicalJson(own)}, this command ${canonicalJson(value)}`];
  });
}

/** The folder is all that is left of the run: its rows are uploaded and taken over by a run of the same id. */
async function createFromFolder(client: ServiceClient, wish: RunWish, { path, runId }: FoundFolder, metadata: FolderMetadata): Promise<StartedRun> {
  const { envId, given, replicas, envVersion } = wish;
  if (metadata.shuffled) {
    throw new CliError(`-R/--resume: the examples of ${path} were shuffled by the Python library, and no other program knows that order`, {
      exitCode: 2,
      hints: ["Go on with it there, or start a new run."],
    });
  }
  const sampling = ownSampling(metadata.sampling_args);
  const expected: JsonObject = { env_id: envId, ...expectedSettings(given, sampling) };
  const kwargs = metadata.edgewise?.extra_env_kwargs ?? given.extra_env_kwargs ?? {};
  const seed = metadata.edgewise?.shuffle_seed ?? null;
  const actual: JsonObject = { ...(metadata as unknown as JsonObject), sampling_args: sampling, extra_env_kwargs: kwargs, shuffle_seed: seed };
  const stored = metadata.edgewise?.env_version ?? null;
  if (stored !== null && envVersion !== null) {
    expected.env_version = envVersion;
    actual.env_version = stored;
  }
  const differences = [...differencesOf(actual, expected)];
  const { num_examples = metadata.num_examples } = given;
  if (num_examples >= 1 && num_examples < metadata.num_examples) {
    differences.push(`num_examples: the run has ${metadata.num_examples}, this command ${num_examples}; a run can only grow`);
  }
  if (differences.length > 0)
    throw new CliError(`this is another evaluation: ${differences.join("; ")}`, { exitCode: 2, hints: ["Use the same settings, or start a new run."] });

  await mustHaveDataset(client, given.env_args ?? metadata.env_args);
  const results = await uploadRows(client, join(path, "results.jsonl"));
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
    state_columns: given.state_columns ?? [...metadata.state_columns],
  };
  const body = createBody(envId, settings, replicas);
  const { evaluation_id } = await client.createRun(
    {
      ...body,
      resume_from: {
        run_id: runId ?? randomBytes(4).toString("hex"),
        results,
        dataset_digest: metadata.edgewise?.dataset_digest ?? null,
        keep_errors: given.keep_errors ?? false,
        ...(metadata.shape === "0.1.13" ? {} : { results_shape: metadata.shape }),
      },
    },
    randomUUID(),
  );
  return { evaluation: await client.run(evaluation_id), folder: path, after: 0, how: "resumed", owed: null, warnings: endpointWarnings(given, metadata) };
}

/** The digest under which the service has the rows, in the order of a finished run. */
async function uploadRows(client: ServiceClient, path: string): Promise<string> {
  const length = await wholeLinesOf(path);
  const folder = await mkdtemp(join(tmpdir(), "edgewise-"));
  try {
    const sorted = join(folder, "results.jsonl");
    const rows = (await sortRows(path, length, sorted)) ? await describeDataset(sorted) : await describeDataset(path, length);
    await uploadDataset(client, rows);
    return rows.digest;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function endpointWarnings({ api_base_url }: GivenOptions, { base_url }: FolderMetadata): readonly string[] {
  return api_base_url === undefined || api_base_url === base_url
    ? []
    : [`base_url changes from ${base_url} to ${api_base_url}; earlier rollouts were made at the former.`];
}

/** Metadata holds what was sent; `n` and an empty `extra_body` are always added there. */
function ownSampling({ n, extra_body, ...args }: JsonObject): JsonObject {
  const extra = extra_body ?? {};
  return {
    ...args,
    ...(n === undefined || n === 1 ? {} : { n }),
    ...(typeof extra === "object" && extra !== null && Object.keys(extra).length === 0 ? {} : { extra_body: extra }),
  };
}

/** An upload goes with the state folder; better to say so now than to fail when the data set is read. */
async function mustHaveDataset(client: ServiceClient, { dataset }: JsonObject): Promise<void> {
  const digest = typeof dataset === "string" ? /^sha256:([0-9a-f]{64})$/.exec(dataset)?.[1] : undefined;
  if (digest === undefined || (await client.hasDataset(digest))) return;
  throw new CliError(`the data set of this run (sha256:${digest.slice(0, 12)}…) is not in the service any more`, {
    exitCode: 2,
    hints: [`Name the same file again: -a '{"dataset": "<path of the file>"}'`],
  });
}
