import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { MAX_MONITORS } from "../../../src/limits.ts";
import { LateTables } from "../../late-tables.ts";
import type { MonitorFacts } from "../../monitor/monitor-control.ts";
import type { MonitorProjection } from "./monitor-index-control.ts";

/**
 * `version` 0: reserved, and not heard of yet. `facts`: JSON of what lists show. `service_pulse`, one row: when the watchdog came last, and from when on the
 * service is known to have been there. No change of the Registry's version: code that does not know them finds no monitor.
 */
const MONITORS = `
  CREATE TABLE IF NOT EXISTS monitor (
    name TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    reserved_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    wake_at INTEGER,
    facts TEXT
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS monitor_by_wake ON monitor (wake_at) WHERE wake_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS service_pulse (looked_at INTEGER NOT NULL, heard_from INTEGER NOT NULL);
`;

/** Whoever reserves makes the monitor within this. */
const RESERVED_MS = 60_000;
/** The watchdog comes each minute; where it has not for so long, the service was away. */
const GAP_MS = 150_000;

interface PulseRow extends Record<string, SqlStorageValue> {
  readonly looked_at: number;
  readonly heard_from: number;
}

/** The monitors of a team. */
export class MonitorIndex {
  readonly #tables: LateTables;
  constructor(storage: DurableObjectStorage) {
    this.#tables = new LateTables(storage, MONITORS);
  }

  reserve(name: string, now: number): Result<{ readonly id: string }> {
    const [known] = this.#tables.rows<{ id: string }>("UPDATE monitor SET reserved_at = ? WHERE name = ? RETURNING id", now, name);
    if (known !== undefined) return ok({ id: known.id });
    const [{ there } = { there: 0 }] = this.#tables.rows<{ there: number }>("SELECT count(*) AS there FROM monitor");
    if (there >= MAX_MONITORS) return fail("invalid_request", `a team has at most ${MAX_MONITORS} monitors`, "Delete those that nobody needs any more.");
    const id = crypto.randomUUID().replaceAll("-", "");
    this.#tables.rows("INSERT INTO monitor VALUES (?, ?, ?, 0, ?, NULL)", name, id, now, now);
    return ok({ id });
  }

  id(name: string): string | null {
    return this.#tables.rows<{ id: string }>("SELECT id FROM monitor WHERE name = ?", name)[0]?.id ?? null;
  }

  project({ name, id, version, wake_at, facts }: MonitorProjection): void {
    const text = facts === null ? null : JSON.stringify(facts);
    this.#tables.rows(
      "UPDATE monitor SET version = ?, wake_at = ?, facts = ? WHERE name = ? AND id = ? AND version < ?",
      version,
      wake_at,
      text,
      name,
      id,
      version,
    );
  }

  all(): MonitorFacts[] {
    return this.#tables
      .rows<{ facts: string }>("SELECT facts FROM monitor WHERE facts IS NOT NULL ORDER BY name")
      .map(({ facts }) => JSON.parse(facts) as MonitorFacts);
  }

  due(before: number, most: number): { readonly name: string; readonly id: string }[] {
    return this.#tables.rows<{ name: string; id: string }>("SELECT name, id FROM monitor WHERE wake_at <= ? ORDER BY wake_at, name LIMIT ?", before, most);
  }

  forget(name: string, id: string, deleted: boolean, now: number): void {
    this.#tables.rows("DELETE FROM monitor WHERE name = ? AND id = ? AND (? OR reserved_at <= ?)", name, id, deleted ? 1 : 0, now - RESERVED_MS);
  }

  notePulse(now: number): void {
    const row = this.#pulse();
    // Nobody is watched: nothing is written each minute.
    if (row !== undefined)
      this.#tables.rows("UPDATE service_pulse SET looked_at = ?, heard_from = ?", now, now - row.looked_at > GAP_MS ? now : Math.min(row.heard_from, now));
  }

  heardFrom(now: number): number {
    const row = this.#pulse();
    if (row === undefined) this.#tables.rows("INSERT INTO service_pulse VALUES (?, 0)", now);
    if (row === undefined) return 0;
    return now - row.looked_at > GAP_MS ? now : row.heard_from;
  }

  #pulse(): PulseRow | undefined {
    return this.#tables.rows<PulseRow>("SELECT * FROM service_pulse")[0];
  }
}
