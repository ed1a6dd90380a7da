import type { Result } from "../../src/errors/result.ts";
import { execute } from "../counted-sql.ts";
import { hasTables, makeTables } from "../stored-schema.ts";
import type { AnswerStats, DoneAnswer } from "./answer-desk-control.ts";

/** Version of the tables below and of what stands in them. */
const SCHEMA = 1;

/**
 * `desk`: one row, whose answers they are. `answer`: one row for each question that has an answer in R2, or may have: `stored_at` 0 = it is only claimed, and
 * the object is there where its executor ended between putting it and saying so. `model`: that gave it. `expires_at`: from then on it counts for nothing, and its object is swept.
 * `holder`, `life`: executor that has claimed it, and the process that it was of; `held_until`: end of its lease. All times are Unix milliseconds.
 */
const TABLES = `
  CREATE TABLE desk (team TEXT NOT NULL);
  CREATE TABLE answer (digest TEXT PRIMARY KEY, bytes INTEGER NOT NULL, model TEXT NOT NULL, stored_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    holder TEXT, life TEXT, held_until INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX answer_by_expiry ON answer (expires_at);
`;

/** Takes: before, now, and the model twice. */
const CLEARED = "stored_at > 0 AND stored_at < ? AND expires_at > ? AND (? IS NULL OR model = ?)";

export interface AnswerRow extends Record<string, SqlStorageValue> {
  readonly digest: string;
  readonly stored_at: number;
  readonly expires_at: number;
  readonly holder: string | null;
  readonly life: string | null;
  readonly held_until: number;
}

export interface Claim {
  readonly digest: string;
  readonly holder: string;
  readonly life: string;
  readonly held_until: number;
  /** When the object that its executor may have left behind is swept. */
  readonly expires_at: number;
}

type StatsRow = Record<keyof Omit<AnswerStats, "claims">, number | null>;

/** SQL of an AnswerDesk; the only place that knows its tables. One where nobody asked anything has none. */
export class AnswerStore {
  readonly #sql: SqlStorage;
  constructor(storage: DurableObjectStorage) {
    this.#sql = storage.sql;
  }

  /** Whether anything was ever stored. Fails for what another version has stored. */
  get isThere(): Result<boolean> {
    return hasTables(this.#sql, "index of kept answers", SCHEMA);
  }

  make(team: string): void {
    makeTables(this.#sql, TABLES, SCHEMA);
    execute(this.#sql, "INSERT INTO desk VALUES (?)", team);
  }

  get team(): string {
    const [row] = execute<{ team: string }>(this.#sql, "SELECT team FROM desk");
    return row?.team ?? "";
  }

  row(digest: string): AnswerRow | null {
    return execute<AnswerRow>(this.#sql, "SELECT digest, stored_at, expires_at, holder, life, held_until FROM answer WHERE digest = ?", digest)[0] ?? null;
  }

  claim({ digest, holder, life, held_until, expires_at }: Claim): void {
    execute(this.#sql, "INSERT OR REPLACE INTO answer VALUES (?, 0, '', 0, ?, ?, ?, ?)", digest, expires_at, holder, life, held_until);
  }

  /** An answer that was put: whoever held the question meanwhile, it has one now. */
  keep({ digest, bytes, model, stored_at, expires_at }: DoneAnswer): void {
    execute(this.#sql, "INSERT OR REPLACE INTO answer VALUES (?, ?, ?, ?, ?, NULL, NULL, 0)", digest, bytes, model, stored_at, expires_at);
  }

  hold(digest: string, holder: string, held_until: number, expires_at: number): void {
    execute(this.#sql, "UPDATE answer SET held_until = ?, expires_at = ? WHERE digest = ? AND holder = ?", held_until, expires_at, digest, holder);
  }

  /** A claim that ended without an answer: nothing was put. */
  drop(digest: string, holder: string): void {
    execute(this.#sql, "DELETE FROM answer WHERE digest = ? AND holder = ? AND stored_at = 0", digest, holder);
  }

  stats(now: number): Omit<AnswerStats, "claims"> {
    const [row] = execute<StatsRow>(
      this.#sql,
      `SELECT count(*) AS answers, sum(bytes) AS bytes, min(stored_at) AS oldest_at, max(stored_at) AS newest_at, min(expires_at) AS expires_at
       FROM answer WHERE stored_at > 0 AND expires_at > ?`,
      now,
    );
    const { oldest_at = null, newest_at = null, expires_at = null } = row ?? {};
    return { answers: row?.answers ?? 0, bytes: row?.bytes ?? 0, oldest_at, newest_at, expires_at };
  }

  claims(now: number): number {
    return execute<{ claims: number }>(this.#sql, "SELECT count(*) AS claims FROM answer WHERE stored_at = 0 AND held_until > ?", now)[0]?.claims ?? 0;
  }

  /** Has all expire now that were stored before `before`, of that model or (null) of any; says what they were. */
  expire(before: number, model: string | null, now: number): Pick<AnswerStats, "answers" | "bytes"> {
    const chosen = [before, now, model, model];
    const [row] = execute<{ answers: number; bytes: number | null }>(
      this.#sql,
      `SELECT count(*) AS answers, sum(bytes) AS bytes FROM answer WHERE ${CLEARED}`,
      ...chosen,
    );
    execute(this.#sql, `UPDATE answer SET expires_at = ? WHERE ${CLEARED}`, now, ...chosen);
    return { answers: row?.answers ?? 0, bytes: row?.bytes ?? 0 };
  }

  /** Questions whose objects are nobody's any more, the oldest first. */
  expired(now: number, most: number): readonly string[] {
    return execute<{ digest: string }>(
      this.#sql,
      "SELECT digest FROM answer WHERE expires_at <= ? AND held_until <= ? ORDER BY expires_at LIMIT ?",
      now,
      now,
      most,
    ).map(({ digest }) => digest);
  }

  remove(digests: readonly string[]): void {
    for (const digest of digests) execute(this.#sql, "DELETE FROM answer WHERE digest = ?", digest);
  }

  /** When the next one expires; null = there is none. */
  get nextExpiry(): number | null {
    return execute<{ at: number | null }>(this.#sql, "SELECT min(expires_at) AS at FROM answer")[0]?.at ?? null;
  }
}
