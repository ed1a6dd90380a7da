import { count } from "../../src/operations.ts";
import { execute } from "../counted-sql.ts";
import { UNPROJECTED_MS } from "./projection-rule.ts";
import type { RunProjection } from "./registry-control.ts";

/**
 * `owing_run`: runs that have settled and still owe something to somebody else, beside the active ones of `runs`; a limit counts only those. No change of
 * version: code that does not know it watches active runs.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS owing_run (run_id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS owing_run_gone AFTER DELETE ON runs BEGIN DELETE FROM owing_run WHERE run_id = OLD.run_id; END;
`;

/** Key under which the watchdog's turns note how far they came; no run of before is behind "". */
const LAST_OF_TURN = "watchdog";

/** Which runs the watchdog pokes: those at work, and settled ones that owe something. Its tables are the Registry's. */
export class WatchStore {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Within the transaction that opens the Registry. */
  make(): void {
    this.#rows(TABLES);
  }

  /** News of a run. */
  project({ run_id, owes_push }: RunProjection): void {
    this.#rows(owes_push === true ? "INSERT OR IGNORE INTO owing_run VALUES (?)" : "DELETE FROM owing_run WHERE run_id = ?", run_id);
  }

  /** The next runs behind those of the turn before, each once. Where all go into one turn nothing is written. */
  turn(limit: number, now: number): string[] {
    return this.#storage.transactionSync(() => {
      const after = this.#storage.kv.get<string>(LAST_OF_TURN) ?? "";
      const next = this.#watched(after, limit, now);
      const first = next.length === limit || after === "" ? [] : this.#watched("", limit - next.length, now).filter((id) => id <= after);
      const ids = [...next, ...first];
      const last = ids.length < limit ? "" : (ids.at(-1) ?? "");
      if (last !== after) {
        this.#storage.kv.put(LAST_OF_TURN, last);
        count("do_rows_written");
      }
      return ids;
    });
  }

  #watched(after: string, limit: number, now: number): string[] {
    const rows = this.#rows<{ run_id: string }>(
      `SELECT run_id FROM runs WHERE active = 1 AND run_id > ?1 AND (version IS NOT NULL OR reserved_at > ?2)
      UNION SELECT run_id FROM owing_run WHERE run_id > ?1 ORDER BY run_id LIMIT ?3`,
      after,
      now - UNPROJECTED_MS,
      limit,
    );
    return rows.map(({ run_id }) => run_id);
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
