/** One file of an export, held against what its card states of it. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { failureOf } from "../../errors/result.ts";
import type { StatedFile } from "../../exports/card-statement.ts";
import type { Cells, Column } from "../../exports/column.ts";
import type { ExportFormat } from "../../exports/formats.ts";
import { thousands } from "../../report/text/format.ts";
import { changedRows, RowMarks } from "../../rollouts/rows/rows-digest.ts";
import { diskSource } from "../disk/disk-source.ts";
import { exportedFile } from "./exported-file.ts";

export interface FileWish {
  readonly path: string;
  /** In the folder. */
  readonly name: string;
  readonly format: ExportFormat;
  /** Null where no card tells them. */
  readonly columns: readonly Column[] | null;
  readonly stated: StatedFile | null;
  readonly onRow: (cells: Cells) => void;
}

export interface FileVerdict {
  /** What is right. */
  readonly lines: readonly string[];
  readonly problems: readonly string[];
  /** Every row that was written was read. */
  readonly whole: boolean;
}

/** Reads the file twice: for its digest, and for its rows; once more where rows are to be named. */
export async function verifyFile(wish: FileWish): Promise<FileVerdict> {
  const { path, name, stated } = wish;
  const wrong = (problem: string, whole = false): FileVerdict => ({ lines: [], problems: [`${name}: ${problem}`], whole });
  if (!existsSync(path)) return wrong("is not there");
  const sha256 = stated?.sha256 === undefined ? null : await sha256Of(path);
  const marks = new RowMarks();
  let rows = 0;
  try {
    for await (const { cells, hash } of rowsOf(wish)) {
      wish.onRow(cells);
      marks.add(rows++, hash);
    }
  } catch (thrown) {
    return wrong(`cannot be read ${rows === 0 ? "" : `behind row ${thousands(rows)}`}: ${failureOf(thrown).message}`.replace(" :", ":"));
  }
  const found = `${name}: ${thousands(rows)} ${rows === 1 ? "row" : "rows"}`;
  if (stated === null) return { lines: [found], problems: [], whole: true };
  if (stated.rows !== rows) return wrong(`${thousands(stated.rows)} rows were written, ${thousands(rows)} are there`);
  if (sha256 === null) return { lines: [found], problems: [], whole: true };
  if (sha256 === stated.sha256) return { lines: [`${found}, sha256 ${sha256}`], problems: [], whole: true };
  if (stated.marks === undefined) return wrong("is not as it was written; which row was changed cannot be told", true);
  const changed = changedRows({ rows, sha256: "", marks: stated.marks }, { rows, sha256, marks: marks.text });
  if (changed === null) return wrong("more of its rows are not as they were written than can be named, or they stand in another order", true);
  if (changed.length === 0) return wrong("is not as it was written, outside of its rows", true);
  return { lines: [], problems: await named(wish, changed), whole: true };
}

const rowsOf = ({ path, name, format, columns }: FileWish): ReturnType<typeof exportedFile> => exportedFile(diskSource(path, name), format, columns);

async function named(wish: FileWish, changed: readonly number[]): Promise<readonly string[]> {
  const problems: string[] = [];
  let row = 0;
  for await (const { cells } of rowsOf(wish)) {
    if (changed.includes(row++)) {
      const { run_id, example_id, rollout_index } = cells;
      const run = typeof run_id === "string" ? `run ${run_id}, ` : "";
      problems.push(`${wish.name}: row ${row} (${run}example ${String(example_id)}, rollout ${String(rollout_index)}) is not as it was written`);
    }
    if (row > (changed.at(-1) ?? 0)) break;
  }
  return problems;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
