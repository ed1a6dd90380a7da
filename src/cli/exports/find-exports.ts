/** Exports on this machine, by what `verify` was given. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { type CardStatement, FRONT_MATTER, readStatements } from "../../exports/card-statement.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../exports/formats.ts";

export const CARD = "README.md";
const DATA = "data";

export interface FoundExport {
  /** As a person knows it. */
  readonly name: string;
  /** Where its card is, if it has one. */
  readonly folder: string;
  /** Of a copy of a data set that runs were pushed to: the one of its configs, in a folder of that name. Null: an export, in `data`. */
  readonly config: string | null;
  /** One file of it, below the folder; null: all of it. */
  readonly only: string | null;
}

/** Null for a file of another kind. */
export const formatOf = (path: string): ExportFormat | null => EXPORT_FORMATS.find((format) => extname(path) === `.${format}`) ?? null;

/** Files with rows in the folder of an export or of a config, in their order, as the card names them. */
export function dataFiles(folder: string, config: string | null = null): readonly string[] {
  const within = config ?? DATA;
  const data = join(folder, within);
  if (statSync(data, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const names = readdirSync(data).filter((name) => formatOf(name) !== null);
  return names.sort().map((name) => `${within}/${name}`);
}

/**
 * The exports that `name` means: a folder of one, its card, a file of it, or a folder with some directly in it; and the same of the configs of a data set. Empty
 * where it is none of them.
 */
export function findExports(cwd: string, name: string): readonly FoundExport[] {
  const path = resolve(cwd, name);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (stat.isDirectory()) {
    const own = exportsIn(path, name);
    if (own.length > 0) return own;
    if (configsIn(dirname(path)).includes(basename(path))) return [{ name, folder: dirname(path), config: basename(path), only: null }];
    const within = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return within.flatMap((entry) => exportsIn(join(path, entry.name), join(name, entry.name)));
  }
  const folder = dirname(path);
  if (basename(path) === CARD) return exportsIn(folder, dirname(name), true);
  if (formatOf(path) === null || basename(path) === "results.jsonl") return [];
  const [config = null] = configsIn(dirname(folder)).filter((each) => each === basename(folder));
  const isBelow = basename(folder) === DATA || config !== null;
  return [{ name, folder: isBelow ? dirname(folder) : folder, config, only: isBelow ? `${basename(folder)}/${basename(path)}` : basename(path) }];
}

/** Those whose card is in this folder, an export before configs. `card`: it was named, and so there is something. */
function exportsIn(folder: string, name: string, card = false): readonly FoundExport[] {
  const configs = configsIn(folder).map((config) => ({ name: join(name, config), folder, config, only: null }));
  const isOwn = (isExport(folder) && !configs.some(({ config }) => config === DATA)) || (configs.length === 0 && (card || isStated(folder)));
  return [...(isOwn ? [{ name, folder, config: null, only: null }] : []), ...configs];
}

/** A results folder may have anything in it. */
const isExport = (folder: string): boolean =>
  !existsSync(join(folder, "metadata.json")) && (dataFiles(folder).length > 0 || (existsSync(join(folder, CARD)) && existsSync(join(folder, DATA))));

/** Whether its card says that it states something, readable or not. */
const isStated = (folder: string): boolean => /^edgewise:/m.test(FRONT_MATTER.exec(cardIn(folder))?.[1] ?? "");

/** Of a card that cannot be read there are none: whoever reads it as that of an export says why. */
function configsIn(folder: string): readonly string[] {
  if (!isStated(folder)) return [];
  try {
    return readStatements(cardIn(folder)).configs.map(({ config }) => config);
  } catch {
    return [];
  }
}

function cardIn(folder: string): string {
  const path = join(folder, CARD);
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, "utf8") : "";
}

/** What the card states of it; null where it states nothing, or there is none. Throws as `readStatements`. */
export function statementOf({ folder, config }: FoundExport): CardStatement | null {
  const { own, configs } = readStatements(cardIn(folder));
  return config === null ? own : (configs.find((each) => each.config === config) ?? null);
}
