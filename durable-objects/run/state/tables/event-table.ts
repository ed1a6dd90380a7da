import type { StoredEvent } from "../../../../src/logging/stored-event.ts";
import { execute } from "../../../counted-sql.ts";
import type { CommitEvent } from "../ledger.ts";

type Value = SqlStorageValue;

/** What happened to a run, in order: log lines, and commits with what was accepted in them. */
export class EventTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  put({ seq, time, type, level, message, rollouts, units, segment }: CommitEvent): void {
    const accepted = units.length === 0 ? null : JSON.stringify(units);
    execute(
      this.#sql,
      "INSERT INTO event (seq, time, type, level, message, rollouts, units, segment) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      seq,
      time,
      type,
      level,
      message,
      rollouts,
      accepted,
      segment,
    );
  }
  /** Events with `seq > after`, oldest first, without what only followers of rows need. */
  after(after: number, limit: number): StoredEvent[] {
    const rows = execute<Record<string, Value>>(
      this.#sql,
      "SELECT seq, time, type, level, message, rollouts FROM event WHERE seq > ? ORDER BY seq LIMIT ?",
      after,
      limit,
    );
    return rows as unknown as StoredEvent[];
  }
  /** The newest log events, oldest first. */
  logTail(limit: number): StoredEvent[] {
    const rows = execute<Record<string, Value>>(
      this.#sql,
      "SELECT seq, time, type, level, message, rollouts FROM event WHERE type = 'log' ORDER BY seq DESC LIMIT ?",
      limit,
    );
    return rows.reverse() as unknown as StoredEvent[];
  }
  commitsAfter(after: number, limit: number): CommitEvent[] {
    const rows = execute<Record<string, Value>>(this.#sql, "SELECT * FROM event WHERE seq > ? AND units IS NOT NULL ORDER BY seq LIMIT ?", after, limit);
    return rows.map((row) => ({ ...(row as unknown as CommitEvent), units: JSON.parse(String(row.units)) as number[] }));
  }

  /** Time and segment of an event: two copies of a run that went on apart agree in no later one. */
  markOf(seq: number): string | null {
    const [event] = execute<{ time: number; segment: string | null }>(this.#sql, "SELECT time, segment FROM event WHERE seq = ?", seq);
    return event === undefined ? null : `${event.time}.${event.segment ?? ""}`;
  }
}
