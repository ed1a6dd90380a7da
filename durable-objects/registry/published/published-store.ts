import { EdgewiseError, fail, ok, type Result } from "../../../src/errors/result.ts";
import { MAX_PUBLISHED, MAX_VERSIONS } from "../../../src/limits.ts";
import type { Visibility } from "../../../src/published/published-name.ts";
import { LateTables } from "../../late-tables.ts";
import type { PublishedCode, PublishedEnvironment, PublishedVersion, PublishRequest } from "./published-control.ts";

/** Version of the rows of both tables: one of another is refused by name. */
export const PUBLISHED_VERSION = 1;

/**
 * `digest`: of the module, which stays when the version is deleted; `removal`: 1 = its code is being removed from R2, 2 = it is gone from there. No change of
 * the Registry's version: code that does not know these tables has no published environments.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS published (
    name TEXT PRIMARY KEY,
    stored INTEGER NOT NULL,
    visibility TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS published_version (
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    description TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    deleted_at INTEGER,
    removal INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (name, version)
  ) WITHOUT ROWID;
`;

interface EnvironmentRow extends Record<string, SqlStorageValue> {
  readonly name: string;
  readonly stored: number;
  readonly visibility: string;
  readonly created_at: number;
  readonly updated_at: number;
}

interface VersionRow extends Record<string, SqlStorageValue> {
  readonly name: string;
  readonly version: string;
  readonly digest: string;
  readonly bytes: number;
  readonly description: string;
  readonly created_at: number;
  readonly created_by: string;
  readonly deleted_at: number | null;
}

const BEING_REMOVED = 1;
const GONE = 2;
const VERSION = "name, version, digest, bytes, description, created_at, created_by, deleted_at";
const unknown = (name: string): Result<never> => fail("not_found", `Nothing is published as ${name}.`, "`npx edgewise env list` shows what is.");

/** The environments that a team has published. */
export class PublishedStore {
  readonly #tables: LateTables;
  constructor(storage: DurableObjectStorage) {
    this.#tables = new LateTables(storage, TABLES);
  }

  find(name: string): PublishedEnvironment | null {
    const [row] = this.#tables.rows<EnvironmentRow>("SELECT * FROM published WHERE name = ?", name);
    if (row === undefined) return null;
    return environmentOf(row, this.#tables.rows<VersionRow>(`SELECT ${VERSION} FROM published_version WHERE name = ?`, name));
  }

  all(): PublishedEnvironment[] {
    const versions = Map.groupBy(this.#tables.rows<VersionRow>(`SELECT ${VERSION} FROM published_version WHERE deleted_at IS NULL`), ({ name }) => name);
    return this.#tables.rows<EnvironmentRow>("SELECT * FROM published ORDER BY name").flatMap((row) => {
      const there = versions.get(row.name);
      return there === undefined ? [] : [environmentOf(row, there)];
    });
  }

  may({ name, version: { version, digest } }: PublishRequest): Result<null> {
    const before = this.find(name);
    const same = before?.versions.find((each) => each.version === version);
    if (same !== undefined && same.digest !== digest)
      return fail(
        "illegal_transition",
        `${name}@${version} is published with other code: sha256 ${same.digest}${same.deleted_at === null ? "" : " (deleted since)"}, and this is ${digest}.`,
        "A version has one code for ever: raise the environment's version, or push it with --version.",
      );
    if (same !== undefined)
      return this.#isLeaving(name, version) ? fail("storage_unavailable", `${name}@${version} is being removed.`, "Push it again in a minute.") : ok(null);
    if ((before?.versions.length ?? 0) >= MAX_VERSIONS) return fail("invalid_request", `${name} has ${MAX_VERSIONS} versions, and no more are kept.`);
    const [{ there } = { there: 0 }] = this.#tables.rows<{ there: number }>("SELECT count(*) AS there FROM published");
    if (before === null && there >= MAX_PUBLISHED) return fail("invalid_request", `A team publishes at most ${MAX_PUBLISHED} environments.`);
    return ok(null);
  }

  publish(request: PublishRequest): Result<PublishedEnvironment> {
    return this.#tables.transaction(() => {
      const refusal = this.may(request);
      if (!refusal.ok) return refusal;
      const { name, visibility, version } = request;
      this.#tables.rows(
        "INSERT INTO published VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT (name) DO UPDATE SET visibility = coalesce(?5, visibility), updated_at = ?4",
        ...[name, PUBLISHED_VERSION, visibility ?? "PRIVATE", version.created_at, visibility],
      );
      // Of one that is there again everything else is as it was.
      this.#tables.rows(
        `INSERT INTO published_version (${VERSION}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (name, version) DO UPDATE SET deleted_at = NULL, removal = 0`,
        ...[name, version.version, version.digest, version.bytes, version.description, version.created_at, version.created_by],
      );
      return this.#found(name);
    });
  }

  show(name: string, visibility: Visibility, now: number): Result<PublishedEnvironment> {
    if (this.find(name) === null) return unknown(name);
    this.#tables.rows("UPDATE published SET visibility = ?, updated_at = ? WHERE name = ?", visibility, now, name);
    return this.#found(name);
  }

  /** How many versions were there. */
  remove(name: string, version: string | null, now: number): Result<number> {
    return this.#tables.transaction(() => {
      const there = this.find(name)?.versions.filter((each) => each.deleted_at === null && (version === null || each.version === version)) ?? [];
      if (there.length === 0) return unknown(version === null ? name : `${name}@${version}`);
      for (const each of there) this.#tables.rows("UPDATE published_version SET deleted_at = ? WHERE name = ? AND version = ?", now, name, each.version);
      this.#tables.rows("UPDATE published SET updated_at = ? WHERE name = ?", now, name);
      return ok(there.length);
    });
  }

  /** From here on until `forget` nobody pushes these again: what they stored would be removed as well. */
  toRemove(before: number, most: number): PublishedCode[] {
    return this.#tables
      .rows<VersionRow>(
        `UPDATE published_version SET removal = ${BEING_REMOVED} WHERE (name, version) IN
        (SELECT name, version FROM published_version WHERE deleted_at < ? AND removal < ${GONE} ORDER BY deleted_at LIMIT ?) RETURNING ${VERSION}`,
        before,
        most,
      )
      .map(({ name, version, digest }) => ({ name, version, digest }));
  }

  forget(removed: readonly PublishedCode[]): void {
    for (const { name, version } of removed)
      this.#tables.rows(`UPDATE published_version SET removal = ${GONE} WHERE name = ? AND version = ? AND removal = ${BEING_REMOVED}`, name, version);
  }

  #isLeaving(name: string, version: string): boolean {
    const sql = "SELECT 1 FROM published_version WHERE name = ? AND version = ? AND removal = ?";
    return this.#tables.rows(sql, name, version, BEING_REMOVED).length > 0;
  }

  #found(name: string): Result<PublishedEnvironment> {
    const found = this.find(name);
    return found === null ? unknown(name) : ok(found);
  }
}

function environmentOf({ name, stored, visibility, created_at, updated_at }: EnvironmentRow, versions: readonly VersionRow[]): PublishedEnvironment {
  if (stored !== PUBLISHED_VERSION)
    throw new EdgewiseError("stored_version_unknown", `The environment ${name} was published by another version of edgewise (${stored}).`, {
      hint: "Deploy that version again, or a newer one.",
    });
  return {
    ...{ name, visibility: visibility as Visibility, created_at, updated_at },
    versions: versions.map(({ name: _, ...version }): PublishedVersion => version),
  };
}
