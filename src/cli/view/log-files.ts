/** The logs of a results folder: `eval.log` of ours, `env_server.log` and `env_worker_N.log` of the Python library. */
import { readdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { printable } from "../../report/text/printable.ts";
import { reasonOf, systemCode } from "../terminal/cli-error.ts";

export interface LogFile {
  readonly name: string;
  readonly lines: readonly string[];
  /** What is not shown, or why nothing is; null when all is there. */
  readonly note: string | null;
}

/** Lines of a file that are shown, the newest, and bytes they are looked for in. */
export const LOG_LINES = 10_000;
const LOG_BYTES = 8 * 1024 * 1024;
const LINE_CHARACTERS = 4000;
const STAMP = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d/;

/** All logs of a folder, by name; a file that cannot be read says so. */
export async function readLogs(folder: string): Promise<readonly LogFile[]> {
  const names = namesIn(folder).filter((name) => name.endsWith(".log"));
  return await Promise.all(names.map((name) => readLog(folder, name)));
}

/** None where the folder has gone. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(systemCode(error) ?? "")) return [];
    throw error;
  }
}

async function readLog(folder: string, name: string): Promise<LogFile> {
  try {
    if (!statSync(join(folder, name)).isFile()) return { name, lines: [], note: "not a file" };
    const file = await open(join(folder, name), "r");
    try {
      const { size } = await file.stat();
      const start = Math.max(0, size - LOG_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, LOG_BYTES)), 0, Math.min(size, LOG_BYTES), start);
      const lines = buffer.subarray(0, bytesRead).toString("utf8").replace(/\n$/, "").split("\n");
      // The first line of a piece is the end of one.
      if (start > 0) lines.shift();
      const shown = lines.slice(-LOG_LINES).map((line) => printable(line.slice(0, LINE_CHARACTERS)).replaceAll("\n", " "));
      const left = start > 0 || lines.length > LOG_LINES;
      return { name, lines: size === 0 ? [] : shown, note: size === 0 ? "empty" : left ? `the newest ${shown.length} lines` : null };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { name, lines: [], note: `cannot be read: ${reasonOf(error)}` };
  }
}

/** Lines of all files by their time; lines without one stay with the line before them. Pure. */
export function mergedLogs(files: readonly LogFile[]): readonly string[] {
  const entries = files.flatMap(({ lines }) => {
    const own: { readonly time: string; readonly lines: string[] }[] = [];
    for (const line of lines) {
      const time = STAMP.exec(line)?.[0].replace("T", " ");
      const open = own.at(-1);
      if (time === undefined && open !== undefined) open.lines.push(line);
      else own.push({ time: time ?? "", lines: [line] });
    }
    return own;
  });
  return entries.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)).flatMap(({ lines }) => lines);
}
