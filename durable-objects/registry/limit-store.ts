import { TEAM_LIMITS, type TeamLimitName, type TeamLimits } from "../../src/teams/limits.ts";
import { execute } from "../counted-sql.ts";
import type { LimitChanges } from "./registry-control.ts";

/** `value` null: no limit. A limit without a row has its default. No change of version: code that does not know them limits nothing. */
const TABLE = "CREATE TABLE IF NOT EXISTS team_limit (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID";

/** The limits of a team, as somebody set them. */
export class LimitStore {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  make(): void {
    this.#rows(TABLE);
  }

  all(): TeamLimits {
    const rows = this.#rows<{ name: string; value: number | null }>("SELECT name, value FROM team_limit");
    return Object.fromEntries(rows.filter(({ name }) => (TEAM_LIMITS as readonly string[]).includes(name)).map(({ name, value }) => [name, value]));
  }

  set(changes: LimitChanges): void {
    for (const name of TEAM_LIMITS) {
      const value: number | null | "default" | undefined = changes[name];
      if (value === undefined) continue;
      if (value === "default") this.#rows("DELETE FROM team_limit WHERE name = ?", name satisfies TeamLimitName);
      else this.#rows("INSERT OR REPLACE INTO team_limit VALUES (?, ?)", name, value);
    }
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
