/**
 * The folder a user keeps: `results.jsonl`, `metadata.json`, `eval.log` as verifiers has them, and `.edgewise.json`, which says
 * up to which event of the run `results.jsonl` has been written, in bytes, so that a crash costs nothing and doubles nothing.
 */
import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isRunId, type OutputFile, runFolder } from "../../../r2-layout/keys.ts";
import { OPTIONS } from "../../config/options.ts";
import { draftOf, makeFolder, writeWhole } from "../disk/files.ts";
import { readObject } from "../disk/json-file.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import { chunksOf, type ServiceClient } from "../connection/http-client.ts";
import { startOf } from "../state/processes.ts";

/** `.edgewise.json`. */
export interface Position {
  readonly version: 1;
  readonly run_id: string;
  /** Rows of all commits up to this event are in the first `bytes` bytes of `results.jsonl`. */
  readonly seq: number;
  readonly bytes: number;
  /** True once `results.jsonl` is the sorted file of the settled run. */
  readonly final: boolean;
}

const POSITION = ".edgewise.json";
const PULL_BYTES = 4 * 1024 * 1024;

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
  const { version, run_id, seq, bytes, final } = readObject(join(folder, POSITION)) ?? {};
  if (version !== 1 || typeof run_id !== "string" || !isRunId(run_id) || !isCount(seq) || !isCount(bytes)) return null;
  return { version, run_id, seq, bytes, final: final === true };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * Copy of one run in a folder. `continue` keeps what an earlier process wrote up to its recorded position; `rebuild` fetches every row again, since a
 * resume replaces rows, and leaves the old file in place until the new one has caught up. `leave` touches nothing until something is to
 * be written, and is `rebuild` from then on: a folder in which nothing is left to do keeps its bytes and times.
 */
export class ResultsFolder {
  readonly path: string;
  readonly runId: string;
  private position: Position;
  /** Null: not even looked at for writing. */
  private file: FileHandle | null;
  /** Rows go to a draft until the rebuild has caught up. */
  private rebuilding: boolean;

  private constructor(path: string, position: Position, file: FileHandle | null, rebuilding: boolean) {
    this.path = path;
    this.runId = position.run_id;
    this.position = position;
    this.file = file;
    this.rebuilding = rebuilding;
  }

  static async open(path: string, runId: string, mode: "continue" | "rebuild" | "leave"): Promise<ResultsFolder> {
    const start: Position = { version: 1, run_id: runId, seq: 0, bytes: 0, final: false };
    if (mode === "leave") return new ResultsFolder(path, start, null, false);
    makeFolder(path);
    removeDeadDrafts(path);
    const found = readPosition(path);
    const results = join(path, "results.jsonl");
    // A position in the middle of a row, or behind the end, is of another file: then nothing in this one can be trusted, and it stays until there is another.
    if (mode === "continue" && found?.run_id === runId && !found.final && endsRow(results, found.bytes)) {
      const file = await open(results, "r+");
      await file.truncate(found.bytes);
      return new ResultsFolder(path, found, file, false);
    }
    const rebuilding = existsSync(results);
    const file = await open(rebuilding ? draftOf(results) : results, "w+");
    if (!rebuilding) writePosition(path, start);
    return new ResultsFolder(path, start, file, rebuilding);
  }

  /** Appends the rows of all commits since the last pull. */
  async pull(client: ServiceClient, signal?: AbortSignal): Promise<void> {
    const file = await this.begun();
    for (let more = true; more; ) {
      const response = await client.rows(this.runId, this.position.seq, PULL_BYTES, signal);
      const next = Number(response.headers.get("x-edgewise-next") ?? Number.NaN);
      if (!Number.isSafeInteger(next)) throw new Error("the service did not say where its rows end (X-Edgewise-Next)");
      more = response.headers.get("x-edgewise-more") === "1";
      const end = await this.append(file, response, signal);
      this.position = { ...this.position, seq: next, bytes: end };
      if (!this.rebuilding) writePosition(this.path, this.position);
    }
    if (this.rebuilding) await this.replaceOld();
  }

  /** `metadata.json` or `eval.log` as the service renders it now. */
  async refresh(client: ServiceClient, name: OutputFile, signal?: AbortSignal): Promise<void> {
    await this.begun();
    const response = await client.file(this.runId, name, signal);
    const chunks: Uint8Array[] = [];
    for await (const chunk of chunksOf(response, signal)) chunks.push(chunk);
    writeWhole(join(this.path, name), Buffer.concat(chunks));
  }

  /** Puts the sorted rows and the last metadata of the settled run in place of what was written on the way. */
  async finalise(client: ServiceClient, signal?: AbortSignal): Promise<void> {
    await this.begun();
    const results = join(this.path, "results.jsonl");
    const draft = `${draftOf(results)}.final`;
    let bytes = 0;
    try {
      const file = await open(draft, "w");
      try {
        for await (const chunk of chunksOf(await client.file(this.runId, "results.jsonl", signal), signal)) bytes += await writeAll(file, chunk, bytes);
      } finally {
        await file.close();
      }
      // From here until the new position is written, the recorded one describes neither file: a crash must start again.
      writePosition(this.path, { ...this.position, seq: 0, bytes: 0, final: false });
      await rename(draft, results);
    } finally {
      rmSync(draft, { force: true });
    }
    await this.refresh(client, "metadata.json", signal);
    await this.refresh(client, "eval.log", signal);
    this.position = { ...this.position, bytes, final: true };
    writePosition(this.path, this.position);
    await this.close();
  }

  async close(): Promise<void> {
    if (this.file === null) return;
    await this.file.close();
    rmSync(draftOf(join(this.path, "results.jsonl")), { force: true });
  }

  private async begun(): Promise<FileHandle> {
    if (this.file !== null) return this.file;
    const { file, rebuilding } = await ResultsFolder.open(this.path, this.runId, "rebuild");
    if (file === null) throw new Error("a folder that is rebuilt has a file");
    this.file = file;
    this.rebuilding = rebuilding;
    return file;
  }

  /** Nothing is written of an answer that is not there whole, so that the file grows by whole rows only. Holds one answer in memory. */
  private async append(file: FileHandle, response: Response, signal?: AbortSignal): Promise<number> {
    const { bytes: start } = this.position;
    const chunks: Uint8Array[] = [];
    for await (const chunk of chunksOf(response, signal)) chunks.push(chunk);
    try {
      return start + (await writeAll(file, Buffer.concat(chunks), start));
    } catch (error) {
      // A row written in part would be taken for damage by whoever reads the folder.
      await file.truncate(start).catch(() => undefined);
      throw error;
    }
  }

  private async replaceOld(): Promise<void> {
    const results = join(this.path, "results.jsonl");
    writePosition(this.path, { ...this.position, seq: 0, bytes: 0 });
    await rename(draftOf(results), results);
    writePosition(this.path, this.position);
    this.rebuilding = false;
  }
}

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

async function writeAll(file: FileHandle, chunk: Uint8Array, position: number): Promise<number> {
  for (let done = 0; done < chunk.byteLength; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.byteLength - done, position + done);
    done += bytesWritten;
  }
  return chunk.byteLength;
}
