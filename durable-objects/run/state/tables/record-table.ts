import { execute } from "../../../counted-sql.ts";

/** What a run has one of, by name, as text. */
export class RecordTable {
  readonly #sql: SqlStorage;
  /** As they are stored: a head is parsed anew each time it is asked for, since transitions change theirs. */
  readonly #known = new Map<string, string | null>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get(key: string): string | null {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const value = execute<{ value: string }>(this.#sql, "SELECT value FROM record WHERE key = ?", key)[0]?.value ?? null;
    this.#known.set(key, value);
    return value;
  }

  put(key: string, value: string): void {
    this.#known.set(key, value);
    execute(this.#sql, "INSERT OR REPLACE INTO record (key, value) VALUES (?, ?)", key, value);
  }

  remove(key: string): void {
    this.#known.set(key, null);
    execute(this.#sql, "DELETE FROM record WHERE key = ?", key);
  }

  forget(): void {
    this.#known.clear();
  }
}
