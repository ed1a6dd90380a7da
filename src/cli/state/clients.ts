/**
 * Commands of other terminals that work through the service of this folder's owner. Each keeps a file with its process number while it
 * does; the owner waits for them before it ends the service.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../terminal/cli-error.ts";
import { writeWhole } from "../disk/files.ts";
import { readObject } from "../disk/json-file.ts";
import { isAlive, markOf } from "./processes.ts";

/** Announces this process as a client; the answer takes the announcement back. */
export function announceClient(folder: string): () => void {
  const path = join(folder, "clients", `${process.pid}.json`);
  mkdirSync(join(folder, "clients"), { recursive: true });
  writeWhole(path, JSON.stringify(markOf(process.pid)));
  return () => rmSync(path, { force: true });
}

/** Process numbers of the clients that live, without this process; files of dead ones are removed. */
export function livingClients(folder: string): readonly number[] {
  const alive: number[] = [];
  for (const name of namesIn(join(folder, "clients"))) {
    if (!/^\d+\.json$/.test(name)) continue;
    const path = join(folder, "clients", name);
    const mark = readMark(path);
    if (mark === null) continue;
    if (!isAlive(mark)) rmSync(path, { force: true });
    else if (mark.pid !== process.pid) alive.push(mark.pid);
  }
  return alive;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

function readMark(path: string): { readonly pid: number; readonly started: string } | null {
  // It may have been taken back between listing and reading.
  const { pid, started } = readObject(path) ?? {};
  return typeof pid === "number" && typeof started === "string" ? { pid, started } : null;
}
