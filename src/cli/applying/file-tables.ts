import { readFileSync } from "node:fs";
import { didYouMean } from "../../config/nearest.ts";
import { parseTomlText } from "../../config/plan/toml-document.ts";
import { isTable, type TomlTable } from "../../config/plan/toml-keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { reasonOf, usageError } from "../terminal/cli-error.ts";

/** Files that say which schedules, alerts and evaluators there are to be: arrays of tables, each with a name. */

/** Tables that such a file may have; each command reads its own. */
const KNOWN = ["schedule", "alert", "monitor", "evaluator"] as const;

/** A table of a file, by its name. */
export interface Wanted<Given> {
  readonly name: string;
  readonly given: Given;
}

/** How one kind of tables is read. */
export interface Reading<Given> {
  readonly key: (typeof KNOWN)[number];
  isName(text: string): boolean;
  /** What is said of a name that is none. */
  readonly rule: string;
  /** What `PUT` takes; null where it is none, told to `refuse` by its key. */
  read(table: TomlTable, refuse: (problem: string) => void): Given | null;
}

/** Throws a usage error for a file that cannot be read. `file`: as it was typed. */
export function textOf(path: string, file: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw usageError(`the file ${file} cannot be read: ${reasonOf(error)}`);
  }
}

/** The tables of one file. What is wrong is collected, and thrown by `check`. */
export class FileTables {
  readonly #document: TomlTable;
  readonly #file: string;
  readonly #problems: string[] = [];

  /** `file`: what errors call it. Throws a usage error for what is no TOML. */
  constructor(text: string, file: string) {
    this.#file = file;
    this.#document = parsed(text, file);
    for (const key of Object.keys(this.#document))
      if (!(KNOWN as readonly string[]).includes(key)) this.#problems.push(`${file}: unknown key ${key}${didYouMean(key, KNOWN)}`);
  }

  /** Null where the file says nothing of them, which is not that there are to be none. */
  of<Given>({ key, isName, rule, read }: Reading<Given>): readonly Wanted<Given>[] | null {
    const { [key]: tables } = this.#document;
    if (tables === undefined) return null;
    if (!Array.isArray(tables) || !tables.every(isTable)) throw usageError(`${this.#file}: ${key}: must be an array of tables: [[${key}]]`);
    const wanted = (tables as readonly TomlTable[]).flatMap(({ name, ...table }, index) => {
      const place = `${this.#file}: [[${key}]] #${index + 1}`;
      if (typeof name !== "string" || !isName(name)) {
        this.#problems.push(`${place}: name: ${rule}`);
        return [];
      }
      const given = read(plain(table) as TomlTable, (problem) => this.#problems.push(`${place} (${name}): ${problem}`));
      return given === null ? [] : [{ name, given }];
    });
    const names = wanted.map(({ name }) => name);
    for (const name of new Set(names.filter((each, index) => names.indexOf(each) !== index)))
      this.#problems.push(`${this.#file}: two ${key}s are called ${JSON.stringify(name)}`);
    return wanted;
  }

  /** Throws a usage error with everything that is wrong, each with its table and key. */
  check(): void {
    const [first, ...others] = this.#problems;
    if (first !== undefined) throw usageError(first, ...others);
  }
}

function parsed(text: string, file: string): TomlTable {
  try {
    return parseTomlText(text, file);
  } catch (error) {
    throw error instanceof EdgewiseError ? usageError(error.message) : error;
  }
}

/** With the dates of TOML as the texts that JSON has. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  return isTable(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)])) : value;
}
