import { ok, type Result } from "../../src/errors/result.ts";
import { execute } from "../counted-sql.ts";
import { hasTables, makeTables } from "../stored-schema.ts";
import type { GivenToAll, StoredLimiter } from "./stored-limiter.ts";
import { knowledgeOf } from "./ceilings/knowledge.ts";

/** Version of the table below and of what stands in it; what was found has one of its own, and another one is as good as none. */
const SCHEMA = 1;

/**
 * One row. `place`: where it is called; `knowledge`: what was found and told, null = nothing; `given`: what persons gave; all as JSON. `life`: of the process whose
 * executors it told what they may do, `shares_until`: by then that has expired.
 */
const TABLES = `
  CREATE TABLE head (place TEXT NOT NULL, knowledge TEXT, given TEXT NOT NULL, life TEXT NOT NULL, shares_until INTEGER NOT NULL);
`;

interface HeadRow extends Record<string, SqlStorageValue> {
  readonly place: string;
  readonly knowledge: string | null;
  readonly given: string;
  readonly life: string;
  readonly shares_until: number;
}

/** SQL of a Limiter; the only place that knows its table. One of an endpoint that nothing limits has none. */
export class LimiterStore {
  readonly #sql: SqlStorage;
  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** Null where nothing was ever stored. Fails for what another version has stored. */
  head(): Result<StoredLimiter | null> {
    const tables = hasTables(this.#sql, "limiter", SCHEMA);
    if (!tables.ok) return tables;
    if (!tables.value) return ok(null);
    const [row] = execute<HeadRow>(this.#sql, "SELECT * FROM head");
    if (row === undefined) return ok(null);
    return ok({
      version: SCHEMA,
      place: JSON.parse(row.place) as StoredLimiter["place"],
      knowledge: row.knowledge === null ? null : knowledgeOf(JSON.parse(row.knowledge)),
      given: JSON.parse(row.given) as GivenToAll,
      life: row.life,
      shares_until: row.shares_until,
    });
  }

  put({ place, knowledge, given, life, shares_until }: StoredLimiter): void {
    const tables = hasTables(this.#sql, "limiter", SCHEMA);
    if (tables.ok && !tables.value) makeTables(this.#sql, TABLES, SCHEMA);
    const known = knowledge === null ? null : JSON.stringify(knowledge);
    execute(this.#sql, "DELETE FROM head");
    execute(this.#sql, "INSERT INTO head VALUES (?, ?, ?, ?, ?)", JSON.stringify(place), known, JSON.stringify(given), life, Math.ceil(shares_until));
  }
}
