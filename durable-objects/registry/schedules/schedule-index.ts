import { uploadDigestsIn } from "../../../src/config/upload-digests.ts";
import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { MAX_EVALUATORS, MAX_SCHEDULES } from "../../../src/limits.ts";
import { LateTables } from "../../late-tables.ts";
import type { EvaluatorFacts } from "../../evaluator/evaluator-control.ts";
import type { ScheduleFacts } from "../../schedule/schedule-control.ts";
import type { IndexProjection } from "./schedule-index-control.ts";

/**
 * `version` 0: reserved, and not heard of yet. `facts`: JSON of what lists show. No change of the Registry's version: code that does not know them
 * finds none. Those of evaluators are the same under their name.
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

/** Whoever reserves makes the object within this. */
const RESERVED_MS = 60_000;

/** Objects of a team that are named by its people and woken by themselves: its schedules, or its evaluators. */
class WokenIndex<Facts> {
  readonly #tables: LateTables;
  readonly #table: "schedule" | "evaluator";
  readonly #most: number;
  /** `table`: what they are called, too; `most`: that a team may have. */
  constructor(storage: DurableObjectStorage, table: "schedule" | "evaluator", most: number) {
    this.#tables = new LateTables(storage, SCHEDULES.replaceAll("schedule", table));
    this.#table = table;
    this.#most = most;
  }

  reserve(name: string, now: number): Result<null> {
    if (this.#tables.rows(`UPDATE ${this.#table} SET reserved_at = ? WHERE name = ? RETURNING name`, now, name).length > 0) return ok(null);
    const [{ there } = { there: 0 }] = this.#tables.rows<{ there: number }>(`SELECT count(*) AS there FROM ${this.#table}`);
    if (there >= this.#most) return fail("invalid_request", `a team has at most ${this.#most} ${this.#table}s`, "Delete those that nobody needs any more.");
    this.#tables.rows(`INSERT INTO ${this.#table} VALUES (?, ?, 0, ?, NULL)`, name, now, now);
    return ok(null);
  }

  project({ name, version, wake_at, facts }: IndexProjection<Facts>): void {
    const text = JSON.stringify(facts);
    this.#tables.rows(`UPDATE ${this.#table} SET version = ?, wake_at = ?, facts = ? WHERE name = ? AND version < ?`, version, wake_at, text, name, version);
  }

  all(): Facts[] {
    return this.#tables
      .rows<{ facts: string }>(`SELECT facts FROM ${this.#table} WHERE facts IS NOT NULL ORDER BY name`)
      .map(({ facts }) => JSON.parse(facts) as Facts);
  }

  due(before: number, most: number): string[] {
    return this.#tables
      .rows<{ name: string }>(`SELECT name FROM ${this.#table} WHERE wake_at <= ? ORDER BY wake_at, name LIMIT ?`, before, most)
      .map(({ name }) => name);
  }

  forget(name: string, deleted: boolean, now: number): void {
    this.#tables.rows(`DELETE FROM ${this.#table} WHERE name = ? AND (? OR reserved_at <= ?)`, name, deleted ? 1 : 0, now - RESERVED_MS);
  }
}

/** The schedules of a team. */
export class ScheduleIndex extends WokenIndex<ScheduleFacts> {
  constructor(storage: DurableObjectStorage) {
    super(storage, "schedule", MAX_SCHEDULES);
  }

  /** Digests of the uploads that runs of its schedules are to read: what they are pinned to, and what they name. */
  uploads(): readonly string[] {
    return this.all().flatMap(({ pin, definition }) => uploadDigestsIn(definition.eval, { dataset: pin?.dataset ?? null }));
  }
}

/** The evaluators of training loops of a team. */
export class EvaluatorIndex extends WokenIndex<EvaluatorFacts> {
  constructor(storage: DurableObjectStorage) {
    super(storage, "evaluator", MAX_EVALUATORS);
  }

  /** Digests of the uploads that the runs of steps are to read. */
  uploads(): readonly string[] {
    return this.all().flatMap(({ definition }) => definition.evaluations.flatMap(({ eval: table }) => uploadDigestsIn(table)));
  }
}
