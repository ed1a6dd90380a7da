import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { MAX_BASELINES } from "../../../src/limits.ts";
import { LateTables } from "../../late-tables.ts";
import type { StoredBaseline } from "./baseline-control.ts";

/** No change of the Registry's version: code that does not know them finds no baseline. */
const BASELINES = `
  CREATE TABLE IF NOT EXISTS baseline (
    name TEXT PRIMARY KEY,
    run_id TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by TEXT NOT NULL
  ) WITHOUT ROWID;
`;

type BaselineRow = Record<string, SqlStorageValue> & StoredBaseline;

/** The baselines of a team. */
export class BaselineStore {
  readonly #tables: LateTables;
  constructor(storage: DurableObjectStorage) {
    this.#tables = new LateTables(storage, BASELINES);
  }

  find(name: string): StoredBaseline | null {
    return this.#tables.rows<BaselineRow>("SELECT * FROM baseline WHERE name = ?", name)[0] ?? null;
  }

  all(): StoredBaseline[] {
    return this.#tables.rows<BaselineRow>("SELECT * FROM baseline ORDER BY name");
  }

  put({ name, run_id, user }: { readonly name: string; readonly run_id: string; readonly user: string }, now: number): Result<StoredBaseline> {
    const before = this.find(name);
    if (before?.run_id === run_id) return ok(before);
    const [{ there } = { there: 0 }] = this.#tables.rows<{ there: number }>("SELECT count(*) AS there FROM baseline");
    if (before === null && there >= MAX_BASELINES)
      return fail("invalid_request", `a team has at most ${MAX_BASELINES} baselines`, "Delete those that nothing is held against any more.");
    this.#tables.rows("INSERT OR REPLACE INTO baseline VALUES (?, ?, ?, ?)", name, run_id, now, user);
    return ok({ name, run_id, updated_at: now, updated_by: user });
  }

  /** Whether there was one. */
  remove(name: string): boolean {
    return this.#tables.rows("DELETE FROM baseline WHERE name = ? RETURNING name", name).length > 0;
  }
}
