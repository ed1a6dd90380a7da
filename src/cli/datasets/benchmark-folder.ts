/** Folders that are benchmarks: those with a file of tasks, and those of Harbor. */
import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type BenchmarkMetadata, readBenchmarkMetadata } from "../../benchmarks/benchmark-metadata.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { absolute } from "../environments/find-environment.ts";
import { usageError } from "../terminal/cli-error.ts";
import { harborTasks, harborTasksFile } from "./harbor-folder.ts";

/** The file in a benchmark folder that is played. */
export const TASKS_FILE = "tasks.jsonl";
const METADATA_FILE = "metadata.yaml";

export interface BenchmarkFolder {
  /** What its metadata call it, else what the folder is called. */
  readonly name: string;
  readonly metadata: BenchmarkMetadata;
  /** The file of its tasks. */
  readonly tasks: string;
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/**
 * The benchmark in the folder `path`; null where there is none. Throws a usage error for metadata that cannot be read, and for tasks of Harbor none of which can
 * be played.
 */
export function benchmarkAt(path: string, cwd: string): BenchmarkFolder | null {
  const folder = absolute(path, cwd);
  const own = isFile(join(folder, TASKS_FILE));
  const harbor = own ? [] : harborTasks(folder);
  if (!own && harbor.length === 0) return null;
  const tasks = own ? join(folder, TASKS_FILE) : harborTasksFile(path, harbor, TASKS_FILE);
  const metadata = metadataOf(join(folder, METADATA_FILE));
  return { name: metadata.name ?? basename(folder), metadata, tasks };
}

function metadataOf(path: string): BenchmarkMetadata {
  try {
    return readBenchmarkMetadata(isFile(path) ? readFileSync(path, "utf8") : "", path);
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error;
    throw usageError(error.message, ...(error.hint === undefined ? [] : [error.hint]));
  }
}

/** The tasks of the benchmark that the argument `path` of an environment names; null where it names none. Throws usage errors. */
export const benchmarkTasks = (path: unknown, cwd: string): string | null =>
  typeof path !== "string" || path === "" ? null : (benchmarkAt(path, cwd)?.tasks ?? null);
