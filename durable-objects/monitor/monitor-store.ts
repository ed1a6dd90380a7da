import type { Occurrence } from "../../src/alerts/occurrence.ts";
import { ok, type Result } from "../../src/errors/result.ts";
import type { HistoryEntry, MonitorState } from "../../src/monitors/state.ts";
import { execute } from "../counted-sql.ts";
import { hasTables, makeTables } from "../stored-schema.ts";
import type { StoredHistory } from "./monitor-control.ts";

/** Version of the tables below and of what stands in them. */
const SCHEMA = 1;

/**
 * `head`: one row. `version` counts changes of what lists show and of when it is to be looked at, `projected` is the last of them that the Registry has.
 * `removed`: it is deleted, and alerts are still to be told. `owed`: occurrences that the team's alerts have not taken, as JSON. `history`: what happened.
 */
const TABLES = `
  CREATE TABLE head (version INTEGER NOT NULL, projected INTEGER NOT NULL, team TEXT NOT NULL, removed INTEGER NOT NULL, state TEXT NOT NULL, owed TEXT NOT NULL);
  CREATE TABLE history (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, entry TEXT NOT NULL);
`;

/** Entries of the history that are kept. */
const MOST_ENTRIES = 500;

type Value = SqlStorageValue;

export interface MonitorHead {
  readonly version: number;
  readonly projected: number;
  readonly team: string;
  readonly removed: boolean;
  readonly state: MonitorState;
  readonly owed: readonly Occurrence[];
}

interface HeadRow extends Record<string, Value> {
  readonly version: number;
  readonly projected: number;
  readonly team: string;
  readonly removed: number;
  readonly state: string;
  readonly owed: string;
}

/** SQL of a monitor; the only place that knows its tables. */
export class MonitorStore {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Null where nothing was ever stored, or all of it is deleted. Fails for what another version has stored. */
  head(): Result<MonitorHead | null> {
    const tables = hasTables(this.#storage.sql, "monitor", SCHEMA);
    if (!tables.ok) return tables;
    if (!tables.value) return ok(null);
    const [row] = this.#rows<HeadRow>("SELECT * FROM head");
    if (row === undefined) return ok(null);
    return ok({ ...row, removed: row.removed === 1, state: JSON.parse(row.state) as MonitorState, owed: JSON.parse(row.owed) as Occurrence[] });
  }

  make({ version, projected, team, removed, state, owed }: MonitorHead): void {
    makeTables(this.#storage.sql, TABLES, SCHEMA);
    this.#rows("INSERT INTO head VALUES (?, ?, ?, ?, ?, ?)", version, projected, team, removed ? 1 : 0, JSON.stringify(state), JSON.stringify(owed));
  }

  put({ version, projected, removed, state, owed }: MonitorHead): void {
    this.#rows(
      "UPDATE head SET version = ?, projected = ?, removed = ?, state = ?, owed = ?",
      version,
      projected,
      removed ? 1 : 0,
      JSON.stringify(state),
      JSON.stringify(owed),
    );
  }

  projected(version: number): void {
    this.#rows("UPDATE head SET projected = ? WHERE projected < ?", version, version);
  }

  note(entries: readonly HistoryEntry[], now: number): void {
    for (const entry of entries) this.#rows("INSERT INTO history (at, entry) VALUES (?, ?)", now, JSON.stringify(entry));
    if (entries.length > 0) this.#rows("DELETE FROM history WHERE seq <= (SELECT max(seq) FROM history) - ?", MOST_ENTRIES);
  }

  /** The newest first. */
  history(most: number): StoredHistory[] {
    return this.#rows<{ seq: number; at: number; entry: string }>("SELECT * FROM history ORDER BY seq DESC LIMIT ?", most).map(({ seq, at, entry }) => ({
      seq,
      at,
      entry: JSON.parse(entry) as HistoryEntry,
    }));
  }

  #rows<Row extends Record<string, Value>>(statement: string, ...values: Value[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
