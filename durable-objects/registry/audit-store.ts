import { execute } from "../counted-sql.ts";
import type { AuditEnd, AuditEntry, NewAuditEntry } from "./audit-control.ts";

/**
 * `audit`: what somebody set about, written before it is done; `audit_end`: what came of it. Rows are added and never changed, which the database itself
 * keeps. No change of version: code that does not know them notes nothing.
 */
const AUDIT = `
  CREATE TABLE IF NOT EXISTS audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    time INTEGER NOT NULL,
    user TEXT NOT NULL,
    via TEXT NOT NULL,
    token TEXT,
    origin TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT
  );
  CREATE TABLE IF NOT EXISTS audit_end (
    seq INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    status INTEGER NOT NULL,
    target TEXT
  );
  CREATE TRIGGER IF NOT EXISTS audit_unchanged BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
  CREATE TRIGGER IF NOT EXISTS audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
  CREATE TRIGGER IF NOT EXISTS audit_end_unchanged BEFORE UPDATE ON audit_end BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
  CREATE TRIGGER IF NOT EXISTS audit_end_kept BEFORE DELETE ON audit_end BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
`;

/** Who did what in a team. */
export class AuditStore {
  readonly #storage: DurableObjectStorage;
  #made = false;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** The number of the entry. */
  note({ time, user, via, token, origin, action, target }: NewAuditEntry): number {
    this.#make();
    const [row] = this.#rows<{ seq: number }>(
      "INSERT INTO audit (time, user, via, token, origin, action, target) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq",
      time,
      user,
      via,
      token,
      origin,
      action,
      target,
    );
    return row?.seq ?? 0;
  }

  end({ seq, time, status, target }: AuditEnd): void {
    this.#make();
    this.#rows("INSERT OR IGNORE INTO audit_end VALUES (?, ?, ?, ?)", seq, time, status, target);
  }

  /** Oldest first. */
  after(seq: number, limit: number): AuditEntry[] {
    this.#make();
    return this.#rows<AuditEntry & Record<string, SqlStorageValue>>(
      `SELECT audit.seq, audit.time, user, via, token, origin, action, coalesce(audit_end.target, audit.target) AS target, status, audit_end.time AS ended_at
        FROM audit LEFT JOIN audit_end ON audit_end.seq = audit.seq WHERE audit.seq > ? ORDER BY audit.seq LIMIT ?`,
      seq,
      limit,
    );
  }

  /** Once in the life of the object. */
  #make(): void {
    if (this.#made) return;
    this.#rows(AUDIT);
    this.#made = true;
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
