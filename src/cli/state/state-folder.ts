import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CliError, reasonOf, systemCode } from "../terminal/cli-error.ts";
import { writeWhole } from "../disk/files.ts";
import { readObject } from "../disk/json-file.ts";

/** `EDGEWISE_STATE_DIR`, or `.edgewise/` in the current folder; absolute. */
export const stateFolder = (env: NodeJS.ProcessEnv, cwd: string): string => resolve(cwd, env.EDGEWISE_STATE_DIR || ".edgewise");

/** Below the state folder: what the runtime stores (Durable Objects and R2). The number is the version of that layout. */
export const runtimeStateFolder = (folder: string): string => join(folder, "v1");

/** Makes the folder, which nobody else of this machine may enter, and finds out before anything starts whether it can be written to. */
export function prepareStateFolder(folder: string): void {
  const probe = join(folder, `probe.${process.pid}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    closeToOthers(folder);
    mkdirSync(runtimeStateFolder(folder), { recursive: true });
    // The state of a machine is nobody else's business; also keeps it out of a repository the command runs in.
    writeFileSync(join(folder, ".gitignore"), "*\n");
    writeFileSync(probe, "x");
    rmSync(probe);
  } catch (error) {
    removeQuietly(probe);
    throw new CliError(`cannot write to the state folder ${folder}: ${reasonOf(error)}`, {
      hints: ["Make room or change its permissions, or set EDGEWISE_STATE_DIR to another folder."],
      cause: error,
    });
  }
}

/** A folder of somebody else, or on a file system without modes, stays as it is: its secret is closed to others by its own mode. */
function closeToOthers(folder: string): void {
  try {
    chmodSync(folder, 0o700);
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EINVAL"].includes(systemCode(error) ?? "")) throw error;
  }
}

/** A full disk may leave the probe behind empty; that it cannot be removed either is not the news. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The first error is the one that is reported.
  }
}

/** Where this machine keeps the results of a run, so that `prune` knows which runs are saved. One small file per run. */
export function rememberFolder(folder: string, runId: string, results: string): void {
  mkdirSync(join(folder, "folders"), { recursive: true });
  writeWhole(join(folder, "folders", `${runId}.json`), JSON.stringify({ version: 1, results }));
}

/** The results folder of a run; null when this machine never wrote one. */
export function rememberedFolder(folder: string, runId: string): string | null {
  const { results } = readObject(join(folder, "folders", `${runId}.json`)) ?? {};
  return typeof results === "string" ? results : null;
}

/** The run whose results this machine keeps in a folder, the newest where there were several; null when there is none. */
export function runKeptIn(folder: string, results: string): string | null {
  const names = existsSync(join(folder, "folders")) ? readdirSync(join(folder, "folders")) : [];
  const runs = names.flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -".json".length)] : []));
  const kept = runs.filter((runId) => rememberedFolder(folder, runId) === results);
  const changed = (runId: string): number => statSync(join(folder, "folders", `${runId}.json`), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return kept.toSorted((a, b) => changed(b) - changed(a))[0] ?? null;
}

export function forgetFolder(folder: string, runId: string): void {
  rmSync(join(folder, "folders", `${runId}.json`), { force: true });
}
