import { statSync } from "node:fs";
import { join } from "node:path";
import { MAX_FOLDER_ROW_BYTES } from "../../limits.ts";
import type { Totals } from "../../metrics/totals.ts";
import { singleLine } from "../../report/text/printable.ts";
import { thousands } from "../../report/text/format.ts";
import { reasonOf, systemCode } from "../terminal/cli-error.ts";
import { TRACES } from "../view/trace-folder.ts";
import { linesFrom } from "./line-scan.ts";
import { HELD_BYTES, type HeldRow } from "./held-row.ts";
import { areThere, type ReadMark, readMarks } from "./read-marks.ts";
import { RowIndex, type IndexOptions } from "./row-index.ts";
import { rowReader } from "./row-reader.ts";

/** Broken rows that are named. */
const NAMED = 5;

/** The file that rows are in. */
export interface RowFile {
  readonly path: string;
  readonly name: string;
  readonly ino: number;
  size: number;
  changed: number;
}

/** What there is of a file while it is the same one, or grows. */
export interface ReadRows {
  readonly file: RowFile | null;
  /** Another one after the file was written anew: places of before hold no longer. */
  readonly generation: number;
  /** Another number with every size of the file, and every time at which it was written to; and the first of them since it was written anew. */
  readonly state: number;
  readonly since: number;
  readonly index: RowIndex;
  /** Lines that are no rows, those that were named first. */
  readonly broken: { readonly lines: number; readonly problems: readonly string[] };
  /** The file ends within a line. */
  readonly isCut: boolean;
}

/** What a list shows of rows. */
export interface RowCounts {
  readonly rows: number;
  readonly totals: Totals;
}

interface Reading extends ReadRows {
  state: number;
  /** Of what was read, the bytes that tell whether the file still begins with it. */
  marks: readonly ReadMark[];
  /** Bytes and lines that are read. */
  through: number;
  lines: number;
  readonly broken: { lines: number; readonly problems: string[] };
  isCut: boolean;
}

/** The rows of a folder, read once and, where the file grows, as far as it has grown. */
export class FolderRows {
  readonly #folder: string;
  readonly #held: HeldRow;
  #reading: Reading | null = null;
  #generation = 0;
  #states = 0;
  #counts: RowCounts | null = null;
  #looking: Promise<ReadRows> | null = null;

  /** `held`: takes the first large row that a look reads. */
  constructor(folder: string, held: HeldRow) {
    [this.#folder, this.#held] = [folder, held];
  }

  /** What was counted when somebody last looked; null before. */
  get counts(): RowCounts | null {
    return this.#counts;
  }

  /** Gives the memory of what was read back, but for the counts: the next look reads it again. */
  forget(): void {
    this.#reading = null;
  }

  /** As they are now. All who ask meanwhile wait for the same look. Throws what the file system says, but for a file that is not there. */
  look(options: Omit<IndexOptions, "isUngrouped">): Promise<ReadRows> {
    this.#looking ??= this.#look(options).finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(options: Omit<IndexOptions, "isUngrouped">): Promise<ReadRows> {
    const file = rowFileIn(this.#folder);
    const before = this.#reading;
    if (before !== null && isSame(before.file, file)) return before;
    const state = ++this.#states;
    const grows = before !== null && file !== null && (await isGrown(before, file));
    const begin = (generation: number, isUngrouped: boolean): Reading => begun(file && { ...file }, { generation, state }, { ...options, isUngrouped });
    const reading = grows ? before : begin(this.#generation + 1, false);
    // Shown only when it is whole: it has another generation.
    const whole = await readOn(reading, file, { state, held: this.#held });
    const grouped = whole.index.isUneven ? await readOn(begin(whole.generation + 1, true), file, { state, held: this.#held }) : whole;
    grouped.state = state;
    this.#reading = grouped;
    this.#generation = grouped.generation;
    this.#counts = { rows: grouped.index.rows, totals: grouped.index.totals };
    return grouped;
  }
}

const isSame = (before: RowFile | null, now: RowFile | null): boolean =>
  before === null || now === null ? before === now : before.ino === now.ino && before.size === now.size && before.changed === now.changed;

/** Whether it is the same file, longer, with what was read still at its beginning. */
async function isGrown({ file: before, marks }: Reading, now: RowFile): Promise<boolean> {
  return before !== null && before.ino === now.ino && now.size > before.size && (await areThere(now.path, marks));
}

const begun = (file: RowFile | null, { generation, state }: Pick<ReadRows, "generation" | "state">, options: IndexOptions): Reading => ({
  file,
  generation,
  state,
  since: state,
  marks: [],
  index: new RowIndex(options),
  broken: { lines: 0, problems: [] },
  isCut: false,
  through: 0,
  lines: 0,
});

async function readOn(reading: Reading, now: RowFile | null, { state, held }: { readonly state: number; readonly held: HeldRow }): Promise<Reading> {
  if (now === null || reading.file === null) return reading;
  const read = rowReader(now.name);
  let isHeld = false;
  reading.isCut = false;
  for await (const line of linesFrom(now.path, reading.through, now.size, MAX_FOLDER_ROW_BYTES)) {
    reading.lines += 1;
    const problem =
      line.bytes === null ? `has ${thousands(line.length)} bytes, more than the ${thousands(MAX_FOLDER_ROW_BYTES)} that a row may have to be shown` : null;
    try {
      if (line.bytes !== null) {
        const row = read(line.bytes);
        reading.index.add(line, row);
        // As the door has it: other texts are made anew for whoever asks.
        if (line.length > HELD_BYTES && !isHeld && !row.isChanged) held.hold({ path: now.path, state, offset: line.at, length: line.length }, row.value);
        isHeld ||= line.length > HELD_BYTES;
      }
    } catch (error) {
      // Whoever writes the file may be within it.
      if (!line.isEnded) {
        reading.isCut = true;
        reading.lines -= 1;
        continue;
      }
      noteBroken(reading, `is no row (${singleLine(reasonOf(error)).slice(0, 200)})`);
    }
    if (problem !== null) noteBroken(reading, problem);
    reading.through = line.at + line.length + (line.isEnded ? 1 : 0);
  }
  reading.marks = await readMarks(now.path, reading.through);
  Object.assign(reading.file, { size: now.size, changed: now.changed });
  return reading;
}

function noteBroken({ broken, lines }: Reading, problem: string): void {
  broken.lines += 1;
  if (broken.problems.length < NAMED) broken.problems.push(`row ${thousands(lines)} ${problem}`);
}

/** Null where the folder has none: no rollout has finished. */
export function rowFileIn(folder: string): RowFile | null {
  for (const name of ["results.jsonl", TRACES]) {
    const path = join(folder, name);
    try {
      const stat = statSync(path);
      // Opening a pipe would wait for somebody to write into it.
      if (stat.isFile()) return { path, name, ino: stat.ino, size: stat.size, changed: stat.mtimeMs };
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
  return null;
}
