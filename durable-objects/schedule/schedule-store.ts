import type { Occurrence } from "../../src/alerts/occurrence.ts";
import { ok, type Result } from "../../src/errors/result.ts";
import type { RunDrift } from "../../src/drift/series.ts";
import type { Note, ScheduleState, SeenRun, SeriesEvent } from "../../src/schedules/state.ts";
import { execute } from "../counted-sql.ts";
import { hasTables, makeTables } from "../stored-schema.ts";
import type { SeriesEntry, StoredSeriesEvent } from "./schedule-control.ts";

/** Version of the tables below and of what stands in them. */
const SCHEMA = 1;

/**
 * `head`: one row. `version` counts changes of what lists show, `projected` is the last of them that the Registry has. `entry`: the series, a row for each due
 * time that was begun or skipped; the details as JSON. `removed`: the run is deleted, or was found to be kept. `event`: what happened.
 */
const TABLES = `
  CREATE TABLE head (version INTEGER NOT NULL, projected INTEGER NOT NULL, team TEXT NOT NULL, state TEXT NOT NULL);
  CREATE TABLE entry (due INTEGER PRIMARY KEY, run_id TEXT, removed INTEGER NOT NULL DEFAULT 0, over INTEGER NOT NULL DEFAULT 0, detail TEXT NOT NULL);
  CREATE INDEX entry_by_run ON entry (run_id) WHERE run_id IS NOT NULL;
  CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, type TEXT NOT NULL, detail TEXT NOT NULL);
`;

/**
 * Made by the first occurrence, with no change of version: code that does not know them tells nobody. `owed_alert`: what the alerts of the team are to know;
 * `alerting`: what was told to have begun, and has not ended.
 */
const ALERT_TABLES = `
  CREATE TABLE owed_alert (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, detail TEXT NOT NULL);
  CREATE TABLE alerting (key TEXT PRIMARY KEY) WITHOUT ROWID;
`;
/** Occurrences that are kept until they are taken. */
const MOST_OWED = 100;

/** Rows of each that are kept; runs that are to be deleted are never forgotten before. */
const MOST_ROWS = 1_000;

type Value = SqlStorageValue;
interface EntryRow extends Record<string, Value> {
  readonly due: number;
  readonly run_id: string | null;
  readonly removed: number;
  readonly detail: string;
}
type EntryDetail = Omit<SeriesEntry, "due" | "removed">;
interface EventRow extends Record<string, Value> {
  readonly seq: number;
  readonly at: number;
  readonly detail: string;
}

export interface ScheduleHead {
  readonly version: number;
  readonly projected: number;
  readonly team: string;
  readonly state: ScheduleState;
}

/** SQL of a schedule; the only place that knows its tables. */
export class ScheduleStore {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Null where nothing was ever stored, or all of it is deleted. Fails for what another version has stored. */
  head(): Result<ScheduleHead | null> {
    const tables = hasTables(this.#storage.sql, "schedule", SCHEMA);
    if (!tables.ok) return tables;
    if (!tables.value) return ok(null);
    const [row] = this.#rows<{ version: number; projected: number; team: string; state: string }>("SELECT * FROM head");
    return ok(row === undefined ? null : { ...row, state: JSON.parse(row.state) as ScheduleState });
  }

  make(head: ScheduleHead): void {
    makeTables(this.#storage.sql, TABLES, SCHEMA);
    this.#rows("INSERT INTO head VALUES (?, ?, ?, ?)", head.version, head.projected, head.team, JSON.stringify(head.state));
  }

  put({ version, projected, state }: ScheduleHead): void {
    this.#rows("UPDATE head SET version = ?, projected = ?, state = ?", version, projected, JSON.stringify(state));
  }

  projected(version: number): void {
    this.#rows("UPDATE head SET projected = ? WHERE projected < ?", version, version);
  }

  note(notes: readonly Note[], now: number): void {
    for (const note of notes) {
      if (note.note === "event") this.#event(note.event, now);
      else if (note.note === "ended") this.#ended(note, now);
      else {
        const detail: EntryDetail = { kind: note.due_kind, outcome: note.outcome, at: now, ended: null };
        const run = note.outcome.kind === "run" ? note.outcome.run_id : null;
        this.#rows("INSERT OR REPLACE INTO entry VALUES (?, ?, 0, 0, ?)", note.due, run, JSON.stringify(detail));
      }
    }
    if (notes.length > 0) this.#prune();
  }

  /** The newest first. */
  series(most: number): SeriesEntry[] {
    return this.#rows<EntryRow>("SELECT * FROM entry ORDER BY due DESC LIMIT ?", most).map(entryOf);
  }

  /** The newest first. `type`: of this name only. */
  events(most: number, type: SeriesEvent["type"] | null = null): StoredSeriesEvent[] {
    const where = type === null ? "" : "WHERE type = ?2";
    const rows = this.#rows<EventRow>(`SELECT seq, at, detail FROM event ${where} ORDER BY seq DESC LIMIT ?1`, most, ...(type === null ? [] : [type]));
    return rows.map(({ seq, at, detail }) => ({ seq, at, event: JSON.parse(detail) as SeriesEvent }));
  }

  /** Runs that are over and older than the newest `keep` of those, at most `most`, the oldest first; `needed` ones are none of them. */
  beyond(keep: number, most: number, needed: readonly string[]): string[] {
    const rows = this.#rows<{ run_id: string }>(
      `SELECT run_id FROM (SELECT due, run_id FROM entry WHERE run_id IS NOT NULL AND over = 1 AND removed = 0 ORDER BY due DESC LIMIT -1 OFFSET ?)
       WHERE run_id NOT IN (SELECT value FROM json_each(?)) ORDER BY due LIMIT ?`,
      keep,
      JSON.stringify(needed),
      most,
    );
    return rows.map(({ run_id }) => run_id);
  }

  removed(runId: string): void {
    this.#rows("UPDATE entry SET removed = 1 WHERE run_id = ?", runId);
  }

  /** What is said of the run's drift, in the place of what was. */
  judge(runId: string, drift: RunDrift): void {
    const [row] = this.#rows<EntryRow>("SELECT * FROM entry WHERE run_id = ?", runId);
    if (row === undefined) return;
    const detail: EntryDetail = { ...(JSON.parse(row.detail) as EntryDetail), drift };
    this.#rows("UPDATE entry SET detail = ? WHERE due = ?", JSON.stringify(detail), row.due);
  }

  /** Occurrences that the alerts of the team do not know yet, the oldest first, at most `most`. */
  owedAlerts(most: number): Occurrence[] {
    if (!this.#hasAlerts()) return [];
    return this.#rows<{ detail: string }>("SELECT detail FROM owed_alert ORDER BY seq LIMIT ?", most).map(({ detail }) => JSON.parse(detail) as Occurrence);
  }

  /** `on`: conditions that last from here on; `off`: those that do not any more. Within the transaction that decided them. */
  oweAlerts(occurrences: readonly Occurrence[]): void {
    if (occurrences.length === 0) return;
    if (!this.#hasAlerts()) this.#rows(ALERT_TABLES);
    for (const occurrence of occurrences) {
      this.#rows("INSERT OR IGNORE INTO owed_alert (id, detail) VALUES (?, ?)", occurrence.id, JSON.stringify(occurrence));
      const { key, state } = occurrence.condition ?? {};
      if (key !== undefined) this.#rows(state === "on" ? "INSERT OR IGNORE INTO alerting VALUES (?)" : "DELETE FROM alerting WHERE key = ?", key);
    }
    this.#rows("DELETE FROM owed_alert WHERE seq <= (SELECT max(seq) FROM owed_alert) - ?", MOST_OWED);
  }

  alertsTold(ids: readonly string[]): void {
    // It may be deleted meanwhile.
    if (this.#hasAlerts()) for (const id of ids) this.#rows("DELETE FROM owed_alert WHERE id = ?", id);
  }

  /** Keys of conditions that were told, and last. */
  alerting(): readonly string[] {
    return this.#hasAlerts() ? this.#rows<{ key: string }>("SELECT key FROM alerting").map(({ key }) => key) : [];
  }

  #hasAlerts(): boolean {
    return this.#rows("SELECT 1 FROM sqlite_master WHERE name = 'owed_alert'").length > 0;
  }

  #event(event: SeriesEvent, now: number): void {
    this.#rows("INSERT INTO event (at, type, detail) VALUES (?, ?, ?)", now, event.type, JSON.stringify(event));
  }

  #ended({ run_id, seen }: Extract<Note, { note: "ended" }>, now: number): void {
    const [row] = this.#rows<EntryRow>("SELECT * FROM entry WHERE run_id = ?", run_id);
    if (row === undefined) return;
    const ended = seen === null ? null : endedOf(seen, now);
    const detail: EntryDetail = { ...(JSON.parse(row.detail) as EntryDetail), ended };
    this.#rows("UPDATE entry SET over = 1, removed = ?, detail = ? WHERE due = ?", seen === null ? 1 : 0, JSON.stringify(detail), row.due);
  }

  #prune(): void {
    this.#rows("DELETE FROM event WHERE seq <= (SELECT max(seq) FROM event) - ?", MOST_ROWS);
    this.#rows("DELETE FROM entry WHERE due < (SELECT due FROM entry ORDER BY due DESC LIMIT 1 OFFSET ?) AND (run_id IS NULL OR removed = 1)", MOST_ROWS);
  }

  #rows<Row extends Record<string, Value>>(statement: string, ...values: Value[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}

const endedOf = ({ status, avg_reward, reward_ci95 = null, dataset_digest, env_digest }: SeenRun, at: number): NonNullable<SeriesEntry["ended"]> => ({
  ...{ status, avg_reward, reward_ci95, dataset_digest, env_digest, at },
});

const entryOf = ({ due, removed, detail }: EntryRow): SeriesEntry => ({ due, removed: removed === 1, ...(JSON.parse(detail) as EntryDetail) });
