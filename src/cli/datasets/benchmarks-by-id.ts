/** Benchmarks that are named by an id: the folders in a folder of benchmarks. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { nearest } from "../../config/nearest.ts";
import { OPTIONS } from "../../config/options/options.ts";
import { listEnvironments } from "../../environments/definition/load.ts";
import { absolute, environmentFile, holdsEnvironment, isPath } from "../environments/find-environment.ts";
import { CliError } from "../terminal/cli-error.ts";
import { benchmarkAt, type BenchmarkFolder } from "./benchmark-folder.ts";

/** Where names are looked up. */
export interface BenchmarkPlaces {
  readonly cwd: string;
  /** The folder of benchmarks; absent = `./benchmarks`. */
  readonly dir?: string | undefined;
  /** The folder of environments; absent = `./environments`. */
  readonly envDir?: string | undefined;
}

/** A benchmark that was named in the place of an environment. */
export interface NamedBenchmark {
  readonly name: string;
  /** Its folder, as the argument `path` says it. */
  readonly path: string;
}

/**
 * The benchmark that `named` is the path or the id of; null where it is something else. A folder with a module of an environment is that environment, whatever data
 * lies beside it, and an environment's id is the environment's. Throws a usage error for one that cannot be played.
 */
export function namedBenchmark(named: string, places: BenchmarkPlaces): NamedBenchmark | null {
  const { cwd, envDir } = places;
  if (isPath(named)) {
    const found = holdsEnvironment(absolute(named, cwd)) ? null : benchmarkAt(named, cwd);
    return found === null ? null : { name: found.name, path: named };
  }
  if (listEnvironments().some(({ id }) => id === named) || environmentFile(named, cwd, envDir) !== null) return null;
  const path = benchmarkById(named, places);
  const found = path === null ? null : benchmarkAt(path, cwd);
  return path === null || found === null ? null : { name: found.name, path };
}

/** The folder of the benchmark `id`: the one of that name, else the one whose metadata call it so; null where there is none. */
export function benchmarkById(id: string, places: BenchmarkPlaces): string | null {
  const folders = foldersOf(places);
  const path = folders.find(({ folder }) => folder === id) ?? folders.find(({ benchmark }) => benchmark?.metadata.id === id || benchmark?.metadata.name === id);
  return path?.path ?? null;
}

/** Names of the benchmarks that there are. */
export const benchmarkIds = (places: BenchmarkPlaces): readonly string[] => foldersOf(places).map(({ folder }) => folder);

/** What to say where `id` is nothing that can be run; none where there are no benchmarks. */
export function benchmarkHints(id: string, places: BenchmarkPlaces): readonly string[] {
  const ids = benchmarkIds(places);
  if (ids.length === 0) return [];
  const close = nearest(id, ids);
  return [`Benchmarks in ${dirOf(places)}: ${ids.join(", ")}.${close === null ? "" : ` Did you mean ${close}?`}`];
}

const dirOf = ({ dir = OPTIONS.benchmarks_path.default }: BenchmarkPlaces): string => dir;

interface Folder {
  readonly folder: string;
  readonly path: string;
  /** Null where it cannot be read: it is known by its name, and what is wrong with it is told when that is asked for. */
  readonly benchmark: BenchmarkFolder | null;
}

function foldersOf(places: BenchmarkPlaces): readonly Folder[] {
  const dir = dirOf(places);
  return directoriesIn(absolute(dir, places.cwd)).flatMap((folder): Folder[] => {
    const path = join(dir, folder);
    try {
      const benchmark = benchmarkAt(path, places.cwd);
      return benchmark === null ? [] : [{ folder, path, benchmark }];
    } catch (error) {
      if (error instanceof CliError) return [{ folder, path, benchmark: null }];
      throw error;
    }
  });
}

/** None where there is no such folder. */
function directoriesIn(path: string): readonly string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}
