import { Command, Option } from "commander";
import { OPTIONS } from "../../config/options/options.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";

/** `eval view [PATH]`. */
export function viewCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const command = new Command("view")
    .alias("tui")
    .description("look at results folders: environments, models, runs, every rollout, logs")
    .argument("[path]", "one results folder, or a folder with some in it (default: what `eval run` writes here)")
    .addOption(new Option("-e, --env-dir <DIR>", "folder of environments; their outputs are looked through").default(OPTIONS.env_dir_path.default))
    .addOption(new Option("-o, --outputs-dir <DIR>", "folder of outputs").default("./outputs"));
  command.addHelpText("after", "\nWithout a terminal (a pipe, a file) it prints the runs as a tree, or all about the one run that PATH names.");
  return command.action(async (path: string | undefined, { envDir, outputsDir }: { envDir: string; outputsDir: string }) => {
    const typed = ["envDir", "outputsDir"].some((name) => command.getOptionValueSource(name) === "cli");
    if (path !== undefined && typed) throw usageError("PATH says where to look, and so do -e and -o: name one or the other");
    const { evalView } = await import("../view/eval-view.ts");
    done(await evalView(context, { path: path ?? null, envDir, outputsDir }));
  });
}
