import { ok, type Result } from "../../src/errors/result.ts";
import { execute } from "../counted-sql.ts";
import { hasTables, makeTables } from "../stored-schema.ts";
import type { BudgetLimits } from "./budget-control.ts";
import type { LedgerChanges, StoredLedger } from "./ledger.ts";
import type { StoredJob } from "./stored-job.ts";
import type { StoredParty } from "./party.ts";
import type { StoredWindow } from "./windows.ts";

/** Version of the tables below and of what stands in them. */
const SCHEMA = 1;
/** While it holds money for jobs: a version that does not know them would give that to others. */
const JOBS_SCHEMA = 2;

/** `head`: one row, its limits as JSON, null = nothing may be spent. Money is nano-dollars; what the columns mean stands in `windows.ts` and `party.ts`. */
const TABLES = `
  CREATE TABLE head (limits TEXT);
  CREATE TABLE spent (span TEXT PRIMARY KEY, label TEXT NOT NULL, settled INTEGER NOT NULL, unseen_calls INTEGER NOT NULL, unseen INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE party (
    executor TEXT PRIMARY KEY, boot TEXT NOT NULL, runtime TEXT NOT NULL, seq INTEGER NOT NULL,
    allots INTEGER NOT NULL, allotted INTEGER NOT NULL, calls INTEGER NOT NULL, lost_at INTEGER
  ) WITHOUT ROWID;
`;

/** Made when something is first held for a job; what its columns mean stands in `stored-job.ts`. */
const JOB_TABLE = `
  CREATE TABLE IF NOT EXISTS job (
    job TEXT PRIMARY KEY, epoch INTEGER NOT NULL, seq INTEGER NOT NULL, hold TEXT NOT NULL, amount INTEGER NOT NULL, requests INTEGER NOT NULL, at INTEGER NOT NULL
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
    const tables = hasTables(this.#sql, "budget", SCHEMA, JOBS_SCHEMA);
    if (!tables.ok) return tables;
    if (!tables.value) return ok(null);
    const [head] = execute<{ limits: string | null }>(this.#sql, "SELECT limits FROM head");
    return ok({
      limits: head === undefined || head.limits === null ? null : (JSON.parse(head.limits) as BudgetLimits),
      windows: execute<Row<StoredWindow>>(this.#sql, "SELECT * FROM spent"),
      parties: execute<Row<StoredParty>>(this.#sql, "SELECT * FROM party"),
      jobs: this.#hasJobs ? execute<Row<StoredJob>>(this.#sql, "SELECT * FROM job") : [],
    });
  }

  /** In one transaction of the caller's. */
  put({ limits, windows, put, gone, jobs }: LedgerChanges): void {
    const tables = hasTables(this.#sql, "budget", SCHEMA, JOBS_SCHEMA);
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
    if (jobs !== null) this.#putJobs(jobs);
  }

  get #hasJobs(): boolean {
    return execute(this.#sql, "SELECT 1 FROM sqlite_master WHERE name = 'job'").length > 0;
  }

  #putJobs({ put, gone, isHolding }: NonNullable<LedgerChanges["jobs"]>): void {
    this.#sql.exec(JOB_TABLE);
    for (const job of gone) execute(this.#sql, "DELETE FROM job WHERE job = ?", job);
    for (const { job, epoch, seq, hold, amount, requests, at } of put)
      execute(this.#sql, "INSERT OR REPLACE INTO job VALUES (?, ?, ?, ?, ?, ?, ?)", job, epoch, seq, hold, amount, requests, Math.ceil(at));
    const version = isHolding ? JOBS_SCHEMA : SCHEMA;
    execute(this.#sql, "UPDATE schema_version SET version = ? WHERE version <> ?", version, version);
  }
}
