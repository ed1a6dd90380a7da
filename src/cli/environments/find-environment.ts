/** Where the environment is that a command names: in this package, or in a file of this machine. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, extname, join, resolve } from "node:path";
import { reasonOf, usageError } from "../terminal/cli-error.ts";

export const ENV_DIR = "./environments";
const EXTENSIONS = [".ts", ".mts", ".js", ".mjs"];

/** A module of this machine that exports an environment. */
export interface EnvironmentFile {
  /** Absolute. */
  readonly entry: string;
  /** The folder that belongs to it (data, `outputs`), where it has one of its own. */
  readonly folder: string | null;
}

/** The file that `name` means: a path, or a folder of that name in `envDir`; null when it is the name of an environment elsewhere. Throws a usage error for a path with nothing there. */
export function environmentFile(name: string, cwd: string, envDir: string = ENV_DIR): EnvironmentFile | null {
  if (isPath(name)) {
    const path = absolute(name, cwd);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined)
      throw usageError(`there is no environment at ${path}`, "Paths are taken from the current folder. `npx edgewise env init NAME` writes an example.");
    return stat.isDirectory() ? inFolder(path) : { entry: path, folder: null };
  }
  const folder = join(absolute(envDir, cwd), name.replaceAll("-", "_"));
  const there = existsSync(folder) && statSync(folder).isDirectory() && entryOf(folder) !== null;
  return there ? inFolder(folder) : null;
}

/** Environments in the folders of `envDir`, by name. */
export function environmentsIn(cwd: string, envDir: string = ENV_DIR): readonly EnvironmentFile[] {
  const base = absolute(envDir, cwd);
  if (!existsSync(base)) return [];
  const folders = readdirSync(base, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) => (entryOf(join(base, name)) === null ? [] : [inFolder(join(base, name))])).sort((a, b) => a.entry.localeCompare(b.entry));
}

/** Whether `name` is the path of something, and not a name that is looked up. */
export const isPath = (name: string): boolean => /^(\.{1,2}|~)?\//.test(name) || /^(\.{1,2}|~)$/.test(name) || EXTENSIONS.includes(extname(name));
/** A path as it is typed or stands in a file: from the working folder, or from the home folder. */
export const absolute = (path: string, cwd: string): string => (path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(cwd, path));

function inFolder(folder: string): EnvironmentFile {
  const entry = entryOf(folder);
  if (entry !== null) return { entry, folder };
  const others = modulesIn(folder);
  throw usageError(
    `${folder} holds no environment`,
    ...(others.length === 0 ? [] : [`It has ${others.join(", ")}: name the file that is meant.`]),
    `It is looked for in ${candidates(folder)
      .map((path) => basename(path))
      .join(", ")}, or where "main" of its package.json says. A benchmark has a tasks.jsonl.`,
  );
}

/** Names of what could be the module of an environment: no tests, no declarations. */
const modulesIn = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => EXTENSIONS.includes(extname(name)) && !/\.(?:test|d)\.[^.]+$/.test(name))
    .sort();

/** Whether a folder has a module that would be run as an environment. */
export const holdsEnvironment = (folder: string): boolean => entryOf(folder) !== null;

/** The module of a folder: what its package.json says, or a file called like the folder, or index. */
function entryOf(folder: string): string | null {
  const main = mainOf(folder);
  if (main !== null) return main;
  return candidates(folder).find((path) => existsSync(path)) ?? null;
}

function candidates(folder: string): readonly string[] {
  const name = basename(folder);
  const names = [...new Set([name, name.replaceAll("_", "-"), "index"])];
  return names.flatMap((each) => EXTENSIONS.map((extension) => join(folder, `${each}${extension}`)));
}

function mainOf(folder: string): string | null {
  const path = join(folder, "package.json");
  if (!existsSync(path)) return null;
  let main: unknown;
  try {
    ({ main } = JSON.parse(readFileSync(path, "utf8")) as { main?: unknown });
  } catch (error) {
    throw usageError(`${path} cannot be read: ${reasonOf(error)}`);
  }
  const entry = typeof main === "string" ? resolve(dirname(path), main) : null;
  return entry !== null && existsSync(entry) ? entry : null;
}
