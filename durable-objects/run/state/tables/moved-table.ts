import { execute } from "../../../counted-sql.ts";
import type { Moved } from "../ledger.ts";

/**
 * Segments whose rows were copied into a larger one (course/merging.ts): the first `length` bytes of `segment` are at `start` of `target`.
 * Made when something is first written to it, since most runs never need it.
 */
export const MOVED_TABLE = `
CREATE TABLE IF NOT EXISTS moved (segment TEXT PRIMARY KEY, target TEXT NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL) WITHOUT ROWID;
`;

/** Done rows with the place that their rows have now. */
const LOCATED = `(SELECT d.unit, coalesce(m.target, d.segment) AS segment, d.start + coalesce(m.start, 0) AS start, d.length, d.owed, d.missing
  FROM done d LEFT JOIN moved m ON m.segment = d.segment AND d.start + d.length <= m.length)`;

/** Where rows are now that were committed in small segments. A row of `done` keeps the segment that it was committed in: that is what repeats of a commit, and followers, know it by. */
export class MovedTable {
  readonly #sql: SqlStorage;
  #exists: boolean | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Whether anything was ever moved. */
  get exists(): boolean {
    this.#exists ??= execute(this.#sql, "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'moved'").length > 0;
    return this.#exists;
  }

  /** What to read done rows from where it is the place that counts: columns `unit`, `segment`, `start`, `length`, `owed`, `missing`. */
  get located(): string {
    return this.exists ? LOCATED : "done";
  }

  /** What was moved once stays where it is. */
  put(moves: readonly Moved[]): void {
    if (!this.exists) execute(this.#sql, MOVED_TABLE);
    this.#exists = true;
    const rows = moves.map(({ segment, target, start, length }) => [segment, target, start, length]);
    execute(
      this.#sql,
      "INSERT OR IGNORE INTO moved (segment, target, start, length) SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)",
      JSON.stringify(rows),
    );
  }

  of(segments: readonly string[]): ReadonlyMap<string, Moved> {
    if (!this.exists || segments.length === 0) return new Map();
    const rows = execute<{ segment: string; target: string; start: number; length: number }>(
      this.#sql,
      "SELECT segment, target, start, length FROM moved WHERE segment IN (SELECT value FROM json_each(?))",
      JSON.stringify([...new Set(segments)]),
    );
    return new Map(rows.map((row) => [row.segment, row]));
  }

  clear(): void {
    if (this.exists) execute(this.#sql, "DELETE FROM moved");
  }

  forget(): void {
    this.#exists = null;
  }
}
