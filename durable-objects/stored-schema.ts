import { fail, ok, type Result } from "../src/errors/result.ts";
import { execute } from "./counted-sql.ts";

/** Whether an object has its tables. Fails where they are those of another version than these. `what`: that is stored, for a person. */
export function hasTables(sql: SqlStorage, what: string, ...schemas: readonly number[]): Result<boolean> {
  if (execute(sql, "SELECT 1 FROM sqlite_master WHERE name = 'schema_version'").length === 0) return ok(false);
  const [stored] = execute<{ version: number }>(sql, "SELECT version FROM schema_version");
  if (stored !== undefined && schemas.includes(stored.version)) return ok(true);
  return fail(
    "stored_version_unknown",
    `The ${what} was stored by another version of edgewise (schema ${stored?.version}).`,
    "Deploy that version again, or a newer one.",
  );
}

/** Makes them where there are none, with their version. */
export function makeTables(sql: SqlStorage, tables: string, schema: number): void {
  execute(sql, "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)");
  execute(sql, "INSERT INTO schema_version VALUES (?)", schema);
  execute(sql, tables);
}
