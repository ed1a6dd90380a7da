import type { KnownCondition } from "../../src/alerts/telling.ts";
import type { Attempt } from "../../src/alerts/answer.ts";
import type { Told } from "../../src/alerts/message.ts";
import { EdgewiseError } from "../../src/errors/result.ts";
import { execute } from "../counted-sql.ts";
import type { AlertFacts, DeliveryFacts, DeliveryState } from "./alert-book-control.ts";

/** Version of the tables below and of what stands in them. */
const SCHEMA = 1;

/**
 * `alert`: who is told, the details as JSON; `failures`: messages in a row that it did not take, and until when it is left alone for that. `condition`: what
 * lasts, and when it began. `occurrence`: what was told, so that it counts once. `delivery`: one message to one receiver; `begun`: somebody is at it;
 * `held_until`: nobody else is sent for it before.
 */
const TABLES = `
  CREATE TABLE schema_version (version INTEGER NOT NULL);
  INSERT INTO schema_version VALUES (${SCHEMA});
  CREATE TABLE head (team TEXT NOT NULL);
  CREATE TABLE alert (name TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, detail TEXT NOT NULL, failures INTEGER NOT NULL DEFAULT 0, rests_until INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
  CREATE TABLE condition (key TEXT PRIMARY KEY, state TEXT NOT NULL, at INTEGER NOT NULL, since INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE occurrence (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, taken_at INTEGER NOT NULL);
  CREATE TABLE delivery (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    alert_id TEXT NOT NULL,
    alert TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    next_at INTEGER,
    begun INTEGER NOT NULL,
    held_until INTEGER NOT NULL,
    told TEXT NOT NULL,
    attempts TEXT NOT NULL
  );
  CREATE INDEX delivery_by_next ON delivery (alert_id, next_at) WHERE next_at IS NOT NULL;
  CREATE INDEX delivery_by_alert ON delivery (alert_id, seq);
`;

const DAY_MS = 86_400_000;
/** How long what is over is kept, and how much of it. */
const KEPT = { ms: 30 * DAY_MS, deliveries: 1_000, occurrences: 5_000, conditions: 5_000 };

type Value = SqlStorageValue;
type AlertDetail = Pick<AlertFacts, "definition" | "origin" | "created_at" | "created_by" | "updated_at" | "disabled">;

export interface StoredAlert extends AlertDetail {
  readonly name: string;
  readonly id: string;
  readonly failures: number;
  readonly rests_until: number;
}

interface DeliveryHead {
  readonly id: string;
  readonly alert_id: string;
  readonly alert: string;
  readonly made_at: number;
  readonly state: DeliveryState;
  readonly first_at: number;
  readonly tries: number;
  readonly next_at: number | null;
  readonly held_until: number;
}
type DeliveryRow = Record<string, Value> & DeliveryHead & { readonly begun: number; readonly told: string; readonly attempts: string };

export interface StoredDelivery extends DeliveryHead {
  readonly begun: boolean;
  readonly told: Told;
  readonly attempts: readonly Attempt[];
}

/** SQL of an alert book, made by the first alert; the only place that knows its tables. */
export class AlertBookStore {
  readonly #storage: DurableObjectStorage;
  #known = false;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Whether there was ever an alert. Throws `stored_version_unknown` for what another version has stored. */
  exists(): boolean {
    if (this.#known) return true;
    if (this.#rows("SELECT 1 FROM sqlite_master WHERE name = 'schema_version'").length === 0) return false;
    const [row] = this.#rows<{ version: number }>("SELECT version FROM schema_version");
    if (row?.version !== SCHEMA)
      throw new EdgewiseError("stored_version_unknown", `The alerts of this team were stored by another version of edgewise (schema ${row?.version}).`, {
        hint: "Deploy that version again, or a newer one.",
      });
    this.#known = true;
    return true;
  }

  make(team: string): void {
    this.#rows(TABLES);
    this.#rows("INSERT INTO head VALUES (?)", team);
  }

  team(): string {
    return this.#rows<{ team: string }>("SELECT team FROM head")[0]?.team ?? "";
  }

  alerts(): StoredAlert[] {
    return this.#rows<{ name: string; id: string; detail: string; failures: number; rests_until: number }>("SELECT * FROM alert ORDER BY name").map(
      ({ detail, ...row }) => ({ ...row, ...(JSON.parse(detail) as AlertDetail) }),
    );
  }

  putAlert({ name, id, failures, rests_until, definition, origin, created_at, created_by, updated_at, disabled }: StoredAlert): void {
    const detail: AlertDetail = { definition, origin, created_at, created_by, updated_at, disabled };
    this.#rows("INSERT OR REPLACE INTO alert VALUES (?, ?, ?, ?, ?)", name, id, JSON.stringify(detail), failures, rests_until);
  }

  removeAlert({ name, id }: Pick<StoredAlert, "name" | "id">): void {
    this.#rows("DELETE FROM alert WHERE name = ?", name);
    this.#rows("DELETE FROM delivery WHERE alert_id = ?", id);
  }

  condition(key: string): KnownCondition | null {
    return this.#rows<{ state: "on" | "off"; at: number; since: number }>("SELECT state, at, since FROM condition WHERE key = ?", key)[0] ?? null;
  }

  putCondition(key: string, { state, at, since }: KnownCondition): void {
    this.#rows("INSERT OR REPLACE INTO condition VALUES (?, ?, ?, ?)", key, state, at, since);
  }

  /** Whether it was not there before. */
  noteOccurrence(id: string, now: number): boolean {
    return this.#rows("INSERT OR IGNORE INTO occurrence (id, taken_at) VALUES (?, ?) RETURNING seq", id, now).length > 0;
  }

  addDelivery(id: string, { id: alertId, name }: Pick<StoredAlert, "id" | "name">, told: Told, now: number): void {
    this.#rows(
      `INSERT INTO delivery (id, alert_id, alert, made_at, state, first_at, tries, next_at, begun, held_until, told, attempts)
       VALUES (?, ?, ?, ?, 'waiting', ?, 0, ?, 0, 0, ?, '[]')`,
      ...[id, alertId, name, now, now, now, JSON.stringify(told)],
    );
  }

  delivery(id: string): StoredDelivery | null {
    const [row] = this.#rows<DeliveryRow>("SELECT * FROM delivery WHERE id = ?", id);
    return row === undefined ? null : storedOf(row);
  }

  putDelivery({ id, state, first_at, tries, next_at, begun, held_until, attempts }: StoredDelivery): void {
    this.#rows(
      "UPDATE delivery SET state = ?, first_at = ?, tries = ?, next_at = ?, begun = ?, held_until = ?, attempts = ? WHERE id = ?",
      ...[state, first_at, tries, next_at, begun ? 1 : 0, held_until, JSON.stringify(attempts), id],
    );
  }

  /** The newest first. */
  deliveries(alertId: string | null, limit: number): DeliveryFacts[] {
    const where = alertId === null ? "" : "WHERE alert_id = ?2";
    return this.#rows<DeliveryRow>(`SELECT * FROM delivery ${where} ORDER BY seq DESC LIMIT ?1`, limit, ...(alertId === null ? [] : [alertId])).map((row) =>
      factsOf(storedOf(row)),
    );
  }

  waiting(alertId: string): number {
    return this.#rows<{ n: number }>("SELECT count(*) AS n FROM delivery WHERE alert_id = ? AND next_at IS NOT NULL", alertId)[0]?.n ?? 0;
  }

  /** Messages of an alert that somebody is sent for, or is at. */
  held(alertId: string, now: number): number {
    return (
      this.#rows<{ n: number }>("SELECT count(*) AS n FROM delivery WHERE alert_id = ? AND next_at IS NOT NULL AND held_until > ?", alertId, now)[0]?.n ?? 0
    );
  }

  /** Messages whose time has come, and nobody is at, the longest due first. */
  due(alertId: string, now: number, limit: number): string[] {
    return this.#rows<{ id: string }>(
      "SELECT id FROM delivery WHERE alert_id = ? AND next_at <= ? AND held_until <= ? ORDER BY next_at, seq LIMIT ?",
      ...[alertId, now, now, limit],
    ).map(({ id }) => id);
  }

  hold(id: string, until: number): void {
    this.#rows("UPDATE delivery SET held_until = ?, begun = 0 WHERE id = ?", until, id);
  }

  /** When the next message of an alert is due, or is not held any more; null = never. */
  nextOf(alertId: string): number | null {
    return (
      this.#rows<{ at: number | null }>("SELECT min(max(next_at, held_until)) AS at FROM delivery WHERE alert_id = ? AND next_at IS NOT NULL", alertId)[0]
        ?.at ?? null
    );
  }

  /** When the first of those that are held is not any more; null where none is. */
  heldUntil(alertId: string, now: number): number | null {
    return (
      this.#rows<{ at: number | null }>(
        "SELECT min(held_until) AS at FROM delivery WHERE alert_id = ? AND next_at IS NOT NULL AND held_until > ?",
        alertId,
        now,
      )[0]?.at ?? null
    );
  }

  /** What was first to be sent before then, and still waits, is sent no more. */
  giveUp(alertId: string, before: number): void {
    this.#rows(
      "UPDATE delivery SET state = 'failed', next_at = NULL, held_until = 0, begun = 0 WHERE alert_id = ? AND next_at IS NOT NULL AND first_at <= ?",
      alertId,
      before,
    );
  }

  /** Beyond so many that wait, the oldest are given up. */
  keepNewest(alertId: string, most: number): void {
    this.#rows(
      `UPDATE delivery SET state = 'failed', next_at = NULL, held_until = 0, begun = 0
       WHERE seq IN (SELECT seq FROM delivery WHERE alert_id = ? AND next_at IS NOT NULL ORDER BY seq DESC LIMIT -1 OFFSET ?)`,
      alertId,
      most,
    );
  }

  /** What is over and old is forgotten. */
  prune(now: number): void {
    this.#rows("DELETE FROM occurrence WHERE taken_at < ? OR seq <= (SELECT max(seq) FROM occurrence) - ?", now - KEPT.ms, KEPT.occurrences);
    this.#rows("DELETE FROM condition WHERE state = 'off' AND at < ?", now - KEPT.ms);
    this.#rows("DELETE FROM condition WHERE key IN (SELECT key FROM condition ORDER BY at DESC LIMIT -1 OFFSET ?)", KEPT.conditions);
    this.#rows("DELETE FROM delivery WHERE next_at IS NULL AND (made_at < ? OR seq <= (SELECT max(seq) FROM delivery) - ?)", now - KEPT.ms, KEPT.deliveries);
  }

  #rows<Row extends Record<string, Value>>(statement: string, ...values: Value[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}

const storedOf = ({ told, attempts, begun, ...row }: DeliveryRow): StoredDelivery => ({
  ...row,
  begun: begun === 1,
  told: JSON.parse(told) as Told,
  attempts: JSON.parse(attempts) as Attempt[],
});

export const factsOf = ({ id, alert, told, made_at, state, tries, next_at, attempts }: StoredDelivery): DeliveryFacts => ({
  ...{ id, alert, type: told.type, text: told.text, at: made_at, state, tries, next_at, attempts },
});
