import { DAY_MS } from "../../src/teams/retention.ts";
import { LateTables } from "../late-tables.ts";
import type { AuditEnd, AuditEntry, NewAuditEntry } from "./audit-control.ts";

/**
 * `audit`: what somebody set about, written before it is done; `audit_end`: what came of it. Rows are added and never changed, which the database itself
 * keeps; and removed only where they are older than `audit_bound`, which only ever rises. No change of version: code that does not know them notes nothing, and code of
 * before `audit_bound` removes nothing.
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
  CREATE TABLE IF NOT EXISTS audit_bound (before INTEGER NOT NULL);
  INSERT INTO audit_bound SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM audit_bound);
  DROP TRIGGER IF EXISTS audit_kept;
  DROP TRIGGER IF EXISTS audit_end_kept;
  CREATE TRIGGER IF NOT EXISTS audit_young_kept BEFORE DELETE ON audit WHEN OLD.time >= (SELECT before FROM audit_bound)
    BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
  CREATE TRIGGER IF NOT EXISTS audit_end_young_kept BEFORE DELETE ON audit_end WHEN EXISTS (SELECT 1 FROM audit WHERE audit.seq = OLD.seq)
    BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
  CREATE TRIGGER IF NOT EXISTS audit_bound_rises BEFORE UPDATE ON audit_bound WHEN NEW.before < OLD.before
    BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
  CREATE TRIGGER IF NOT EXISTS audit_bound_kept BEFORE DELETE ON audit_bound BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
  CREATE TRIGGER IF NOT EXISTS audit_end_unchanged BEFORE UPDATE ON audit_end BEGIN SELECT RAISE(ABORT, 'the audit is only added to'); END;
`;

/** Who did what in a team. */
export class AuditStore {
  readonly #tables: LateTables;
  constructor(storage: DurableObjectStorage) {
    this.#tables = new LateTables(storage, AUDIT);
  }

  /** The number of the entry. */
  note({ time, user, via, token, origin, action, target }: NewAuditEntry): number {
    const [row] = this.#tables.rows<{ seq: number }>(
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
    this.#tables.rows("INSERT OR IGNORE INTO audit_end VALUES (?, ?, ?, ?)", seq, time, status, target);
  }

  /** Oldest first. */
  after(seq: number, limit: number): AuditEntry[] {
    return this.#list("WHERE audit.seq > ? ORDER BY audit.seq", seq, limit);
  }

  /** Newest first; 0 is behind the newest. */
  before(seq: number, limit: number): AuditEntry[] {
    return this.#list("WHERE audit.seq < ? ORDER BY audit.seq DESC", seq === 0 ? Number.MAX_SAFE_INTEGER : seq, limit);
  }

  #list(which: string, seq: number, limit: number): AuditEntry[] {
    return this.#tables.rows<AuditEntry & Record<string, SqlStorageValue>>(
      `SELECT audit.seq, audit.time, user, via, token, origin, action, coalesce(audit_end.target, audit.target) AS target, status, audit_end.time AS ended_at
        FROM audit LEFT JOIN audit_end ON audit_end.seq = audit.seq ${which} LIMIT ?`,
      seq,
      limit,
    );
  }

  /**
   * Removes the oldest entries, at most `most`, as far as they are of before this moment; the removal is an entry itself, so that it waits until the oldest is a day over. How
   * many they were.
   */
  prune(before: number, most: number, now: number): number {
    return this.#tables.transaction(() => {
      const oldest = this.#tables.rows<{ seq: number; time: number }>("SELECT seq, time FROM audit ORDER BY seq LIMIT ?", most);
      const young = oldest.findIndex(({ time }) => time >= before);
      const old = young < 0 ? oldest : oldest.slice(0, young);
      const last = old.at(-1);
      if (last === undefined || (oldest[0]?.time ?? before) >= before - DAY_MS) return 0;
      this.#tables.rows("UPDATE audit_bound SET before = max(before, ?)", before);
      this.#tables.rows("DELETE FROM audit WHERE seq <= ?", last.seq);
      this.#tables.rows("DELETE FROM audit_end WHERE seq <= ?", last.seq);
      const target = `${old.length} entries up to ${last.seq}`;
      const seq = this.note({ time: now, user: "edgewise", via: "service", token: null, origin: "retention", action: "audit.prune", target });
      this.end({ seq, time: now, status: 200, target: null });
      return old.length;
    });
  }
}
