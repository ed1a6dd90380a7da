/** `edgewise export RUN|FOLDER…`: rows of runs as Parquet, CSV or JSON Lines, with a card that tells readers what they are. */
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { type Card, cardText } from "../../exports/card.ts";
import type { ExportFormat } from "../../exports/formats.ts";
import { thousands } from "../../report/text/format.ts";
import { quoted } from "../../report/text/shell-word.ts";
import { VERSION } from "../../version.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { ExportFolder } from "./export-folder.ts";
import { withRuns } from "./open-runs.ts";
import type { OpenedRun } from "./opened-run.ts";
import { sparingMemory } from "./sparing-memory.ts";
import { writeRows } from "./write-rows.ts";

export interface ExportWish {
  /** Run ids and folders. */
  readonly named: readonly string[];
  readonly format: ExportFormat;
  /** Null: below `exports/`, named after the run. */
  readonly folder: string | null;
  readonly partial: boolean;
}

export async function exportRuns(context: CommandContext, wish: ExportWish): Promise<ExitCode> {
  const { cwd, terminal } = context;
  sparingMemory();
  return await withRuns(context, "edgewise export", wish, async (runs) => {
    const path = resolve(cwd, wish.folder ?? join("exports", folderName(runs)));
    const folder = new ExportFolder(path);
    for (const note of runs.flatMap(({ notes }) => notes)) terminal.tell(`warning: ${note}`);
    const began = performance.now();
    let written = { rows: 0, files: 0 };
    await folder.whole(async () => {
      written = await writeExport(folder, runs, wish);
    });
    const shown = relative(cwd, path).startsWith("..") ? path : relative(cwd, path);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    terminal.tell(
      `${thousands(written.rows)} rows in ${written.files} ${written.files === 1 ? "file" : "files"}, ${(folder.bytes / 1e6).toFixed(1)} MB, ${seconds} s`,
    );
    terminal.print(`Export: ${shown}`);
    return EXIT.completed;
  });
}

function folderName(runs: readonly OpenedRun[]): string {
  const names = runs.map(({ facts: { run_id, env_id, model } }) => `${env_id}--${model}--${run_id ?? "rows"}`.replaceAll(/[^\w.@-]+/g, "-"));
  return names.length === 1 ? (names[0] ?? "") : `${names[0]}-and-${names.length - 1}-more`;
}

async function writeExport(folder: ExportFolder, runs: readonly OpenedRun[], { format, named }: ExportWish): Promise<{ rows: number; files: number }> {
  const written = await writeRows(folder, runs, format);
  // Whose machine it was is nobody's business where the card is read.
  const card: Card = {
    runs: written.runs,
    format,
    columns: written.columns,
    metrics: written.metrics,
    files: written.files,
    command: ["npx edgewise export", ...named.map((name) => quoted(isAbsolute(name) ? basename(name) : name)), "--format", format].join(" "),
    notes: runs.flatMap(({ notes }) => notes),
    version: VERSION,
  };
  folder.text("README.md", cardText(card));
  return { rows: written.rows, files: written.files.length };
}
