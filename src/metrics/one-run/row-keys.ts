import { fieldsOfInfo, MISSING, valueUnder } from "./row-key.ts";

/** Keys that are named to whoever asked for one that is not there. */
const NAMED = 24;

/** A key that no row has, and those that rows have. */
export interface UnknownKey {
  readonly key: string;
  /** Fields of rows and of their `info` that hold a text, a number or a yes or no; the first of them. */
  readonly known: readonly string[];
}

/** Whether rows have a key that something is to be grouped by: where none has it, all would be one group, which looks like an answer. */
export class RowKeys {
  readonly #key: string;
  readonly #known = new Set<string>();
  #rows = 0;
  #found = false;

  constructor(key: string) {
    this.#key = key;
  }

  add(row: Readonly<Record<string, unknown>>): void {
    this.#rows += 1;
    this.#found ||= valueUnder(row, this.#key) !== MISSING;
    if (!this.#found && this.#known.size < NAMED) for (const fields of [row, fieldsOfInfo(row.info)]) this.#note(fields);
  }

  /** Null where a row has the key, or there are no rows. */
  unknown(): UnknownKey | null {
    return this.#found || this.#rows === 0 ? null : { key: this.#key, known: [...this.#known] };
  }

  #note(fields: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(fields))
      if (["string", "number", "boolean"].includes(typeof value) && !LONG.has(name) && this.#known.size < NAMED) this.#known.add(name);
  }
}

/** What is asked and answered groups nothing; `info` as a text is looked into. */
const LONG: ReadonlySet<string> = new Set(["prompt", "completion", "info", "tool_defs"]);
