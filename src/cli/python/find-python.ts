/** Where an environment in Python is that a command names: in a file or folder of this machine. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { absolute, ENV_DIR, holdsEnvironment, isPath } from "../environments/find-environment.ts";
import { usageError } from "../terminal/cli-error.ts";
import { type PythonProject, readProject } from "./python-project.ts";

/** An environment in Python, before anybody knows which interpreter runs it. */
export interface PythonPlace {
  /** As runs and results folders carry it. */
  readonly id: string;
  /** Absolute path of its folder or file; the module's name where it is one that an interpreter has installed. */
  readonly target: string;
  /** Name of the module, by which it is imported. */
  readonly module: string;
  /** Null for a single file, and for an installed module. */
  readonly folder: string | null;
  readonly project: PythonProject | null;
}

interface Where {
  readonly cwd: string;
  /** The folder of environments; absent = `./environments`. */
  readonly envDir?: string | undefined;
  /** Whether Python was asked for: then it comes before TypeScript of the same place. */
  readonly asked?: boolean;
}

const LOADER = /\bload_environment\b/;
/** A test or a script may call it, too. */
const OWN_LOADER = /^(async )?def load_environment\b/m;
const moduleOf = (name: string): string => name.replaceAll("-", "_");

/** Whether `name` is a path, and not a name that is looked up. */
export const isPythonPath = (name: string): boolean => isPath(name) || name.endsWith(".py");

/**
 * The Python that `name` means: a file, a folder, or a folder of that name, with `-` or `_`, in the folder of environments. Null where it means something else: TypeScript of the same
 * folder comes first unless Python was asked for. Throws a usage error for a file of Python that is not there, or has no `load_environment`.
 */
export function pythonPlace(name: string, { cwd, envDir = ENV_DIR, asked = false }: Where): PythonPlace | null {
  if (!isPythonPath(name)) {
    const base = absolute(envDir, cwd);
    const folder = [moduleOf(name), name].map((each) => join(base, each)).find((path) => isFolder(path) && loaderOf(path) !== null);
    return folder === undefined ? null : inFolder(folder, name, asked);
  }
  const path = absolute(name, cwd);
  if (isFolder(path)) return inFolder(path, null, asked);
  if (!path.endsWith(".py")) return null;
  if (!existsSync(path)) throw usageError(`there is no environment at ${path}`, "Paths are taken from the current folder.");
  if (!LOADER.test(readFileSync(path, "utf8")))
    throw usageError(`${path} has no load_environment`, "A file of Python is run as an environment where it defines that function.");
  const module = basename(path, ".py");
  return { id: module.replaceAll("_", "-"), target: path, module, folder: null, project: null };
}

/** Environments in Python in the folders of `envDir`, in the order of their names; a folder of which TypeScript is run is none. */
export function pythonPlacesIn(cwd: string, envDir: string = ENV_DIR): readonly PythonPlace[] {
  const base = absolute(envDir, cwd);
  if (!existsSync(base)) return [];
  const folders = readdirSync(base, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .flatMap(({ name }) => (loaderOf(join(base, name)) === null ? [] : (inFolder(join(base, name), null, false) ?? [])))
    .sort((a, b) => a.id.localeCompare(b.id));
}

/** Whether Python lies beside the TypeScript that is run of a folder. */
export const hasPythonToo = (folder: string): boolean => loaderOf(folder) !== null;

/** `name`: as it was looked up; null = its project or its folder says what it is called. */
function inFolder(folder: string, name: string | null, asked: boolean): PythonPlace | null {
  if (!asked && holdsEnvironment(folder)) return null;
  const loader = loaderOf(folder);
  const project = readProject(folder);
  return loader === null
    ? null
    : { id: name ?? (project?.name ?? basename(folder)).replaceAll("_", "-"), target: folder, module: loader.module, folder, project };
}

/** Throws a usage error for the folder of a project in Python that is no environment of either language. */
export function mustHoldLoader(name: string, cwd: string): void {
  const folder = absolute(name, cwd);
  if (!isPythonPath(name) || !isFolder(folder) || holdsEnvironment(folder) || loaderOf(folder) !== null || readProject(folder) === null) return;
  throw usageError(
    `${folder} has a pyproject.toml, and no module with load_environment`,
    `It is looked for in ${candidates(folder)
      .map(({ file }) => file)
      .join(", ")}.`,
  );
}

interface Loader {
  /** Relative to the folder. */
  readonly file: string;
  readonly module: string;
}

/** The module of a folder that makes the environment: the one that is called like folder or project, else the only one that has the function. */
function loaderOf(folder: string): Loader | null {
  const named = candidates(folder).find(({ file }) => defines(join(folder, file)));
  if (named !== undefined) return named;
  const others = readdirSync(folder).flatMap((name): readonly Loader[] => {
    if (name.endsWith(".py")) return [{ file: name, module: basename(name, ".py") }];
    return [{ file: `${name}/__init__.py`, module: name }];
  });
  const [only, second] = others.filter(({ file }) => definesItself(join(folder, file)));
  return second === undefined ? (only ?? null) : null;
}

/** As `vf-init` lays environments out, as one file or as a package; the folder may itself be the package. */
function candidates(folder: string): readonly Loader[] {
  const named = moduleOf(basename(folder));
  const project = projectName(folder);
  const modules = [...new Set([named, ...(project === null ? [] : [moduleOf(project)])])];
  const inside = modules.flatMap((module) =>
    [`${module}.py`, `${module}/__init__.py`, `src/${module}.py`, `src/${module}/__init__.py`].map((file) => ({ file, module })),
  );
  return [...inside, { file: "__init__.py", module: named }];
}

/** Null also where the project cannot be read, which is told once the folder is meant. */
function projectName(folder: string): string | null {
  try {
    return readProject(folder)?.name ?? null;
  } catch {
    return null;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
const defines = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true && LOADER.test(readFileSync(path, "utf8"));
const definesItself = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true && OWN_LOADER.test(readFileSync(path, "utf8"));
