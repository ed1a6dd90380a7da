/** Data sets in files of this machine: uploaded under their digest, so that the same file is sent once and a changed one is another. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { isDataFileName } from "../../datasets/reference.ts";
import { MAX_BODY_BYTES } from "../../limits.ts";
import { singleLine } from "../../report/text/printable.ts";
import { CliError, EXIT, reasonOf, usageError } from "../terminal/cli-error.ts";
import { benchmarkTasks } from "./benchmark-folder.ts";
import { firstBytes } from "../disk/files.ts";
import type { ServiceClient } from "../connection/http-client.ts";

export interface LocalDataset {
  readonly path: string;
  readonly digest: string;
  readonly bytes: number;
}

/** The file that the argument `dataset` names, or the tasks of the benchmark folder that `path` does; null when it names something else (a URL, a digest, nothing). */
export function datasetPath(envArgs: JsonObject, cwd: string): string | null {
  const dataset = envArgs.dataset ?? benchmarkTasks(envArgs.path, cwd);
  if (typeof dataset !== "string" || dataset === "") return null;
  const path = dataset === "~" || dataset.startsWith("~/") ? join(homedir(), dataset.slice(1)) : resolve(cwd, dataset);
  if (/^[./~]/.test(dataset)) return path;
  if (/^([a-z][a-z0-9+.-]*:\/\/|sha256:)/i.test(dataset)) return null;
  // A name with the ending of a data file is meant as one, also when it is misspelt; a folder that is called like a data set of the
  // Hugging Face Hub is none.
  return isDataFileName(dataset) || statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : null;
}

/** Refuses a file that cannot be sent, before anything is started for it. `length`: how much of it is meant. */
export function checkDataset(path: string, length?: number): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) {
    throw usageError(`the data set ${path} does not exist`, `Paths are taken from the current folder. Example: -a '{"dataset": "data/test.jsonl"}'`);
  }
  if (!stat.isFile()) throw usageError(`the data set ${path} is not a file`);
  const bytes = length ?? stat.size;
  if (bytes > MAX_BODY_BYTES) {
    throw usageError(`${path} has ${bytes} bytes; uploads take at most ${MAX_BODY_BYTES}`, "Shorten it, or put it on a web server and name its https URL.");
  }
}

/** Reads a file, or its first `length` bytes, once for its digest. */
export async function describeDataset(path: string, length?: number): Promise<LocalDataset> {
  checkDataset(path, length);
  const bytes = length ?? statSync(path).size;
  try {
    return { path, digest: await digestOf(path, bytes), bytes };
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${reasonOf(error)}`, { exitCode: EXIT.usage, cause: error });
  }
}

/** sha256 in hex of the first `bytes` bytes, streamed. */
async function digestOf(path: string, bytes: number): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of firstBytes(path, bytes)) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}

/** What it is called, for the body of a creation; an upload has a digest alone. */
export const nameOf = (dataset: Pick<LocalDataset, "path"> | null): { readonly dataset_name?: string } =>
  dataset === null ? {} : { dataset_name: nameText(basename(dataset.path)) };

/** A name as the service takes it, whatever a file system or a folder calls it. */
export const nameText = (name: string): string => singleLine(name).slice(0, MAX_NAME).toWellFormed();

/** Characters of a name that the service takes. */
const MAX_NAME = 200;

/** Uploads the file unless the service has it. */
export async function uploadDataset(client: ServiceClient, { digest, path, bytes }: LocalDataset): Promise<void> {
  if (!(await client.hasDataset(digest))) await client.putDataset(digest, path, bytes);
}
