/** `edgewise eval view [PATH]`: results folders of this machine, whoever wrote them, on a terminal. */
import { resolve } from "node:path";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";
import { findRuns, type Places } from "./find-runs.ts";
import { plainRun, plainTree } from "./plain.ts";
import { show } from "./show.ts";

export async function evalView({ cwd, env, terminal }: CommandContext, places: Places): Promise<ExitCode> {
  const runs = findRuns(cwd, places);
  const [first] = runs;
  if (first === undefined) throw nothingFound(places);
  // A run that was named is opened at once, without the tree of which it would be the only leaf.
  const named = runs.length === 1 && places.path !== null && resolve(cwd, places.path).startsWith(first.path) ? first : null;
  const { stdin, stdout } = process;
  if (stdin.isTTY && stdout.isTTY && env.TERM !== undefined && env.TERM !== "dumb") {
    await show(runs, named, { input: stdin, output: stdout, colours: (env.NO_COLOR ?? "") === "" });
    return EXIT.completed;
  }
  for (const line of named === null ? plainTree(runs) : await plainRun(named, terminal.columns)) terminal.print(line);
  return EXIT.completed;
}

/** `command`: to be typed with another place. */
export function nothingFound({ path, envDir, outputsDir }: Places, command = "npx edgewise eval view PATH"): CliError {
  const searched = path ?? `${outputsDir}/evals and ${envDir}/*/outputs/evals`;
  return new CliError(`there is no results folder in ${searched}`, {
    hints: [
      `A results folder has a metadata.json. Name another place: ${command}`,
      "Make one without a key: npx edgewise eval run arithmetic --provider embedded",
    ],
  });
}
