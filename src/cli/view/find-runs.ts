/** Results folders on this machine: found by their names alone, so that thousands of runs are listed at once; what is in them is read when it is shown. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { reasonOf, systemCode, usageError } from "../terminal/cli-error.ts";
import { parseLoosely } from "./json-text.ts";
import { type RunSummary, summaryOf } from "./run-summary.ts";
import { metadataOfSettings, settingsFileOf, TRACES } from "./trace-folder.ts";

/** One results folder. */
export interface FoundRun {
  readonly path: string;
  /** As it is shown: below the folder that the command was started in. */
  readonly shownPath: string;
  readonly id: string;
  readonly envId: string;
  readonly model: string;
  /** When the metadata was last written, Unix milliseconds. */
  readonly changed: number;
}

/** A summary, or what is wrong with the file. */
export type RunInfo = RunSummary | { readonly problem: string };

/** Where runs are looked for. */
export interface Places {
  /** A folder to look through, or one run; null = the two below. */
  readonly path: string | null;
  readonly envDir: string;
  readonly outputsDir: string;
}

const METADATA_BYTES = 16 * 1024 * 1024;
/** The second is written by a command of ours before the first metadata; the third by verifiers 0.2 and later, in place of it. */
const MARKS = ["metadata.json", ".edgewise.json", TRACES];

/** All runs of the places, the newest first within a model. Throws a usage error for a path that is not there. */
export function findRuns(cwd: string, { path, envDir, outputsDir }: Places): readonly FoundRun[] {
  const found: FoundRun[] = [];
  if (path === null) {
    walk(resolve(cwd, outputsDir, "evals"), cwd, found);
    const environments = resolve(cwd, envDir);
    for (const { name } of entriesOf(environments)) walk(join(environments, name, "outputs", "evals"), cwd, found);
  } else {
    const start = resolve(cwd, path);
    const stat = statSync(start, { throwIfNoEntry: false });
    if (stat === undefined) throw usageError(`${path} is not there`, "Name a results folder, or a folder with results folders somewhere in it.");
    // A file of a run names it; of another one the folders around it were never meant.
    if (!stat.isDirectory() && markOf(entriesOf(dirname(start))) === undefined)
      throw usageError(`${path} is a file of no results folder`, "Name a results folder, or a folder with results folders somewhere in it.");
    walk(stat.isDirectory() ? start : dirname(start), cwd, found);
  }
  return found.sort((a, b) => compare(a.envId, b.envId) || compare(a.model, b.model) || b.changed - a.changed || compare(a.id, b.id));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function walk(folder: string, cwd: string, found: FoundRun[]): void {
  const entries = entriesOf(folder);
  const mark = markOf(entries);
  if (mark !== undefined) {
    const changed = changedAt(join(folder, mark));
    found.push({ path: folder, shownPath: shown(folder, cwd), id: basename(folder), ...namesOf(folder, found.at(-1)), changed });
    return;
  }
  for (const entry of entries) {
    // Links are not followed: they may lead in circles.
    if (entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith(".")) walk(join(folder, entry.name), cwd, found);
  }
}

const markOf = (entries: ReturnType<typeof readEntries>): string | undefined =>
  MARKS.find((name) => entries.some((entry) => entry.name === name && !entry.isDirectory()));

/** 0 of what is gone, or not for this user to see. */
function changedAt(file: string): number {
  try {
    return statSync(file).mtimeMs;
  } catch (error) {
    if (UNSEEN.includes(systemCode(error) ?? "")) return 0;
    throw error;
  }
}

const shown = (folder: string, cwd: string): string => {
  const below = relative(cwd, folder);
  return below === "" ? "." : below.startsWith("..") ? folder : below;
};

/**
 * Environment and model of a run. The folder's name is no way to tell (`a--b--c` may be the model `b/c` or the environment `a--b`), so the
 * metadata of the first run of each folder of runs says it; where that cannot be read, the name is split at its first `--`.
 */
function namesOf(path: string, before: FoundRun | undefined): { readonly envId: string; readonly model: string } {
  const group = basename(dirname(path));
  if (before !== undefined && group.includes("--") && dirname(before.path) === dirname(path)) return { envId: before.envId, model: before.model };
  const info = readInfo(path);
  if (!("problem" in info)) return { envId: info.envId, model: info.model };
  const cut = group.indexOf("--");
  return cut < 0 ? { envId: "(unknown)", model: "(unknown)" } : { envId: group.slice(0, cut), model: group.slice(cut + 2).replaceAll("--", "/") };
}

const UNSEEN: readonly string[] = ["ENOENT", "ENOTDIR", "EACCES", "EPERM"];

function entriesOf(folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder);
  } catch (error) {
    // Not there, or not for this user to see: what can be seen is shown.
    if (UNSEEN.includes(systemCode(error) ?? "")) return [];
    throw error;
  }
}

const readEntries = (folder: string) => readdirSync(folder, { withFileTypes: true });

/** Reads the metadata of a run now. Never throws for what is in the file. */
export function readInfo(path: string): RunInfo {
  const read = readMetadata(path);
  return "problem" in read ? read : infoOf(read.value);
}

/** The same without holding up the screen. */
export async function loadInfo(path: string): Promise<RunInfo> {
  try {
    const name = fileOf(path);
    const file = join(path, name);
    const read = refusal(file) ?? metadataOf(name, await readFile(file, "utf8"));
    return "problem" in read ? read : infoOf(read.value);
  } catch (error) {
    return { problem: missing(error) };
  }
}

/** The file that says what was run. */
const fileOf = (path: string) => settingsFileOf(path) ?? "metadata.json";

/** Why a file is not even read: nobody may ever write into a pipe of that name. */
function refusal(file: string): { readonly problem: string } | null {
  const stat = statSync(file);
  if (!stat.isFile()) return { problem: "metadata.json is not a file" };
  return stat.size > METADATA_BYTES ? { problem: `metadata.json has ${stat.size} bytes: that is no metadata of a run` } : null;
}

const missing = (error: unknown): string => (systemCode(error) === "ENOENT" ? "there is no metadata.json" : `metadata.json cannot be read: ${reasonOf(error)}`);

function infoOf(value: unknown): RunInfo {
  return summaryOf(value) ?? { problem: "metadata.json names no environment and model: it is not the metadata of a run" };
}

/** What stands in the metadata of a run, as it stands there; or what is wrong with the file. */
export function readMetadata(path: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    const name = fileOf(path);
    const file = join(path, name);
    return refusal(file) ?? metadataOf(name, readFileSync(file, "utf8"));
  } catch (error) {
    return { problem: missing(error) };
  }
}

function metadataOf(name: ReturnType<typeof fileOf>, text: string): { readonly value: unknown } | { readonly problem: string } {
  if (name !== "metadata.json") return metadataOfSettings(name, text);
  if (text.trim() === "") return { problem: "metadata.json is empty" };
  const parsed = parseLoosely(text);
  return parsed.ok ? parsed : { problem: `metadata.json is no JSON (${parsed.reason}): the program that wrote it may have been killed` };
}
