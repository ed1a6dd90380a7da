import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import type { OptionName } from "../../config/options/options.ts";
import { addFlags, givenOptions } from "../command-line/flags.ts";
import type { CommandContext } from "../service/command-context.ts";
import type { ExitCode } from "../terminal/cli-error.ts";

/** What says something of a single rollout. */
const FLAGS: readonly OptionName[] = [
  "env_args",
  "extra_env_kwargs",
  "env_dir_path",
  "python",
  "env_vars",
  "benchmarks_path",
  "provider",
  "model",
  "endpoint_id",
  "endpoints_path",
  "api_base_url",
  "api_key_var",
  "api_client_type",
  "headers",
  "headers_from_state",
  "max_tokens",
  "temperature",
  "sampling_args",
  "shuffle",
  "shuffle_seed",
  "max_retries",
  "sandbox",
  "no_preflight",
];

/** `eval try ENV`: one example, message by message. */
export function tryCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const command = new Command("try")
    .description("play one example and show it message by message, with every score; nothing is kept")
    .argument("<env>", "environment: its id, such as gsm8k, or the path of your own, such as ./my-env.ts");
  addFlags(command, FLAGS);
  command.option("--full", "show messages whole; without it the first 4,000 characters of each", false);
  command.addHelpText(
    "after",
    `
The example is the first of the data set; --shuffle --shuffle-seed N draws another one.
Exit codes: 0 the rollout finished, 1 it ended in an error, 2 usage, 130 interrupted.`,
  );
  command.action(async (named: string) => {
    const [{ evalTry }, { evalWishes }] = await Promise.all([import("../eval-run/eval-try.ts"), import("../eval-run/wish/eval-wishes.ts")]);
    const { warnings, ...wishes } = await evalWishes(
      named,
      givenOptions(command, (path) => isFolder(resolve(context.cwd, path))),
      context,
    );
    for (const warning of warnings) context.terminal.tell(`warning: ${warning}`);
    done(await evalTry({ ...context, ...wishes, full: command.opts<{ full: boolean }>().full }));
  });
  return command;
}

export const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
