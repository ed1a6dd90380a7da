import { count } from "../../src/operations.ts";
import { execute } from "../counted-sql.ts";

/** A round of the sweep: first every run is asked which uploads it points to, then the uploads are looked through. */
export interface SweepRound {
  readonly round: number;
  readonly phase: "asking" | "deleting" | "done";
  /** Run that was asked last, or upload that was looked at last. */
  readonly after: string;
  /** Unix milliseconds. */
  readonly started_at: number;
  readonly stepped_at: number;
}

/** Key of the newest round; none of before is round 0, long ago. */
const ROUND = "uploads";
const NEVER: SweepRound = { round: 0, phase: "done", after: "", started_at: 0, stepped_at: 0 };

/** What the Registry knows of uploads. Versions before do without: they sweep nothing. */
export class UploadStore {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  round(): SweepRound {
    return this.#storage.kv.get<SweepRound>(ROUND) ?? NEVER;
  }

  putRound(round: SweepRound): void {
    this.#storage.kv.put(ROUND, round);
    count("do_rows_written");
  }

  /** Notes that somebody is about to name these; what is `known` since then is not written again. Times in Unix milliseconds. */
  use(digests: readonly string[], now: number, known: number): void {
    this.#storage.transactionSync(() => {
      for (const digest of digests) {
        const [row] = this.#rows<{ used_at: number }>("SELECT used_at FROM upload WHERE digest = ?", digest);
        if (row === undefined) this.#rows("INSERT INTO upload VALUES (?, ?, 0)", digest, now);
        else if (row.used_at < known) this.#rows("UPDATE upload SET used_at = ? WHERE digest = ?", now, digest);
      }
    });
  }

  /** Notes that a run points to these. */
  mark(digests: readonly string[], round: number): void {
    this.#storage.transactionSync(() => {
      for (const digest of digests) this.#rows("INSERT INTO upload VALUES (?, 0, ?) ON CONFLICT (digest) DO UPDATE SET round = excluded.round", digest, round);
    });
  }

  /** Whether a run pointed to it in this round, or somebody asked for it after `since`. */
  keeps(digest: string, round: number, since: number): boolean {
    return this.#rows("SELECT 1 FROM upload WHERE digest = ? AND (round = ? OR used_at > ?)", digest, round, since).length > 0;
  }

  /** Drops what the next round finds out anew. */
  forget(since: number): void {
    this.#rows("DELETE FROM upload WHERE used_at <= ?", since);
  }

  /** Ids of runs behind `after`, those that are only reserved among them. */
  runsAfter(after: string, limit: number): string[] {
    return this.#rows<{ run_id: string }>("SELECT run_id FROM runs WHERE run_id > ? ORDER BY run_id LIMIT ?", after, limit).map(({ run_id }) => run_id);
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
