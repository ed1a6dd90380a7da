/** An imported run as a results folder: rows in the order of a finished run, metadata last, so that a folder with metadata is whole. */
import { createReadStream, existsSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { importedMetadata, PASS_THRESHOLD, type SourceDigest } from "../../imports/logs/imported-metadata.ts";
import type { ImportedRollout, ImportedRun } from "../../imports/logs/imported-run.ts";
import { lineOfRollout } from "../../imports/logs/row-of-rollout.ts";
import type { Aggregates } from "../../metrics/aggregates.ts";
import { type RewardRange, USUAL_RANGE } from "../../metrics/interval.ts";
import { RowAggregator } from "../../metrics/row-aggregator.ts";
import { metadataText } from "../../report/metadata.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import { MAX_RESULT_ROW_BYTES } from "../../rollouts/rows/row.ts";
import { rowsDigestOf } from "../../rollouts/rows/rows-digest.ts";
import { KIB } from "../../limits.ts";
import { draftOf, makeFolder, writeWhole } from "../disk/files.ts";
import { CliError, reasonOf, systemCode } from "../terminal/cli-error.ts";

export interface WrittenRun {
  readonly aggregates: Aggregates;
  readonly examples: number;
  readonly notes: readonly string[];
}

/** Writes the folder `path`. What fails leaves no metadata there, and may be tried again. */
export async function writeRun(
  path: string,
  run: ImportedRun,
  { runId, sources }: { readonly runId: string; readonly sources: readonly SourceDigest[] },
): Promise<WrittenRun> {
  const spool = `${draftOf(join(path, "results.jsonl"))}.spool`;
  const draft = draftOf(join(path, "results.jsonl"));
  const missing = foldersMissing(path);
  let written = false;
  try {
    makeFolder(path);
    const places = await spooled(spool, run);
    const aggregator = new RowAggregator({
      rolloutsPerExample: places.rolloutsPerExample,
      passThreshold: PASS_THRESHOLD,
      rewardRange: places.rewardRange,
      comparesPrompts: run.comparesPrompts,
    });
    await writeSorted(draft, spool, places, (row) => aggregator.add(row));
    const rowsDigest = await rowsDigestOf(createReadStream(draft));
    const notes = [...places.notes(), ...unscoredNote(places.unscored)];
    const aggregates = aggregator.result();
    const { examples, rolloutsPerExample, rewardRange } = places;
    const metadata = importedMetadata({ run, runId, aggregates, examples, rolloutsPerExample, rewardRange, rowsDigest, sources, notes });
    renameSync(draft, join(path, "results.jsonl"));
    writeWhole(join(path, "metadata.json"), metadataText(metadata));
    written = true;
    return { aggregates, examples, notes: [...run.notes(), ...notes, ...(run.groupingProblem() === null ? [] : [run.groupingProblem() ?? ""])] };
  } catch (error) {
    if (systemCode(error) === null || error instanceof CliError) throw error;
    throw new CliError(`${path} could not be written: ${reasonOf(error)}`, { hints: ["Make room there, or name another place with -o DIR."], cause: error });
  } finally {
    for (const file of [spool, draft]) rmSync(file, { force: true });
    if (!written) for (const folder of missing) removeEmpty(folder);
  }
}

/** Folders that are to be made for `path`, the innermost first. */
const foldersMissing = (path: string): readonly string[] => (existsSync(path) ? [] : [path, ...foldersMissing(dirname(path))]);

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody else has put something there, or it was never made.
  }
}

const unscoredNote = (rows: number): readonly string[] =>
  rows === 0
    ? []
    : [
        `${rows} ${rows === 1 ? "rollout has" : "rollouts have"} neither a reward nor an error; the average reward counts such as 0, the averages of metrics leave them out`,
      ];

/** Where rows lie in the spool, a column per field; rows themselves are on the disk. */
class Places {
  readonly example: number[] = [];
  readonly attempt: number[] = [];
  readonly offset: number[] = [];
  readonly bytes: number[] = [];
  readonly #attempts = new Map<number, number>();
  readonly #leftOut = new Map<string, number>();
  #ungrouped = 0;
  unscored = 0;
  rewardRange: RewardRange = USUAL_RANGE;

  /** Which attempt at its example a rollout is. */
  number({ example, rollout }: ImportedRollout): number {
    if (example === null) return 0;
    const next = this.#attempts.get(example) ?? 0;
    const number = rollout ?? next;
    this.#attempts.set(example, Math.max(next, number + 1));
    return number;
  }

  add({ example, reward, error }: ImportedRollout, attempt: number, offset: number, bytes: number): void {
    this.example.push(example ?? this.#ungrouped++);
    this.attempt.push(attempt);
    this.offset.push(offset);
    this.bytes.push(bytes);
    if (reward === null && error === null) this.unscored += 1;
    if (reward !== null) this.rewardRange = [Math.min(this.rewardRange[0], reward), Math.max(this.rewardRange[1], reward)];
  }

  noteLeftOut(parts: readonly string[]): void {
    for (const part of parts) this.#leftOut.set(part, (this.#leftOut.get(part) ?? 0) + 1);
  }

  get examples(): number {
    return this.#attempts.size + this.#ungrouped;
  }

  get rolloutsPerExample(): number {
    let most = 1;
    for (const attempts of this.#attempts.values()) most = Math.max(most, attempts);
    return most;
  }

  /** Numbers of rows in the order of a finished run. */
  order(): readonly number[] {
    const order = Array.from(this.example, (_, index) => index);
    const [example, attempt] = [this.example, this.attempt];
    return order.sort((a, b) => (example[a] ?? 0) - (example[b] ?? 0) || (attempt[a] ?? 0) - (attempt[b] ?? 0) || a - b);
  }

  notes(): readonly string[] {
    return [...this.#leftOut].map(
      ([part, rows]) => `${rows} ${rows === 1 ? "row is" : "rows are"} larger than ${MAX_RESULT_ROW_BYTES / KIB} KiB and without ${part}`,
    );
  }
}

async function spooled(path: string, run: ImportedRun): Promise<Places> {
  const places = new Places();
  const file = await open(path, "w");
  const buffered = new BufferedWriter(file);
  try {
    for await (const rollout of run.rollouts()) {
      const attempt = places.number(rollout);
      const { text, leftOut } = lineOfRollout(rollout, attempt);
      const bytes = Buffer.from(text);
      places.add(rollout, attempt, buffered.offset, bytes.byteLength);
      places.noteLeftOut(leftOut);
      await buffered.write(bytes);
    }
    await buffered.flush();
  } finally {
    await file.close();
  }
  return places;
}

async function writeSorted(path: string, spool: string, places: Places, onRow: (row: Readonly<Record<string, unknown>>) => void): Promise<void> {
  const [from, to] = [await open(spool, "r"), await open(path, "w")];
  const buffered = new BufferedWriter(to);
  try {
    for (const row of places.order()) {
      const length = places.bytes[row] ?? 0;
      const { buffer } = await from.read(Buffer.alloc(length + 1, "\n"), 0, length, places.offset[row] ?? 0);
      onRow(readForeignRow(buffer.toString("utf8", 0, length)).value);
      await buffered.write(buffer);
    }
    await buffered.flush();
  } finally {
    await from.close();
    await to.close();
  }
}

const STEP = 256 * KIB;

/** Small writes made into larger ones. */
class BufferedWriter {
  readonly #file: FileHandle;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Bytes taken so far. */
  offset = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async write(bytes: Buffer): Promise<void> {
    this.#held.push(bytes);
    this.#heldBytes += bytes.byteLength;
    this.offset += bytes.byteLength;
    if (this.#heldBytes >= STEP) await this.flush();
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    for (let done = 0; done < bytes.byteLength; ) done += (await this.#file.write(bytes, done)).bytesWritten;
  }
}
