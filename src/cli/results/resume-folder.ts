/** Results folders as something to go on with: reading one, and finding the newest unfinished one. */
import { type StoppedRun, stoppedRunIn } from "../../metrics/sequential/stopped-early.ts";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isRunId } from "../../../r2-layout/keys.ts";
import { ABSENT_SETTINGS, plainAddress } from "../../config/plan/evaluation-settings.ts";
import type { JsonObject, ResultsShape } from "../../config/plan/run-config.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import { errorCodeOf } from "../../metrics/row-summary.ts";
import { reasonOf, systemCode, usageError } from "../terminal/cli-error.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import { quoted } from "../../report/text/shell-word.ts";
import { readLines } from "../disk/read-lines.ts";
import { tooOld } from "./old-folder.ts";
import { readPosition } from "./results-folder.ts";
import { countRow, type RowCounts } from "./row-counts.ts";
import { runKeptIn } from "../state/state-folder.ts";

/** `metadata.json`, of ours or of the Python library's. */
export interface FolderMetadata {
  readonly env_id: string;
  readonly env_args: JsonObject;
  readonly model: string;
  readonly base_url: string;
  readonly num_examples: number;
  readonly rollouts_per_example: number;
  readonly sampling_args: JsonObject;
  readonly state_columns: readonly string[];
  readonly pass_threshold: number;
  /** What its rows look like. */
  readonly shape: ResultsShape;
  /** The Python library drew the examples in an order of its own. */
  readonly shuffled: boolean;
  /** Null in folders of the Python library. */
  readonly edgewise: {
    readonly run_id: string | null;
    readonly status: string | null;
    readonly env_version: string | null;
    /** Of the code of its rows, oldest first; empty where it does not say. */
    readonly env_digests: readonly string[];
    readonly dataset_digest: string | null;
    readonly dataset_name: string | null;
    readonly extra_env_kwargs: JsonObject;
    readonly shuffle_seed: number | null;
    readonly cluster_by: string | null;
    /** What else was asked for; empty in folders of before. */
    /** Of a run whose rule to stop by was met. */
    readonly stopped_early: StoppedRun | null;
    readonly settings: JsonObject;
  } | null;
}

export interface FoundFolder {
  readonly path: string;
  /** Null: neither the metadata nor the name of the folder says. */
  readonly runId: string | null;
  /** Null: the command that made the folder was killed before it wrote them; only the service can say what the run is. */
  readonly metadata: FolderMetadata | null;
  /** Why there are no metadata, in words; absent where there are. */
  readonly lacks?: string;
}

/** What `-R` names: a results folder, or the id of a run that the service knows. `state`: the state folder of this machine, which knows where runs are kept. */
export function namedFolder(value: string, cwd: string, state: string | null = null): FoundFolder | { readonly runId: string } {
  const path = resolve(cwd, value);
  if (!isFolder(path)) {
    if (isRunId(value)) return { runId: value };
    throw usageError(`-R/--resume: ${path} is not a folder`, ...wayByState(path, state), NAME_ONE);
  }
  const found = readFolder(path);
  if (typeof found !== "string") return found;
  const readable = existsSync(join(path, "metadata.json")) ? `\`npx edgewise eval view ${quoted(value)}\` can read it.` : NAME_ONE;
  throw usageError(`-R/--resume: ${path} cannot be resumed: ${found}`, ...wayByState(path, state), readable);
}

const NAME_ONE = "Name the folder of a run, the one with results.jsonl and metadata.json in it.";

function wayByState(path: string, state: string | null): readonly string[] {
  const runId = state === null ? null : runKeptIn(state, path);
  return runId === null ? [] : [`The state of this machine has the run that was kept there: -R ${runId} goes on with it, and writes the folder again.`];
}

/** The folder, or what is wrong with it. */
export function readFolder(path: string): FoundFolder | string {
  const written = readPosition(path);
  const missing = ["results.jsonl", "metadata.json"].filter((name) => !isFile(join(path, name)));
  if (missing.length > 0) {
    const lacks = `it has no ${missing.join(" and no ")}`;
    const runId = written?.run_id ?? idWithoutRows(path);
    return runId === null ? lacks : { path, runId, metadata: null, lacks };
  }
  const metadata = readMetadata(join(path, "metadata.json"));
  if (typeof metadata === "string") return written === null ? metadata : { path, runId: written.run_id, metadata: null, lacks: metadata };
  // Another program has gone on with a folder of ours: what the service knows of the run is older than the folder.
  if (metadata.edgewise === null && written !== null) return { path, runId: null, metadata };
  const named = metadata.edgewise?.run_id ?? basename(path);
  return { path, runId: isRunId(named) ? named : null, metadata };
}

/** By its metadata, else by its name. */
function idWithoutRows(path: string): string | null {
  const metadata = isFile(join(path, "metadata.json")) ? readMetadata(join(path, "metadata.json")) : null;
  const named = (typeof metadata === "object" ? metadata?.edgewise?.run_id : null) ?? basename(path);
  return isRunId(named) ? named : null;
}

function readMetadata(path: string): FolderMetadata | string {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return `metadata.json cannot be read: ${reasonOf(error)}`;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) return "metadata.json is not a JSON object";
  const fields = value as Record<string, unknown>;
  const own = objectOf(fields.edgewise);
  const old = own === null ? tooOld(dirname(path), fields) : null;
  if (old !== null) return old;
  if (own?.origin === "imported") return "it was imported from another program's log, which alone can go on with it";
  for (const name of ["env_id", "model"]) if (typeof fields[name] !== "string") return `metadata.json: ${name} is not a string`;
  for (const name of ["num_examples", "rollouts_per_example"]) if (!Number.isInteger(fields[name])) return `metadata.json: ${name} is not a whole number`;
  if (own?.rescored_from !== undefined)
    return "its rollouts are another run's, scored again: only the service that has the run can go on with it, or `npx edgewise rescore` anew";
  const textOf = (text: unknown): string | null => (typeof text === "string" ? text : null);
  return {
    env_id: String(fields.env_id),
    env_args: (objectOf(fields.env_args) ?? {}) as JsonObject,
    model: String(fields.model),
    base_url: textOf(fields.base_url) ?? "",
    num_examples: Number(fields.num_examples),
    rollouts_per_example: Number(fields.rollouts_per_example),
    sampling_args: (objectOf(fields.sampling_args) ?? {}) as JsonObject,
    state_columns: Array.isArray(fields.state_columns) ? fields.state_columns.filter((name): name is string => typeof name === "string") : [],
    pass_threshold: typeof fields.pass_threshold === "number" ? fields.pass_threshold : 0.5,
    shape: shapeOf(fields),
    shuffled: fields.shuffle === true,
    edgewise:
      own === null
        ? null
        : {
            run_id: textOf(own.run_id),
            status: textOf(own.status),
            env_version: textOf(own.env_version),
            env_digests: digestsOf(own),
            dataset_digest: textOf(own.dataset_digest),
            dataset_name: textOf(own.dataset_name),
            extra_env_kwargs: (objectOf(own.extra_env_kwargs) ?? {}) as JsonObject,
            shuffle_seed: typeof own.shuffle_seed === "number" ? own.shuffle_seed : null,
            cluster_by: textOf(own.cluster_by),
            stopped_early: stoppedRunIn(own.stopped_early),
            settings: (objectOf(own.settings) ?? {}) as JsonObject,
          },
  };
}

/** Up to 0.1.9 the metadata said nothing of errors, from 0.1.14 on the time is in seconds. */
export function shapeOf(metadata: Readonly<Record<string, unknown>>): ResultsShape {
  if ("time" in metadata && !("time_ms" in metadata)) return "0.1.14";
  return ["avg_error", "version_info", "edgewise"].some((name) => name in metadata) ? "0.1.13" : "0.1.9";
}

/** The last one is the code that the run was pinned to. */
function digestsOf({ env_digest, env_digests }: Record<string, unknown>): readonly string[] {
  const several = Object.keys(objectOf(env_digests) ?? {});
  return typeof env_digest === "string" && several.at(-1) !== env_digest ? [...several, env_digest] : several;
}

/** Folders below `base` with runs of an environment, of whatever model, newest first. */
export function foldersOfEnvironment(base: string, envId: string): readonly FoundFolder[] {
  const evals = join(base, "evals", ...envId.split("/").slice(0, -1));
  const prefix = `${envId.split("/").at(-1)}--`;
  return foldersIn(evals)
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => foldersIn(join(evals, name)).map((run) => join(evals, name, run)))
    .map((path) => ({ path, changed: statSync(path).mtimeMs }))
    .sort((a, b) => b.changed - a.changed)
    .flatMap(({ path }) => {
      const found = readFolder(path);
      return typeof found === "string" || (found.metadata !== null && found.metadata.env_id !== envId) ? [] : [found];
    });
}

/** The settings of the evaluation as a folder tells them; one that it cannot tell, in folders of before or of the Python library, is as it is by default. */
export function settingsOfFolder(metadata: FolderMetadata): JsonObject {
  const { edgewise } = metadata;
  return {
    ...ABSENT_SETTINGS,
    env_id: metadata.env_id,
    env_args: metadata.env_args,
    model: metadata.model,
    base_url: plainAddress(metadata.base_url),
    rollouts_per_example: metadata.rollouts_per_example,
    sampling_args: ownSampling(metadata.sampling_args),
    state_columns: [...metadata.state_columns],
    ...(edgewise === null
      ? {}
      : { extra_env_kwargs: edgewise.extra_env_kwargs, shuffle_seed: edgewise.shuffle_seed, cluster_by: edgewise.cluster_by, ...edgewise.settings }),
    ...(edgewise?.env_version ? { env_version: edgewise.env_version } : {}),
  };
}

/** Metadata holds what was sent; `n` and an empty `extra_body` are always added there. */
export function ownSampling({ n, extra_body, ...args }: JsonObject): JsonObject {
  const extra = extra_body ?? {};
  return {
    ...args,
    ...(n === undefined || n === 1 ? {} : { n }),
    ...(typeof extra === "object" && extra !== null && Object.keys(extra).length === 0 ? {} : { extra_body: extra }),
  };
}

/** Whether rollouts are missing from a folder or would be run again, as far as its files tell; with `scores`, or scored again if its code were another. `counts`: of its rows, where they have been read. */
export async function isUnfinished(
  { path, metadata }: FoundFolder,
  { num_examples, keep_errors }: GivenOptions,
  scores = false,
  counts: Readonly<RowCounts> | null = null,
): Promise<boolean> {
  if (metadata === null) return true;
  const examples = num_examples === undefined || num_examples < 1 ? metadata.num_examples : num_examples;
  // Not yet counted when the command was killed: the data set had not been read.
  if (examples < 1) return true;
  const again = (each: Readonly<RowCounts>): boolean => keep_errors !== true && (each.infrastructure > 0 || (scores && each.scorer > 0));
  const found = counts ?? (await countRows(join(path, "results.jsonl"), again));
  return again(found) || found.rows < examples * metadata.rollouts_per_example;
}

/** Up to the first line that is no row, or until `enough`. */
async function countRows(path: string, enough: (counts: Readonly<RowCounts>) => boolean): Promise<RowCounts> {
  const counts: RowCounts = { rows: 0, infrastructure: 0, scorer: 0 };
  for await (const line of readLines(path)) {
    if (line.trim() === "") continue;
    const row = parseRow(line);
    if (row === null) break;
    countRow(counts, errorCodeOf(row.error));
    if (enough(counts)) break;
  }
  return counts;
}

/** Rollouts in a folder where none is missing, none would be run again (with `scores`: nor scored again), and nobody was killed while writing; null for any other. */
export async function rolloutsOfWhole(
  path: string,
  { keep_errors }: GivenOptions,
  scores = false,
  counts: Readonly<RowCounts> | null = null,
): Promise<number | null> {
  const found = readFolder(path);
  if (typeof found === "string" || found.metadata === null) return null;
  const { edgewise, num_examples, rollouts_per_example } = found.metadata;
  const written = edgewise === null ? null : readPosition(path);
  if (written !== null && (!written.final || statSync(join(path, "results.jsonl")).size !== written.bytes)) return null;
  return (await isUnfinished(found, { keep_errors: keep_errors === true }, scores, counts)) ? null : num_examples * rollouts_per_example;
}

function parseRow(line: string): Record<string, unknown> | null {
  try {
    return readForeignRow(line).value;
  } catch {
    return null;
  }
}

const objectOf = (value: unknown): Record<string, unknown> | null =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

function foldersIn(path: string): readonly string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}
