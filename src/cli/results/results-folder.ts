/**
 * The folder a user keeps: `results.jsonl`, `metadata.json`, `eval.log` as verifiers has them, and `.edgewise.json`, which says
 * up to which event of the run `results.jsonl` has been written, in bytes, so that a crash costs nothing and doubles nothing.
 */
import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isRunId, runFolder } from "../../../r2-layout/keys.ts";
import { OPTIONS } from "../../config/options/options.ts";
import { appendWhole, draftOf, isStillAt, makeFolder, writeWhole } from "../disk/files.ts";
import { readObject } from "../disk/json-file.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import { chunksOf, type ServiceClient } from "../connection/http-client.ts";
import { startOf } from "../state/processes.ts";
import { LogCopy } from "./log-copy.ts";

/** `.edgewise.json`. */
export interface Position {
  readonly version: 1;
  readonly run_id: string;
  /** Tells the history that event `seq` is of from that of another copy of the run; absent in folders of before, and at the beginning. */
  readonly mark?: string;
  /** Rows of all commits up to this event are in the first `bytes` bytes of `results.jsonl`. */
  readonly seq: number;
  readonly bytes: number;
  /** True once `results.jsonl` is the sorted file of the settled run. */
  readonly final: boolean;
}

const POSITION = ".edgewise.json";
const PULL_BYTES = 4 * 1024 * 1024;
/** The same of the first of a pull, which doubles: what goes on beside it has its first calls before the runtime reads many rows. */
const FIRST_PULL_BYTES = 256 * 1024;

type OutputOptions = Pick<GivenOptions, "output_dir" | "env_dir_path">;

/** Base of all results: `output_dir`, else the outputs of the environment's own folder where there is one, else `./outputs`. */
export function outputBase(cwd: string, envId: string, { output_dir, env_dir_path = OPTIONS.env_dir_path.default }: OutputOptions): string {
  if (output_dir !== undefined) return resolve(cwd, output_dir);
  const own = resolve(cwd, env_dir_path, envId.replaceAll("-", "_"));
  return existsSync(own) ? join(own, "outputs") : resolve(cwd, "outputs");
}

export const resultsFolderOf = (base: string, envId: string, model: string, runId: string): string => join(base, "evals", runFolder(envId, model, runId));

/** Null when the folder has none, or none that this version understands. */
export function readPosition(folder: string): Position | null {
  const { version, run_id, seq, bytes, final, mark } = readObject(join(folder, POSITION)) ?? {};
  if (version !== 1 || typeof run_id !== "string" || !isRunId(run_id) || !isCount(seq) || !isCount(bytes)) return null;
  return { version, run_id, seq, bytes, final: final === true, ...(typeof mark === "string" ? { mark } : {}) };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * How a folder is taken over. `continue` keeps what an earlier process wrote up to its recorded position; `rebuild` fetches every row again, since a
 * resume replaces rows, and leaves the old file in place until the new one has caught up. `leave` touches nothing until something is to
 * be written, and is `rebuild` from then on: a folder in which nothing is left to do keeps its bytes and times.
 */
export type TakeOver = "continue" | "rebuild" | "leave";

/** Copy of one run in a folder. What fails on the disk throws, leaves whole rows, and may be tried again; a folder that was removed is begun anew. */
export class ResultsFolder {
  readonly path: string;
  readonly runId: string;
  readonly #onBegun: () => void;
  readonly #log: LogCopy;
  #takeOver: TakeOver;
  #position: Position;
  /** Null: not even looked at for writing. */
  #file: FileHandle | null = null;
  /** Rows go to a draft until the rebuild has caught up. */
  #rebuilding = false;
  /** The sorted rows are in place: nothing is appended any more. */
  #sorted = false;

  /** Touches nothing yet. `onBegun` hears when it has been taken over. */
  constructor(path: string, runId: string, takeOver: TakeOver, onBegun: () => void = () => undefined) {
    this.path = path;
    this.runId = runId;
    this.#takeOver = takeOver;
    this.#onBegun = onBegun;
    this.#log = new LogCopy(path, runId);
    this.#position = startOfFolder(runId);
  }

  /** Takes the folder over at once, unless it is to be left alone. */
  static async open(path: string, runId: string, takeOver: TakeOver): Promise<ResultsFolder> {
    const folder = new ResultsFolder(path, runId, takeOver);
    await folder.begin();
    return folder;
  }

  async begin(): Promise<void> {
    if (this.#takeOver === "leave") this.#onBegun();
    else await this.#begun();
  }

  /** Appends the rows of all commits since the last pull. */
  async pull(client: ServiceClient, signal?: AbortSignal): Promise<void> {
    if (this.#sorted || (await this.#isAnothers())) return;
    const file = await this.#begun();
    for (let [more, bytes] = [true, FIRST_PULL_BYTES]; more; bytes = Math.min(2 * bytes, PULL_BYTES)) {
      const response = await client.rows(this.runId, this.#position.seq, bytes, signal);
      const next = Number(response.headers.get("x-edgewise-next") ?? Number.NaN);
      if (!Number.isSafeInteger(next)) throw new Error("the service did not say where its rows end (X-Edgewise-Next)");
      more = response.headers.get("x-edgewise-more") === "1";
      const end = await this.#append(file, response, signal);
      const mark = response.headers.get("x-edgewise-next-mark");
      this.#position = { ...startOfFolder(this.runId), seq: next, bytes: end, ...(mark === null ? {} : { mark }) };
      if (!this.#rebuilding) writePosition(this.path, this.#position);
    }
    if (this.#rebuilding) await this.#replaceOld();
  }

  /** `metadata.json` as the service renders it now. */
  async pullMetadata(client: ServiceClient, signal?: AbortSignal): Promise<void> {
    if (this.#sorted || (await this.#isAnothers())) return;
    await this.#begun();
    await this.#writeMetadata(client, signal);
  }

  /** Appends what was logged since the last pull. */
  async pullLog(client: ServiceClient, signal?: AbortSignal): Promise<void> {
    if (this.#sorted || (await this.#isAnothers())) return;
    await this.#begun();
    await this.#log.pull(client, signal);
  }

  /** Puts the sorted rows and the last metadata of the settled run in place of what was written on the way. */
  async finalise(client: ServiceClient, signal?: AbortSignal): Promise<void> {
    if (this.#sorted) makeFolder(this.path);
    else await this.#begun();
    const results = join(this.path, "results.jsonl");
    const draft = `${draftOf(results)}.final`;
    let bytes = 0;
    try {
      const file = await open(draft, "w");
      try {
        for await (const chunk of chunksOf(await client.file(this.runId, "results.jsonl", signal), signal)) bytes += await appendWhole(file, chunk, bytes);
      } finally {
        await file.close();
      }
      // From here until the new position is written, the recorded one describes neither file: a crash must start again.
      writePosition(this.path, { ...this.#position, seq: 0, bytes: 0, final: false });
      await rename(draft, results);
      this.#sorted = true;
    } finally {
      rmSync(draft, { force: true });
    }
    await this.#writeMetadata(client, signal);
    await this.#log.rewrite(client, signal);
    this.#position = { ...this.#position, bytes, final: true };
    writePosition(this.path, this.#position);
    await this.close();
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await this.#log.close();
    if (file === null) return;
    await file.close();
    rmSync(draftOf(join(this.path, "results.jsonl")), { force: true });
  }

  /**
   * Whether another command has put its file in place of this one's, as the first of two does when the run has ended: it is left alone until
   * the final files, or unsorted rows would come over sorted ones.
   */
  async #isAnothers(): Promise<boolean> {
    if (this.#file === null || this.#rebuilding) return false;
    const results = join(this.path, "results.jsonl");
    return existsSync(results) && !(await isStillAt(this.#file, results));
  }

  async #begun(): Promise<FileHandle> {
    const results = join(this.path, "results.jsonl");
    if (this.#file !== null) {
      if (await isStillAt(this.#file, this.#rebuilding ? draftOf(results) : results)) return this.#file;
      // Removed, or replaced by somebody else.
      await this.#file.close();
      this.#file = null;
      this.#takeOver = "rebuild";
    }
    makeFolder(this.path);
    removeDeadDrafts(this.path);
    this.#file = (await this.#continued(results)) ?? (await this.#begunAnew(results));
    this.#onBegun();
    return this.#file;
  }

  /** Null where there is nothing to go on from. A position in the middle of a row, or behind the end, is of another file: then nothing in this one can be trusted. */
  async #continued(results: string): Promise<FileHandle | null> {
    if (this.#takeOver !== "continue") return null;
    const found = readPosition(this.path);
    if (found?.run_id !== this.runId || found.final || !endsRow(results, found.bytes)) return null;
    const file = await open(results, "r+");
    await file.truncate(found.bytes);
    this.#position = found;
    return file;
  }

  /** An old file stays until there is another. */
  async #begunAnew(results: string): Promise<FileHandle> {
    this.#rebuilding = existsSync(results);
    this.#position = startOfFolder(this.runId);
    const file = await open(this.#rebuilding ? draftOf(results) : results, "w+");
    try {
      if (!this.#rebuilding) writePosition(this.path, this.#position);
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  }

  /** Nothing is written of an answer that is not there whole, so that the file grows by whole rows only. Holds one answer in memory. */
  async #append(file: FileHandle, response: Response, signal?: AbortSignal): Promise<number> {
    const { bytes: start } = this.#position;
    const chunks: Uint8Array[] = [];
    for await (const chunk of chunksOf(response, signal)) chunks.push(chunk);
    return start + (await appendWhole(file, Buffer.concat(chunks), start));
  }

  async #writeMetadata(client: ServiceClient, signal?: AbortSignal): Promise<void> {
    const response = await client.file(this.runId, "metadata.json", signal);
    const chunks: Uint8Array[] = [];
    for await (const chunk of chunksOf(response, signal)) chunks.push(chunk);
    writeWhole(join(this.path, "metadata.json"), Buffer.concat(chunks));
  }

  async #replaceOld(): Promise<void> {
    const results = join(this.path, "results.jsonl");
    writePosition(this.path, { ...this.#position, seq: 0, bytes: 0 });
    await rename(draftOf(results), results);
    this.#rebuilding = false;
    writePosition(this.path, this.#position);
  }
}

const startOfFolder = (runId: string): Position => ({ version: 1, run_id: runId, seq: 0, bytes: 0, final: false });
/** Whether the first `bytes` bytes of a file are there and end with a row. */
function endsRow(path: string, bytes: number): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? -1;
  if (size < bytes || bytes === 0) return size >= bytes;
  const last = Buffer.alloc(1);
  const file = openSync(path, "r");
  try {
    return readSync(file, last, 0, 1, bytes - 1) === 1 && last[0] === 0x0a;
  } finally {
    closeSync(file);
  }
}

/** A killed command leaves the file it was writing, as large as all results. */
function removeDeadDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = /^(?:results\.jsonl|metadata\.json|eval\.log|\.edgewise\.json)\.(\d+)\.tmp(?:\.final)?$/.exec(name) ?? [];
    if (pid !== undefined && startOf(Number(pid)) === null) rmSync(join(folder, name), { force: true });
  }
}

function writePosition(folder: string, position: Position): void {
  writeWhole(join(folder, POSITION), `${JSON.stringify(position)}\n`);
}
