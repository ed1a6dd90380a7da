import { execute } from "../counted-sql.ts";
import type { Use } from "../../src/teams/admission.ts";
import { UNPROJECTED_MS } from "./projection-rule.ts";
import type { RunProjection } from "./registry-control.ts";

/** How long a run that is let begin again counts until its own word of it is here. */
const ADMITTED_MS = 60_000;

/**
 * `run_use`: what a run takes of its team's limits, beside its row in `runs`; `rollouts`: its max_concurrent; `admitted_until`: it is being resumed;
 * `kept`, `removal_at` and `removing` (number of the audit's entry) are for retention. `stored_upload`: uploads with their sizes, from before they are stored. `stored_bytes`: the sums of
 * both, which triggers keep, so that nothing is stored or removed without them. No change of version: code that does not know them counts nothing, and what
 * it removes is forgotten here by the first trigger.
 */
const TABLES = `
  CREATE TABLE run_use (
    run_id TEXT PRIMARY KEY,
    token TEXT,
    rollouts INTEGER NOT NULL,
    admitted_until INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    settled_at INTEGER,
    kept INTEGER NOT NULL,
    removal_at INTEGER,
    removing INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX run_use_admitted ON run_use (admitted_until) WHERE admitted_until > 0;
  CREATE INDEX run_use_settled ON run_use (settled_at) WHERE settled_at IS NOT NULL AND kept = 0 AND removal_at IS NULL;
  CREATE INDEX run_use_removal ON run_use (removal_at) WHERE removal_at IS NOT NULL;
  CREATE TABLE stored_upload (digest TEXT PRIMARY KEY, bytes INTEGER NOT NULL, noted_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE stored_bytes (runs INTEGER NOT NULL, uploads INTEGER NOT NULL);
  INSERT INTO stored_bytes VALUES (0, 0);
  CREATE TRIGGER run_use_gone AFTER DELETE ON runs BEGIN DELETE FROM run_use WHERE run_id = OLD.run_id; END;
  CREATE TRIGGER run_bytes_more AFTER INSERT ON run_use WHEN NEW.bytes <> 0 BEGIN UPDATE stored_bytes SET runs = runs + NEW.bytes; END;
  CREATE TRIGGER run_bytes_other AFTER UPDATE OF bytes ON run_use WHEN NEW.bytes <> OLD.bytes BEGIN UPDATE stored_bytes SET runs = runs + NEW.bytes - OLD.bytes; END;
  CREATE TRIGGER run_bytes_less AFTER DELETE ON run_use WHEN OLD.bytes <> 0 BEGIN UPDATE stored_bytes SET runs = runs - OLD.bytes; END;
  CREATE TRIGGER upload_bytes_more AFTER INSERT ON stored_upload BEGIN UPDATE stored_bytes SET uploads = uploads + NEW.bytes; END;
  CREATE TRIGGER upload_bytes_other AFTER UPDATE OF bytes ON stored_upload BEGIN UPDATE stored_bytes SET uploads = uploads + NEW.bytes - OLD.bytes; END;
  CREATE TRIGGER upload_bytes_less AFTER DELETE ON stored_upload BEGIN UPDATE stored_bytes SET uploads = uploads - OLD.bytes; END;
  INSERT INTO run_use
    SELECT run_id, NULL, 0, 0, coalesce(json_extract(projection, '$.stored_bytes'), 0),
      CASE WHEN json_extract(projection, '$.settled') THEN json_extract(projection, '$.updated_at') END, 0, NULL, NULL FROM runs;
`;

/** Runs that count: at work, or reserved and not lost. */
const AT_WORK = "active = 1 AND (version IS NOT NULL OR reserved_at > ?1)";

/** An upload as the bucket lists it. */
interface Listed {
  readonly digest: string;
  readonly bytes: number;
}

/** What a team uses of its limits. Its tables are the Registry's; a caller that decides on it does so in one transaction. */
export class UseStore {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Within the transaction that opens the Registry; runs of before are counted with what their projections say. */
  make(): void {
    if (this.#rows("SELECT 1 FROM sqlite_master WHERE name = 'run_use'").length === 0) this.#rows(TABLES);
  }

  /** Runs and rollouts at once, of all of the team's runs or of one token's. Without this run, which is to begin again. */
  atOnce(now: number, token: string | null, without = ""): Use {
    const [use] = this.#rows<{ runs: number; rollouts: number }>(
      `SELECT count(*) AS runs, coalesce(sum(max(0, rollouts)), 0) AS rollouts FROM (
        SELECT runs.run_id AS id, rollouts, token FROM runs LEFT JOIN run_use ON run_use.run_id = runs.run_id WHERE ${AT_WORK}
        UNION ALL SELECT runs.run_id, rollouts, token FROM run_use JOIN runs ON runs.run_id = run_use.run_id WHERE admitted_until > ?2 AND active = 0
      ) WHERE id <> ?3 AND (?4 IS NULL OR token = ?4)`,
      now - UNPROJECTED_MS,
      now,
      without,
      token,
    );
    return use ?? { runs: 0, rollouts: 0 };
  }

  storedBytes(): number {
    const [row] = this.#rows<{ bytes: number }>("SELECT runs + uploads AS bytes FROM stored_bytes");
    return row?.bytes ?? 0;
  }

  /** Of a run that is reserved. */
  begin(runId: string, rollouts: number, token: string | null): void {
    this.#rows("INSERT OR REPLACE INTO run_use VALUES (?, ?, ?, 0, 0, NULL, 0, NULL, NULL)", runId, token, rollouts);
  }

  /** Of a run that is to be resumed: it counts from now on, and as its own projection says after that. */
  beginAgain(runId: string, rollouts: number, token: string | null, now: number): void {
    this.#rows("UPDATE run_use SET rollouts = ?, token = ?, admitted_until = ? WHERE run_id = ?", rollouts, token, now + ADMITTED_MS, runId);
  }

  /** It was not resumed. */
  withdraw(runId: string): void {
    this.#rows("UPDATE run_use SET admitted_until = 0 WHERE run_id = ? AND admitted_until > 0", runId);
  }

  /** What a run that counts now has, and for which token; null for one that does not. */
  held(runId: string, now: number): { readonly rollouts: number; readonly token: string | null } | null {
    const [row] = this.#rows<{ rollouts: number; token: string | null }>(
      `SELECT rollouts, token FROM run_use JOIN runs ON runs.run_id = run_use.run_id WHERE runs.run_id = ?3 AND ((${AT_WORK}) OR admitted_until > ?2)`,
      now - UNPROJECTED_MS,
      now,
      runId,
    );
    return row ?? null;
  }

  /** As it was let begin; null for one that nobody counted. */
  rolloutsOf(runId: string): number | null {
    const [row] = this.#rows<{ rollouts: number }>("SELECT rollouts FROM run_use WHERE run_id = ?", runId);
    return row?.rollouts ?? null;
  }

  /** News of a run. One that works again is not removed. */
  project({ run_id, stored_bytes = 0, settled, updated_at }: RunProjection): void {
    const [known] = this.#rows<{ bytes: number; settled_at: number | null; admitted_until: number }>(
      "SELECT bytes, settled_at, admitted_until FROM run_use WHERE run_id = ?",
      run_id,
    );
    const settled_at = settled ? updated_at : null;
    if (known?.bytes === stored_bytes && known.settled_at === settled_at && known.admitted_until === 0) return;
    this.#rows(
      `INSERT INTO run_use VALUES (?1, NULL, 0, 0, ?2, ?3, 0, NULL, NULL) ON CONFLICT (run_id) DO UPDATE SET
        bytes = excluded.bytes, admitted_until = 0, settled_at = excluded.settled_at,
        removal_at = CASE WHEN excluded.settled_at IS NULL THEN NULL ELSE removal_at END,
        removing = CASE WHEN excluded.settled_at IS NULL THEN NULL ELSE removing END`,
      run_id,
      stored_bytes,
      settled_at,
    );
  }

  /** Bytes of an upload that is counted; null for one that is not. */
  uploadBytes(digest: string): number | null {
    const [row] = this.#rows<{ bytes: number }>("SELECT bytes FROM stored_upload WHERE digest = ?", digest);
    return row?.bytes ?? null;
  }

  noteUpload(digest: string, bytes: number, now: number): void {
    this.#rows("INSERT INTO stored_upload VALUES (?, ?, ?) ON CONFLICT (digest) DO UPDATE SET noted_at = excluded.noted_at", digest, bytes, now);
  }

  dropUpload(digest: string): void {
    this.#rows("DELETE FROM stored_upload WHERE digest = ?", digest);
  }

  /**
   * What the bucket has between two names is what counts: uploads of before are noted, and those that never came to be stored, noted before `since`, are dropped.
   * `last` null: to the end.
   */
  agree(after: string, last: string | null, listed: readonly Listed[], since: number, now: number): void {
    this.#storage.transactionSync(() => {
      const there = new Set(listed.map(({ digest }) => digest));
      const known = this.#rows<{ digest: string; noted_at: number }>(
        "SELECT digest, noted_at FROM stored_upload WHERE digest > ?1 AND (?2 IS NULL OR digest <= ?2)",
        after,
        last,
      );
      for (const { digest, noted_at } of known) if (!there.has(digest) && noted_at < since) this.dropUpload(digest);
      const noted = new Set(known.map(({ digest }) => digest));
      for (const { digest, bytes } of listed) if (!noted.has(digest)) this.noteUpload(digest, bytes, now);
    });
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
