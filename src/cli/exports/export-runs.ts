/** `edgewise export RUN|FOLDER…`: rows of runs as Parquet, CSV or JSON Lines, with a card that tells readers what they are. */
import { setFlagsFromString } from "node:v8";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import { type Card, type CardRun, cardText } from "../../exports/card.ts";
import { exportColumns, metricColumns } from "../../exports/columns.ts";
import { encoderOf, type ExportFormat } from "../../exports/formats.ts";
import { rowCells } from "../../exports/row-cells.ts";
import { aggregatorOf, settingCells } from "../../exports/run-facts.ts";
import { RowsAhead, SHARD_BYTES, shardPath, type SizedCells, writeShard } from "../../exports/shards.ts";
import { thousands } from "../../report/format.ts";
import { statedRowsDigest } from "../../rollouts/rows-digest.ts";
import { VERSION } from "../../version.ts";
import { quoted } from "../command-line/typed-commands.ts";
import type { CommandContext } from "../service/command-context.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { ExportFolder } from "./export-folder.ts";
import { withRuns } from "./open-runs.ts";
import type { OpenedRow, OpenedRun } from "./opened-run.ts";

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
  // What is held does not grow with the run; what waits to be collected would, to some hundred megabytes, without this.
  setFlagsFromString("--optimize-for-size");
  setFlagsFromString("--semi-space-growth-factor=1");
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

/** Sums up what passes by. */
interface Summed {
  readonly run: OpenedRun;
  readonly aggregator: ReturnType<typeof aggregatorOf>;
}

interface ExportedRow extends SizedCells {
  readonly row: OpenedRow;
  readonly of: Summed;
}

async function writeExport(folder: ExportFolder, runs: readonly OpenedRun[], { format, named }: ExportWish): Promise<{ rows: number; files: number }> {
  const several = runs.length > 1;
  const metrics = metricColumns([...new Set(runs.flatMap((run) => run.metrics))]);
  const columns = exportColumns(metrics, several);
  const summed = runs.map((run): Summed => ({ run, aggregator: aggregatorOf(run.facts) }));
  const rows = new RowsAhead(exportedRows(summed, metrics, several));
  const drafts: string[] = [];
  let count = 0;
  try {
    do {
      const draft = `data/${drafts.length}.${format}`;
      drafts.push(draft);
      const file = await folder.file(draft);
      try {
        const onRow = ({ row, of }: ExportedRow): void => of.aggregator.add(row.value);
        count += await writeShard(rows, encoderOf(format, columns), (bytes) => file.write(bytes), { limit: shardBytes(), onRow });
      } finally {
        await file.close();
      }
    } while (await rows.hasNext());
  } finally {
    await rows.close();
  }
  for (const [shard, draft] of drafts.entries()) folder.rename(draft, shardPath(format, shard, drafts.length));
  // Whose machine it was is nobody's business where the card is read.
  const card: Card = {
    runs: summed.map(
      ({ run, aggregator }): CardRun => ({ facts: run.facts, aggregates: aggregator.result(), rowsDigest: statedRowsDigest(run.metadata)?.sha256 ?? null }),
    ),
    format,
    columns,
    command: ["npx edgewise export", ...named.map((name) => quoted(isAbsolute(name) ? basename(name) : name)), "--format", format].join(" "),
    notes: runs.flatMap(({ notes }) => notes),
    version: VERSION,
  };
  folder.text("README.md", cardText(card));
  return { rows: count, files: drafts.length };
}

/** `EDGEWISE_SHARD_BYTES`, for tests of several files. */
const shardBytes = (): number => Number(process.env.EDGEWISE_SHARD_BYTES) || SHARD_BYTES;

async function* exportedRows(runs: readonly Summed[], metrics: ReturnType<typeof metricColumns>, several: boolean): AsyncGenerator<ExportedRow> {
  for (const of of runs) {
    const settings = several ? settingCells(of.run.facts) : {};
    for await (const row of of.run.rows()) yield { cells: { ...settings, ...cellsOf(row, metrics, of.run.name) }, bytes: row.text.length, row, of };
  }
}

function cellsOf(row: OpenedRow, metrics: ReturnType<typeof metricColumns>, name: string): ReturnType<typeof rowCells> {
  try {
    return rowCells(row, metrics);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    throw new CliError(`row ${row.number} of ${name} cannot be exported: ${error.message}`, { cause: error });
  }
}
