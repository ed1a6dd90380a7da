import { benchmark } from "../../../environments/bundled/benchmark/benchmark.ts";
import { namedBenchmark } from "../../datasets/benchmark-folder.ts";
import type { GivenOptions } from "../../command-line/flags.ts";
import { usageError } from "../../terminal/cli-error.ts";

interface Named {
  readonly envId: string;
  readonly given: GivenOptions;
}

/**
 * A benchmark folder that is named in the place of an environment is played by the environment `benchmark`, which is told where it is; anything else is what
 * it was. Throws usage errors.
 */
export function playedBenchmark({ envId, given }: Named, cwd: string): Named & { readonly benchmark?: string } {
  const found = namedBenchmark(envId, cwd);
  if (found === null) return { envId, given };
  const { env_args = {} } = given;
  for (const argument of ["path", "dataset"]) {
    if (env_args[argument] === undefined || env_args[argument] === found.path) continue;
    throw usageError(`${envId} is a benchmark folder, and the argument ${argument} names other tasks`, "Give one of the two.");
  }
  return { envId: benchmark.id, given: { ...given, env_args: { ...env_args, path: found.path } }, benchmark: found.name };
}
