import { fail, ok, type Result } from "../../src/errors/result.ts";
import { noticeDue, removalOf } from "../../src/teams/retention.ts";
import { execute } from "../counted-sql.ts";
import type { AuditStore } from "./audit-store.ts";
import type { RunStanding } from "./registry-control.ts";

/** A run that is handed out for removal and still there after so long is handed out again. */
const AGAIN_MS = 10 * 60_000;

/**
 * Which settled runs stay, and which are told to go. Works on the `run_use` of UseStore: a run is handed out for removal in the transaction that notes it in the audit, and from
 * then on it cannot be kept any more.
 */
export class RetentionStore {
  readonly #storage: DurableObjectStorage;
  readonly #audit: AuditStore;
  constructor(storage: DurableObjectStorage, audit: AuditStore) {
    this.#storage = storage;
    this.#audit = audit;
  }

  /** Gives notices, at most `most`, and hands out as many runs whose time is over. */
  turn(days: number | null, most: number, now: number): string[] {
    return this.#storage.transactionSync(() => {
      if (days !== null) this.#notify(days, most, now);
      const due = this.#rows<{ run_id: string; removing: number | null }>(
        "SELECT run_id, removing FROM run_use WHERE removal_at <= ? ORDER BY removal_at LIMIT ?",
        now,
        most,
      );
      for (const { run_id, removing } of due)
        this.#rows(
          "UPDATE run_use SET removing = ?, removal_at = ? WHERE run_id = ?",
          removing ?? this.#note("run.delete", run_id, now),
          now + AGAIN_MS,
          run_id,
        );
      return due.map(({ run_id }) => run_id);
    });
  }

  /** The number of days was changed: whoever has a notice gets a new one in time. */
  beginAnew(): void {
    this.#rows("UPDATE run_use SET removal_at = NULL WHERE removal_at IS NOT NULL AND removing IS NULL");
  }

  /** Keeps a run, or lets its time go on. */
  keep(runId: string, kept: boolean): Result<RunStanding> {
    return this.#storage.transactionSync(() => {
      const [row] = this.#rows<{ removing: number | null }>("SELECT removing FROM run_use WHERE run_id = ?", runId);
      if (row === undefined) return fail("not_found", "Evaluation not found.");
      if (row.removing !== null) return fail("illegal_transition", "The run is being removed.", "Its results are wherever they were downloaded to.");
      if (kept) this.#rows("UPDATE run_use SET kept = 1, removal_at = NULL WHERE run_id = ?", runId);
      else this.#rows("UPDATE run_use SET kept = 0 WHERE run_id = ?", runId);
      return ok(this.standing(runId));
    });
  }

  standing(runId: string): RunStanding {
    const [row] = this.#rows<{ kept: number; removal_at: number | null }>("SELECT kept, removal_at FROM run_use WHERE run_id = ?", runId);
    return { kept: row?.kept === 1, removal_at: row?.removal_at ?? null };
  }

  /** The run is gone: what was noted has its end. */
  gone(runId: string, now: number): void {
    const [row] = this.#rows<{ removing: number | null }>("SELECT removing FROM run_use WHERE run_id = ?", runId);
    if (typeof row?.removing === "number") this.#audit.end({ seq: row.removing, time: now, status: 200, target: null });
  }

  #notify(days: number, most: number, now: number): void {
    const due = this.#rows<{ run_id: string; settled_at: number }>(
      "SELECT run_id, settled_at FROM run_use WHERE settled_at IS NOT NULL AND kept = 0 AND removal_at IS NULL AND settled_at <= ? ORDER BY settled_at LIMIT ?",
      noticeDue(days, now),
      most,
    );
    for (const { run_id, settled_at } of due) {
      const removal = removalOf(settled_at, days, now);
      this.#rows("UPDATE run_use SET removal_at = ? WHERE run_id = ?", removal, run_id);
      const seq = this.#note("run.notice", `${run_id} ${new Date(removal).toISOString()}`, now);
      this.#audit.end({ seq, time: now, status: 200, target: null });
    }
  }

  #note(action: string, target: string, now: number): number {
    return this.#audit.note({ time: now, user: "edgewise", via: "service", token: null, origin: "retention", action, target });
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
