import { MAX_GIVEN_LIMITS, MAX_KNOWN_LIMITERS } from "../../../src/limits.ts";
import { canonicalJson } from "../../../src/config/canonical-json.ts";
import type { GivenLimit } from "../../../src/config/endpoints/given-limit.ts";
import { EdgewiseError, fail, ok, type Result } from "../../../src/errors/result.ts";
import { LateTables } from "../../late-tables.ts";
import type { LimitedPlace } from "../../limiter/limiter-control.ts";
import type { KeptLimit, SeenLimiter } from "./limiter-index-control.ts";

/** Version of `limits`: a row of another one is refused by name. */
export const GIVEN_LIMIT_VERSION = 1;

/** No change of the Registry's version: code that does not know them finds no limit that somebody gave, and shows no Limiter. */
const LIMITERS = `
  CREATE TABLE IF NOT EXISTS limiter (
    name TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    base_url TEXT NOT NULL,
    api_key_var TEXT NOT NULL,
    model_class TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    own INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS given_limit (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    limits TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by TEXT NOT NULL
  ) WITHOUT ROWID;
`;

type LimiterRow = Record<string, SqlStorageValue> &
  LimitedPlace & { readonly id: string; readonly name: string; readonly seen_at: number; readonly own: number };
interface GivenRow extends Record<string, SqlStorageValue> {
  readonly name: string;
  readonly version: number;
  readonly limits: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly updated_by: string;
}

/** Limiters that a team's runs call, and the limits that it keeps. */
export class LimiterStore {
  readonly #tables: LateTables;
  constructor(storage: DurableObjectStorage) {
    this.#tables = new LateTables(storage, LIMITERS);
  }

  /** `own`: runs of the team itself call it; it stays so whoever calls it afterwards. */
  note(name: string, { base_url, api_key_var, model_class }: LimitedPlace, own: boolean, now: number): void {
    const id = crypto.randomUUID().slice(0, 8);
    this.#tables.transaction(() => {
      this.#tables.rows(
        `INSERT INTO limiter VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
          ON CONFLICT (name) DO UPDATE SET base_url = ?3, api_key_var = ?4, model_class = ?5, seen_at = ?6, own = max(own, ?7)`,
        name,
        id,
        base_url,
        api_key_var,
        model_class,
        now,
        own ? 1 : 0,
      );
      this.#tables.rows("DELETE FROM limiter WHERE name IN (SELECT name FROM limiter ORDER BY seen_at DESC, name LIMIT -1 OFFSET ?)", MAX_KNOWN_LIMITERS);
    });
  }

  seen(): SeenLimiter[] {
    return this.#tables.rows<LimiterRow>("SELECT * FROM limiter ORDER BY seen_at DESC, name").map(seenOf);
  }

  find(id: string): SeenLimiter | null {
    const [row] = this.#tables.rows<LimiterRow>("SELECT * FROM limiter WHERE id = ?", id);
    return row === undefined ? null : seenOf(row);
  }

  all(): KeptLimit[] {
    return this.#tables.rows<GivenRow>("SELECT * FROM given_limit ORDER BY name").map(keptOf);
  }

  given(name: string): KeptLimit | null {
    const [row] = this.#tables.rows<GivenRow>("SELECT * FROM given_limit WHERE name = ?", name);
    return row === undefined ? null : keptOf(row);
  }

  put({ name, limits, user }: { readonly name: string; readonly limits: readonly GivenLimit[]; readonly user: string }, now: number): Result<KeptLimit> {
    const before = this.given(name);
    if (before !== null && canonicalJson(before.limits) === canonicalJson(limits)) return ok(before);
    const [{ there } = { there: 0 }] = this.#tables.rows<{ there: number }>("SELECT count(*) AS there FROM given_limit");
    if (before === null && there >= MAX_GIVEN_LIMITS)
      return fail("invalid_request", `a team keeps at most ${MAX_GIVEN_LIMITS} limits of endpoints`, "Clear those that nothing keeps to any more.");
    const created_at = before?.created_at ?? now;
    this.#tables.rows(
      "INSERT OR REPLACE INTO given_limit VALUES (?, ?, ?, ?, ?, ?)",
      ...[name, GIVEN_LIMIT_VERSION, JSON.stringify(limits), created_at, now, user],
    );
    return ok({ name, limits, created_at, updated_at: now, updated_by: user });
  }

  /** Whichever version stored it; what of it can be read is told. */
  remove(name: string): KeptLimit | null {
    const [row] = this.#tables.rows<GivenRow>("DELETE FROM given_limit WHERE name = ? RETURNING *", name);
    if (row === undefined) return null;
    return row.version === GIVEN_LIMIT_VERSION ? keptOf(row) : { ...row, limits: [] };
  }
}

const seenOf = ({ id, name, base_url, api_key_var, model_class, seen_at, own }: LimiterRow): SeenLimiter => ({
  ...{ id, name, place: { base_url, api_key_var, model_class } },
  ...{ seen_at, own: own === 1 },
});

function keptOf({ name, version, limits, created_at, updated_at, updated_by }: GivenRow): KeptLimit {
  if (version !== GIVEN_LIMIT_VERSION) {
    throw new EdgewiseError("stored_version_unknown", `The limit ${name} was stored by another version of edgewise (${version}).`, {
      hint: "Deploy that version again, or a newer one; or clear the limit and set it again.",
    });
  }
  return { name, limits: JSON.parse(limits) as GivenLimit[], created_at, updated_at, updated_by };
}
