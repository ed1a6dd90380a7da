import { fail, ok, type Result } from "../../src/errors/result.ts";
import { execute } from "../counted-sql.ts";
import { environmentName } from "./environment-name.ts";
import { FACE, faceOf } from "./lists/list-changes.ts";
import { type RunListQuery, runListSql } from "./lists/list-query.ts";
import { takesProjection } from "./projection-rule.ts";
import type { ListedRun, Reservation, ReserveRequest, RunProjection } from "./registry-control.ts";
import type { TeamBudget } from "./team-budget.ts";
import { WatchStore } from "./watch-store.ts";

/** Version of the tables below. 2: `key_runs`. */
export const REGISTRY_SCHEMA = 2;

/**
 * `runs`: one row per reserved id; `version` and what follows are null until the Run has reported. A run's own columns repeat what
 * queries ask for, `projection` holds all of it. `keys`: idempotency keys with the first of their runs, forgotten with the last.
 */
const TABLES = `
  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    reserved_at INTEGER NOT NULL,
    version INTEGER,
    active INTEGER NOT NULL DEFAULT 1,
    env_owner TEXT,
    env_name TEXT,
    created_at INTEGER,
    projection TEXT
  ) WITHOUT ROWID;
  CREATE INDEX runs_by_age ON runs (created_at DESC, run_id) WHERE version IS NOT NULL;
  CREATE INDEX runs_active ON runs (run_id) WHERE active = 1;
  CREATE TABLE keys (
    idempotency_key TEXT PRIMARY KEY,
    body_digest TEXT NOT NULL,
    run_id TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX keys_by_run ON keys (run_id);
`;

/** Ids behind one key that reserved several, in their order. Schema 1 had one id per key, which is what no row here still means. */
const KEY_RUNS = `
  CREATE TABLE key_runs (
    run_id TEXT PRIMARY KEY,
    idempotency_key TEXT NOT NULL,
    position INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX key_runs_by_key ON key_runs (idempotency_key, position);
`;

/**
 * `used_at`: when somebody was last about to name the upload, `round`: the last sweep in which a run pointed to it. No change of version: code that
 * does not know it sweeps nothing.
 */
const UPLOADS = `
  CREATE TABLE IF NOT EXISTS upload (
    digest TEXT PRIMARY KEY,
    used_at INTEGER NOT NULL,
    round INTEGER NOT NULL
  ) WITHOUT ROWID;
`;

type Value = string | number | null;
interface KeyRow extends Record<string, Value> {
  readonly run_id: string;
  readonly body_digest: string;
}

/** SQL of the Registry; the only place that knows its tables. */
export class RegistryStore {
  readonly #storage: DurableObjectStorage;
  readonly #budget: TeamBudget;
  readonly watch: WatchStore;
  private constructor(storage: DurableObjectStorage, budget: TeamBudget) {
    this.#storage = storage;
    this.watch = new WatchStore(storage);
    this.#budget = budget;
  }

  /** Makes the tables where there are none. Tables of a version this code does not know are left alone. */
  static open(storage: DurableObjectStorage, budget: TeamBudget): Result<RegistryStore> {
    const store = new RegistryStore(storage, budget);
    const version = storage.transactionSync(() => {
      store.#rows("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)");
      const [row] = store.#rows<{ version: number }>("SELECT version FROM schema_version");
      if (row !== undefined && row.version !== 1 && row.version !== REGISTRY_SCHEMA) return row.version;
      store.#rows(UPLOADS);
      if (row === undefined) store.#rows(TABLES);
      budget.make();
      store.watch.make();
      if (row?.version === REGISTRY_SCHEMA) return REGISTRY_SCHEMA;
      store.#rows(KEY_RUNS);
      store.#rows("DELETE FROM schema_version");
      store.#rows("INSERT INTO schema_version VALUES (?)", REGISTRY_SCHEMA);
      return REGISTRY_SCHEMA;
    });
    if (version === REGISTRY_SCHEMA) return ok(store);
    return fail(
      "stored_version_unknown",
      `The Registry was stored by another version of edgewise (schema ${version}).`,
      "Deploy that version again, or a newer one.",
    );
  }

  reserve(request: ReserveRequest): Result<Reservation> {
    return this.#storage.transactionSync(() => {
      const { candidates, count: wanted = 1, idempotency_key, body_digest, now, rollouts, token = null } = request;
      const known =
        idempotency_key === null ? undefined : this.#rows<KeyRow>("SELECT run_id, body_digest FROM keys WHERE idempotency_key = ?", idempotency_key)[0];
      if (known !== undefined && idempotency_key !== null) {
        if (known.body_digest !== body_digest)
          return fail("idempotency_conflict", "This idempotency key was used with another body.", "Take a new key for a new request.");
        const ids = this.#idsOf(idempotency_key, known.run_id);
        const given = rollouts?.map((wanted, at) => this.#budget.use.rolloutsOf(ids[at] ?? "") ?? wanted);
        return ok({ run_ids: ids, existing: true, deleted: ids.filter((id) => !this.has(id)), ...(given === undefined ? {} : { rollouts: given }) });
      }
      const ids = candidates.filter((id) => !this.has(id)).slice(0, wanted);
      const [first] = ids;
      if (first === undefined || ids.length < wanted) return fail("illegal_transition", "A run with this id exists already.", "Resume it instead.");
      const admitted = rollouts === undefined ? ok([]) : this.#budget.admit({ ...request, rollouts, token });
      if (!admitted.ok) return admitted;
      for (const [at, id] of ids.entries()) {
        this.#rows("INSERT INTO runs (run_id, reserved_at) VALUES (?, ?)", id, now);
        this.#budget.use.begin(id, admitted.value[at] ?? 0, token?.id ?? null);
      }
      if (idempotency_key !== null) {
        this.#rows("INSERT INTO keys VALUES (?, ?, ?)", idempotency_key, body_digest, first);
        if (ids.length > 1)
          for (const [position, id] of ids.entries()) this.#rows("INSERT OR REPLACE INTO key_runs VALUES (?, ?, ?)", id, idempotency_key, position);
      }
      return ok({ run_ids: ids, existing: false, deleted: [], ...(rollouts === undefined ? {} : { rollouts: admitted.value }) });
    });
  }

  /** Removes a run, and with the last run of an idempotency key the key; nothing happens when it is not there. */
  remove(runId: string): void {
    this.#storage.transactionSync(() => this.#delete(runId));
  }

  /** Gives a reservation back; one that became a run stays. */
  release(runId: string): void {
    this.#storage.transactionSync(() => {
      if (this.#rows("SELECT 1 FROM runs WHERE run_id = ? AND version IS NULL", runId).length > 0) this.#delete(runId);
    });
  }

  /** Whether what a list seldom shows otherwise has changed. */
  project(projection: RunProjection): boolean {
    return this.#storage.transactionSync(() => {
      const [stored = null] = this.#rows<{ version: number | null; face: string }>(
        `SELECT version, ${FACE} AS face FROM runs WHERE run_id = ?`,
        projection.run_id,
      );
      if (!takesProjection(stored, projection)) return false;
      const { owner, name } = environmentName(projection.env_id);
      this.#rows(
        "UPDATE runs SET version = ?, active = ?, env_owner = ?, env_name = ?, created_at = ?, projection = ? WHERE run_id = ?",
        projection.version,
        projection.active ? 1 : 0,
        owner,
        name,
        projection.created_at,
        JSON.stringify(projection),
        projection.run_id,
      );
      this.#budget.use.project(projection);
      this.watch.project(projection);
      return stored?.version === null || stored?.face !== faceOf(projection);
    });
  }

  /** As asked for; without an order the newest first. */
  list(query: RunListQuery): { runs: ListedRun[]; total: number } {
    const { skip, limit } = query;
    const { where, bound, order } = runListSql(query);
    const [{ total } = { total: 0 }] = this.#rows<{ total: number }>(`SELECT count(*) AS total FROM runs WHERE ${where}`, ...bound);
    const taken = Math.max(0, Math.min(limit, total - skip));
    if (taken === 0) return { runs: [], total };
    // Rows that are skipped are read: from whichever end is nearer, so that the last page costs what the first does.
    const fromEnd = order === null && skip > total / 2;
    const sorted = order ?? (fromEnd ? "created_at, id DESC" : "created_at DESC, id");
    const rows = this.#rows<{ projection: string; kept: number | null; removal_at: number | null }>(
      `SELECT projection, kept, removal_at FROM (
        SELECT run_id AS id, projection, env_name, created_at FROM runs WHERE ${where} ORDER BY ${sorted}
        LIMIT ?${bound.length + 1} OFFSET ?${bound.length + 2}
      ) LEFT JOIN run_use ON run_use.run_id = id AND (kept = 1 OR removal_at IS NOT NULL)
      ORDER BY ${sorted}`,
      ...bound,
      taken,
      fromEnd ? total - skip - taken : skip,
    );
    const runs = rows.map(({ projection, kept, removal_at }) => ({
      ...(JSON.parse(projection) as RunProjection),
      ...(kept === 1 ? { kept: true } : {}),
      ...(removal_at === null ? {} : { removal_at }),
    }));
    return { runs: fromEnd ? runs.reverse() : runs, total };
  }

  /** Whether a run has this id, or it is reserved for one. */
  has(runId: string): boolean {
    return this.#rows("SELECT 1 FROM runs WHERE run_id = ?", runId).length > 0;
  }

  #idsOf(key: string, first: string): string[] {
    const rows = this.#rows<{ run_id: string }>("SELECT run_id FROM key_runs WHERE idempotency_key = ? ORDER BY position", key);
    return rows.length === 0 ? [first] : rows.map(({ run_id }) => run_id);
  }

  #delete(runId: string): void {
    const keys = this.#rows<{ idempotency_key: string; run_id: string }>(
      "SELECT idempotency_key, run_id FROM keys WHERE run_id = ?1 OR idempotency_key = (SELECT idempotency_key FROM key_runs WHERE run_id = ?1)",
      runId,
    );
    this.#rows("DELETE FROM runs WHERE run_id = ?", runId);
    for (const { idempotency_key: key, run_id: first } of keys) {
      if (this.#idsOf(key, first).some((id) => this.has(id))) continue;
      this.#rows("DELETE FROM keys WHERE idempotency_key = ?", key);
      this.#rows("DELETE FROM key_runs WHERE idempotency_key = ?", key);
    }
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: Value[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
