import { Command, Option } from "commander";
import { EXPORT_FORMATS, type ExportFormat } from "../../exports/formats.ts";
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
