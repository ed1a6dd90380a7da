import { EdgewiseError } from "../../../src/errors/result.ts";
import { execute } from "../../counted-sql.ts";

/** Version of the tables below. */
export const SECRET_SCHEMA = 1;

/**
 * `secret`: of the team (`environment` = '') or of one environment; `sealed`: its value, encrypted; `key`: with which master key. `run_secret`: of one
 * run, while it works. `sealing`: the one master key that values may be encrypted with. No change of the Registry's version: code that does not know
 * them has no secrets.
 */
const TABLES = `
  CREATE TABLE secret (
    id TEXT PRIMARY KEY,
    environment TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    hosts TEXT NOT NULL,
    sealed TEXT NOT NULL,
    key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (environment, name)
  ) WITHOUT ROWID;
  CREATE INDEX secret_by_key ON secret (key, id);
  CREATE TABLE secret_link (environment TEXT NOT NULL, secret TEXT NOT NULL, id TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (environment, secret)) WITHOUT ROWID;
  CREATE INDEX secret_link_by_secret ON secret_link (secret);
  CREATE TABLE variable (
    id TEXT PRIMARY KEY,
    environment TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    description TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (environment, name)
  ) WITHOUT ROWID;
  CREATE TABLE run_secret (
    id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    name TEXT NOT NULL,
    generation INTEGER NOT NULL,
    put_at INTEGER NOT NULL,
    sealed TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (id, generation)
  ) WITHOUT ROWID;
  CREATE INDEX run_secret_by_run ON run_secret (run_id, generation);
  CREATE INDEX run_secret_by_key ON run_secret (key, id);
  CREATE TABLE sealing (key TEXT NOT NULL);
  CREATE TABLE secret_schema (version INTEGER NOT NULL);
  INSERT INTO secret_schema VALUES (${SECRET_SCHEMA});
`;

/** The tables of secrets in a Registry: made by the first write, so that a team without secrets has none. */
export class SecretTables {
  readonly #storage: DurableObjectStorage;
  #known = false;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Whether there are any. Throws `stored_version_unknown` for those of a version that this code does not know. */
  exist(): boolean {
    if (this.#known) return true;
    if (this.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'secret_schema'").length === 0) return false;
    const [row] = this.rows<{ version: number }>("SELECT version FROM secret_schema");
    if (row?.version !== SECRET_SCHEMA)
      throw new EdgewiseError("stored_version_unknown", `The secrets of this team were stored by another version of edgewise (schema ${row?.version}).`, {
        hint: "Deploy that version again, or a newer one.",
      });
    this.#known = true;
    return true;
  }

  /** One transaction over tables that are there. */
  change<T>(work: () => T): T {
    return this.#storage.transactionSync(() => {
      if (!this.exist()) this.rows(TABLES);
      return work();
    });
  }

  /** Of a transaction of somebody else: nothing where there are no tables. */
  rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
