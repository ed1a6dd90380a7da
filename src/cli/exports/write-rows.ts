/** Rows of runs into the files of a folder, a row group at a time. */
import type { Column } from "../../exports/column.ts";
import { exportColumns, metricColumns } from "../../exports/columns.ts";
import type { CardRun } from "../../exports/card-run.ts";
import type { StatedFile } from "../../exports/card-statement.ts";
import { encoderOf, type ExportFormat } from "../../exports/formats.ts";
import { rowCells } from "../../exports/row-cells.ts";
import { aggregatorOf, settingCells } from "../../exports/run-facts.ts";
import { RowsAhead, SHARD_BYTES, shardPath, type SizedCells, writeShard } from "../../exports/shards.ts";
import { statedRowsDigest } from "../../rollouts/rows/rows-digest.ts";
import { CliError } from "../terminal/cli-error.ts";
import type { ExportFolder } from "./export-folder.ts";
import type { OpenedRow, OpenedRun } from "./opened-run.ts";

export interface WrittenFile extends StatedFile {
  readonly bytes: number;
  readonly sha256: string;
}

export interface WrittenRows {
  readonly rows: number;
  readonly files: readonly WrittenFile[];
  readonly columns: readonly Column[];
  /** Names of those with a column of their own, in their order. */
  readonly metrics: readonly string[];
  /** As a card tells of them, in their order. */
  readonly runs: readonly CardRun[];
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

/** With the settings of each run in columns where there are several. */
export async function writeRows(folder: ExportFolder, runs: readonly OpenedRun[], format: ExportFormat): Promise<WrittenRows> {
  const several = runs.length > 1;
  const metrics = metricColumns([...new Set(runs.flatMap((run) => run.metrics))]);
  const columns = exportColumns(metrics, several);
  const summed = runs.map((run): Summed => ({ run, aggregator: aggregatorOf(run.facts) }));
  const rows = new RowsAhead(exportedRows(summed, metrics, several));
  const drafts: WrittenFile[] = [];
  let count = 0;
  try {
    do {
      const path = `data/${drafts.length}.${format}`;
      const file = await folder.file(path);
      const encoder = encoderOf(format, columns);
      let written = 0;
      try {
        const onRow = ({ row, of }: ExportedRow): void => of.aggregator.add(row.value);
        written = await writeShard(rows, encoder, (bytes) => file.write(bytes), { limit: shardBytes(), onRow });
      } finally {
        await file.close();
      }
      count += written;
      drafts.push({ path, rows: written, ...file.written(), marks: encoder.marks });
    } while (await rows.hasNext());
  } finally {
    await rows.close();
  }
  const files = drafts.map((draft, shard) => ({ ...draft, path: shardPath(format, shard, drafts.length) }));
  for (const [shard, { path }] of drafts.entries()) folder.rename(path, files[shard]?.path ?? path);
  const told = summed.map(
    ({ run, aggregator }): CardRun => ({ facts: run.facts, aggregates: aggregator.result(), rowsDigest: statedRowsDigest(run.metadata)?.sha256 ?? null }),
  );
  return { rows: count, files, columns, metrics: metrics.map(({ metric }) => metric), runs: told };
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
