import type { ExampleId } from "../../../src/cells/column-lines.ts";
import { execute } from "../../counted-sql.ts";
import type { RunHead } from "../state/head.ts";

type Key = { rank: number; number: number; text: string };

const idOf = ({ rank, number, text }: Key): ExampleId => (rank === 0 ? number : rank === 1 ? text : null);

/** What senders called the examples of a pushed evaluation, by unit: units were numbered in the order of these keys. */
export class PushedIds {
  readonly #sql: SqlStorage;
  /** Where the next page begins, so that pages in their order pass by no row twice. */
  #next: { readonly unit: number; readonly mark: string; readonly behind: readonly (string | number)[] } | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  forget(): void {
    this.#next = null;
  }

  /** Of these units, ascending. All null while something was pushed that has no place yet: numbers are then still those of before. */
  of(head: RunHead, rows: readonly { readonly unit: number }[]): readonly ExampleId[] {
    const { pushed, n, generation } = head;
    const [first, last] = [rows[0]?.unit, rows.at(-1)?.unit];
    if (pushed === undefined || first === undefined || last === undefined) return [];
    if (n !== (pushed.ungrouped === true ? pushed.samples : pushed.examples)) return rows.map(() => null);
    const [table, key] = pushed.ungrouped === true ? ["pushed_sample", SAMPLE_KEY] : ["pushed_example", EXAMPLE_KEY];
    const mark = `${table} ${generation} ${pushed.samples}`;
    const known = this.#next?.unit === first && this.#next.mark === mark ? this.#next.behind : null;
    const behind = known === null ? "" : `WHERE (${key}) > (${known.map(() => "?").join(", ")})`;
    const found = execute<Key & Record<string, string | number>>(
      this.#sql,
      `SELECT ${key} FROM ${table} ${behind} ORDER BY ${key} LIMIT ? OFFSET ?`,
      ...(known ?? []),
      last - first + 1,
      known === null ? first : 0,
    );
    const end = found.at(-1);
    this.#next = end === undefined ? null : { unit: last + 1, mark, behind: key.split(", ").map((column) => end[column] ?? 0) };
    return rows.map(({ unit }) => {
      const own = found[unit - first];
      return own === undefined ? null : idOf(own);
    });
  }
}

const EXAMPLE_KEY = "rank, number, text";
const SAMPLE_KEY = "rank, number, text, attempt, batch, position";
