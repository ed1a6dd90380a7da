import { ok, type Result } from "../../src/errors/result.ts";
import { execute } from "../counted-sql.ts";
import { hasTables, makeTables } from "../stored-schema.ts";
import type { BudgetLimits } from "./budget-control.ts";
import type { LedgerChanges, StoredLedger } from "./ledger.ts";
import type { StoredParty } from "./party.ts";
import type { StoredWindow } from "./windows.ts";

/** Version of the tables below and of what stands in them. */
const SCHEMA = 1;

/** `head`: one row, its limits as JSON, null = nothing may be spent. Money is nano-dollars; what the columns mean stands in `windows.ts` and `party.ts`. */
const TABLES = `
  CREATE TABLE head (limits TEXT);
  CREATE TABLE spent (span TEXT PRIMARY KEY, label TEXT NOT NULL, settled INTEGER NOT NULL, unseen_calls INTEGER NOT NULL, unseen INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE party (
    executor TEXT PRIMARY KEY, boot TEXT NOT NULL, runtime TEXT NOT NULL, seq INTEGER NOT NULL,
    allots INTEGER NOT NULL, allotted INTEGER NOT NULL, calls INTEGER NOT NULL, lost_at INTEGER
  ) WITHOUT ROWID;
`;

type Row<T> = T & Record<string, SqlStorageValue>;

/** SQL of a Budget; the only place that knows its tables. */
export class BudgetStore {
  readonly #sql: SqlStorage;
  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** Null where nothing was ever stored. Fails for what another version has stored. */
  ledger(): Result<StoredLedger | null> {
    const tables = hasTables(this.#sql, "budget", SCHEMA);
    if (!tables.ok) return tables;
    if (!tables.value) return ok(null);
    const [head] = execute<{ limits: string | null }>(this.#sql, "SELECT limits FROM head");
    return ok({
      limits: head === undefined || head.limits === null ? null : (JSON.parse(head.limits) as BudgetLimits),
      windows: execute<Row<StoredWindow>>(this.#sql, "SELECT * FROM spent"),
      parties: execute<Row<StoredParty>>(this.#sql, "SELECT * FROM party"),
    });
  }

  /** In one transaction of the caller's. */
  put({ limits, windows, put, gone }: LedgerChanges): void {
    const tables = hasTables(this.#sql, "budget", SCHEMA);
    if (tables.ok && !tables.value) makeTables(this.#sql, TABLES, SCHEMA);
    if (windows !== null) {
      execute(this.#sql, "DELETE FROM head");
      execute(this.#sql, "INSERT INTO head VALUES (?)", limits === null ? null : JSON.stringify(limits));
      for (const { span, label, settled, unseen_calls, unseen } of windows)
        execute(this.#sql, "INSERT OR REPLACE INTO spent VALUES (?, ?, ?, ?, ?)", span, label, settled, unseen_calls, unseen);
    }
    for (const executor of gone) execute(this.#sql, "DELETE FROM party WHERE executor = ?", executor);
    for (const { executor, boot, runtime, seq, allots, allotted, calls, lost_at } of put) {
      const at = lost_at === null ? null : Math.ceil(lost_at);
      execute(this.#sql, "INSERT OR REPLACE INTO party VALUES (?, ?, ?, ?, ?, ?, ?, ?)", executor, boot, runtime, seq, allots, allotted, calls, at);
    }
  }
}
