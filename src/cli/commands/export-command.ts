import { Command, Option } from "commander";
import { EXPORT_FORMATS, type ExportFormat } from "../../exports/formats.ts";
import { addFlags, givenOptions } from "../command-line/flags.ts";
import type { CommandContext } from "../service/command-context.ts";
import type { ExitCode } from "../terminal/cli-error.ts";

interface Flags {
  readonly format: ExportFormat;
  readonly output?: string;
  readonly partial: boolean;
}

/** `export RUN|FOLDER…`. */
export function exportCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const command = new Command("export")
    .description("write the rows of runs as Parquet, CSV or JSON Lines, with a card that the Hugging Face Hub and `datasets` read")
    .argument("<run...>", "run ids, results folders (also those of Python's verifiers), and folders with some in them; several become one export")
    .addOption(new Option("-f, --format <FORMAT>", "form of the files").choices(EXPORT_FORMATS).default("parquet"))
    .addOption(new Option("-o, --output <DIR>", "folder to make (default: one below ./exports, named after the run)"))
    .option("--partial", "of a folder whose run has not ended, also the rows of examples that lack some", false);
  command.addHelpText(
    "after",
    "\nRows keep their order; where there are several runs, the settings of each are columns. Of a run that goes on, the examples that are done are written.",
  );
  return command.action(async (named: readonly string[], { format, output, partial }: Flags) => {
    const { exportRuns } = await import("../exports/export-runs.ts");
    done(await exportRuns(context, { named, format, folder: output ?? null, partial }));
  });
}

/** `eval report RUN|FOLDER…`. */
export function reportCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const command = new Command("report")
    .description("print the report of runs that there are, from their rows; with other groups if wanted")
    .argument("<run...>", "run ids, results folders (also those of Python's verifiers), exports, and folders with some in them");
  addFlags(command, ["cluster_by", "by"]);
  command.addOption(new Option("-o, --output <FORMAT>", "text for people, json for programs").choices(["text", "json"]).default("text"));
  return command.action(async (named: readonly string[], { output }: { readonly output: "text" | "json" }) => {
    const { reportRuns } = await import("../exports/report-runs.ts");
    const { cluster_by: clusterBy, by } = givenOptions(command, () => false);
    done(await reportRuns(context, { named, clusterBy, by, output }));
  });
}

/** `verify RUN|FOLDER|FILE…`. */
export function verifyCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const command = new Command("verify")
    .description("make the numbers of runs and exports again from their rows, and find rows that were changed since they were written")
    .argument("<run...>", "run ids, results folders (also those of Python's verifiers), exports and copies of data sets of the Hub, or single files of them");
  command.addHelpText("after", "\nExit codes: 0 all is as stated, 1 something is not, 2 usage.");
  return command.action(async (named: readonly string[]) => {
    const { verifyRuns } = await import("../exports/verify-runs.ts");
    done(await verifyRuns(context, named));
  });
}
