import { benchmark } from "../../../environments/bundled/benchmark/benchmark.ts";
import { type BenchmarkPlaces, namedBenchmark } from "../../datasets/benchmarks-by-id.ts";
import type { GivenOptions } from "../../command-line/flags.ts";
import { usageError } from "../../terminal/cli-error.ts";

/** Where an evaluation looks names up. */
export const placesOf = ({ benchmarks_path: dir, env_dir_path: envDir }: GivenOptions, cwd: string): BenchmarkPlaces => ({ cwd, dir, envDir });

interface Named {
  readonly envId: string;
  readonly given: GivenOptions;
}

/**
 * A benchmark that is named in the place of an environment is played by the environment `benchmark`, which is told where it is; anything else is what
 * it was. Throws usage errors.
 */
export function playedBenchmark({ envId, given }: Named, cwd: string): Named & { readonly benchmark?: string } {
  const found = namedBenchmark(envId, placesOf(given, cwd));
  if (found === null) return { envId, given };
  const { env_args = {} } = given;
  for (const argument of ["path", "dataset"]) {
    if (env_args[argument] === undefined || env_args[argument] === found.path) continue;
    throw usageError(`${envId} is a benchmark, and the argument ${argument} names other tasks`, "Give one of the two.");
  }
  return { envId: benchmark.id, given: { ...given, env_args: { ...env_args, path: found.path } }, benchmark: found.name };
}
