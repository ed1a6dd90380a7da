/** Folders that are benchmarks: those whose tasks are a file here, and those of Harbor, whose tasks need a container. */
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { absolute, holdsEnvironment, isPath } from "../environments/find-environment.ts";
import { usageError } from "../terminal/cli-error.ts";

/** The file in a benchmark folder that is read. */
export const TASKS_FILE = "tasks.jsonl";

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Whether `folder` holds a benchmark's tasks. */
export const isBenchmarkFolder = (folder: string): boolean => isFile(join(folder, TASKS_FILE));

/** The tasks of the benchmark folder `path`; null where it is none. Throws a usage error for a task of Harbor: its verifier is a script in a container. */
export function benchmarkTasks(path: unknown, cwd: string): string | null {
  if (typeof path !== "string" || path === "") return null;
  const folder = absolute(path, cwd);
  if (isBenchmarkFolder(folder)) return join(folder, TASKS_FILE);
  if (isFile(join(folder, "task.toml")) && isFile(join(folder, "instruction.md"))) {
    throw usageError(
      `${path} is a task of Harbor: it is verified by a script in a container, and none is started here; nothing was run`,
      "Tasks whose verifier is a function or a judge can be written as lines of a tasks.jsonl (docs/benchmarks.md).",
    );
  }
  return null;
}

/** A benchmark that was named in the place of an environment. */
export interface NamedBenchmark {
  readonly name: string;
  /** As it was named. */
  readonly path: string;
}

/**
 * The benchmark that `named` is the path of; null where it is something else. A folder with a module of an environment is that environment, whatever data lies
 * beside it. Throws a usage error for a task of Harbor.
 */
export function namedBenchmark(named: string, cwd: string): NamedBenchmark | null {
  if (!isPath(named)) return null;
  const folder = absolute(named, cwd);
  if (holdsEnvironment(folder) || benchmarkTasks(named, cwd) === null) return null;
  return { name: basename(folder), path: named };
}
