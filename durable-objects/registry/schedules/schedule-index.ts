import { uploadDigestsIn } from "../../../src/config/upload-digests.ts";
import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { MAX_SCHEDULES } from "../../../src/limits.ts";
import { execute } from "../../counted-sql.ts";
import type { ScheduleFacts } from "../../schedule/schedule-control.ts";
import type { ScheduleProjection } from "./schedule-index-control.ts";

/**
 * `version` 0: reserved, and not heard of yet. `facts`: JSON of what lists show. No change of the Registry's version: code that does not know them
 * finds no schedule.
 */
const SCHEDULES = `
  CREATE TABLE IF NOT EXISTS schedule (
    name TEXT PRIMARY KEY,
    reserved_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    wake_at INTEGER,
    facts TEXT
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS schedule_by_wake ON schedule (wake_at) WHERE wake_at IS NOT NULL;
`;

/** Whoever reserves makes the schedule within this. */
const RESERVED_MS = 60_000;

/** The schedules of a team. */
export class ScheduleIndex {
  readonly #storage: DurableObjectStorage;
  #made = false;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  reserve(name: string, now: number): Result<null> {
    if (this.#rows("UPDATE schedule SET reserved_at = ? WHERE name = ? RETURNING name", now, name).length > 0) return ok(null);
    const [{ there } = { there: 0 }] = this.#rows<{ there: number }>("SELECT count(*) AS there FROM schedule");
    if (there >= MAX_SCHEDULES) return fail("invalid_request", `a team has at most ${MAX_SCHEDULES} schedules`, "Delete those that nobody needs any more.");
    this.#rows("INSERT INTO schedule VALUES (?, ?, 0, ?, NULL)", name, now, now);
    return ok(null);
  }

  project({ name, version, wake_at, facts }: ScheduleProjection): void {
    const text = JSON.stringify(facts);
    this.#rows("UPDATE schedule SET version = ?, wake_at = ?, facts = ? WHERE name = ? AND version < ?", version, wake_at, text, name, version);
  }

  all(): ScheduleFacts[] {
    return this.#rows<{ facts: string }>("SELECT facts FROM schedule WHERE facts IS NOT NULL ORDER BY name").map(
      ({ facts }) => JSON.parse(facts) as ScheduleFacts,
    );
  }

  /** Digests of the uploads that runs of its schedules are to read: what they are pinned to, and what they name. */
  uploads(): ReadonlySet<string> {
    return new Set(this.all().flatMap(({ pin, definition }) => uploadDigestsIn(definition.eval, { dataset: pin?.dataset ?? null })));
  }

  due(before: number, most: number): string[] {
    return this.#rows<{ name: string }>("SELECT name FROM schedule WHERE wake_at <= ? ORDER BY wake_at, name LIMIT ?", before, most).map(({ name }) => name);
  }

  forget(name: string, deleted: boolean, now: number): void {
    this.#rows("DELETE FROM schedule WHERE name = ? AND (? OR reserved_at <= ?)", name, deleted ? 1 : 0, now - RESERVED_MS);
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    // Once in the life of the object.
    if (!this.#made) execute(this.#storage.sql, SCHEDULES);
    this.#made = true;
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
