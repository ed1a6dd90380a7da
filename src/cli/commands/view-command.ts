import { Command, Option } from "commander";
import { OPTIONS } from "../../config/options/options.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";

interface ViewOptions {
  readonly envDir: string;
  readonly outputsDir: string;
  readonly web: boolean;
  readonly port?: number;
  readonly print: boolean;
}

const MAX_PORT = 65_535;

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return Number(text);
  throw usageError(`--port ${JSON.stringify(text)} must be a whole number from 0 (a free one) to ${MAX_PORT}`);
}

/** `eval view [PATH]`. */
export function viewCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const command = new Command("view")
    .alias("tui")
    .description("look at results folders: environments, models, runs, every rollout, logs")
    .argument("[path]", "one results folder, or a folder with some in it (default: what `eval run` writes here)")
    .addOption(new Option("-e, --env-dir <DIR>", "folder of environments; their outputs are looked through").default(OPTIONS.env_dir_path.default))
    .addOption(new Option("-o, --outputs-dir <DIR>", "folder of outputs").default("./outputs"))
    .option("--web", "in a browser, in the pages of the dashboard: until Ctrl-C, for looking at alone", false)
    .addOption(new Option("--port <PORT>", "with --web: of this machine (default: a free one)").argParser(portOf))
    .option("--print", "with --web: print the address, and open nothing", false);
  command.addHelpText("after", "\nWithout a terminal (a pipe, a file) it prints the runs as a tree, or all about the one run that PATH names.");
  return command.action(async (path: string | undefined, { envDir, outputsDir, web, port, print }: ViewOptions) => {
    const typed = ["envDir", "outputsDir"].some((name) => command.getOptionValueSource(name) === "cli");
    if (path !== undefined && typed) throw usageError("PATH says where to look, and so do -e and -o: name one or the other");
    if (!web && (port !== undefined || print)) throw usageError(`${print ? "--print" : "--port"} has no effect without --web`);
    const places = { path: path ?? null, envDir, outputsDir };
    if (web) {
      const { webView } = await import("../folder-service/web-view.ts");
      return done(await webView(context, places, { port: port ?? 0, print }));
    }
    const { evalView } = await import("../view/eval-view.ts");
    done(await evalView(context, places));
  });
}
