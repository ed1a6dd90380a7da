import { EdgewiseError, fail, ok, type Result } from "../../../src/errors/result.ts";
import { MAX_LISTED_CHARS, MAX_PUBLISHED, MAX_VERSIONS } from "../../../src/limits.ts";
import type { Visibility } from "../../../src/published/published-name.ts";
import { latestOf } from "../../../src/published/published-version.ts";
import { LateTables } from "../../late-tables.ts";
import type { PublishedCode, PublishedEnvironment, PublishedVersion, PublishRequest } from "./published-control.ts";

/** Version of the rows of both tables: one of another is refused by name. */
export const PUBLISHED_VERSION = 1;

/**
 * `digest`: of the module, which stays when the version is deleted; `removal`: 1 = its code is being removed from R2, 2 = it is gone from there. `published_push`:
 * what is being stored, or was left in R2 by a push that never ended. No change of the Registry's version: code that does not know these tables has no published
 * environments.
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
  CREATE TABLE IF NOT EXISTS published_push (
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    removal INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (name, version, digest)
  ) WITHOUT ROWID;
`;

type EnvironmentRow = Record<string, SqlStorageValue> & Omit<PublishedEnvironment, "versions"> & { readonly stored: number };
type VersionRow = Record<string, SqlStorageValue> & PublishedVersion & Pick<PublishedEnvironment, "name">;
type CodeRow = Record<string, SqlStorageValue> & PublishedCode;

const BEING_REMOVED = 1;
const GONE = 2;
const VERSION = "name, version, digest, bytes, description, created_at, created_by, deleted_at";
/** Of two tables. */
const SAME_CODE = (one: string, other: string): string => ["name", "version", "digest"].map((column) => `${one}.${column} = ${other}.${column}`).join(" AND ");
/** No half of a character at its end. */
const beginning = (text: string): string => text.slice(0, MAX_LISTED_CHARS).replace(/[\ud800-\udbff]$/, "");
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

  /** Each with its latest version alone: of all there may be more than one answer holds. */
  all(): PublishedEnvironment[] {
    const versions = Map.groupBy(
      this.#tables.rows<{ name: string; version: string }>("SELECT name, version FROM published_version WHERE deleted_at IS NULL"),
      ({ name }) => name,
    );
    return this.#tables.rows<EnvironmentRow>("SELECT * FROM published ORDER BY name").flatMap((row) => {
      const latest = latestOf(versions.get(row.name) ?? []);
      if (latest === null) return [];
      return [
        environmentOf(row, this.#tables.rows<VersionRow>(`SELECT ${VERSION} FROM published_version WHERE name = ? AND version = ?`, row.name, latest.version)),
      ];
    });
  }

  may({ name, version: { version, digest } }: PublishRequest): Result<null> {
    const before = this.find(name);
    const same = before?.versions.find((each) => each.version === version);
    if (this.#isLeaving({ name, version, digest })) return fail("storage_unavailable", `${name}@${version} is being removed.`, "Push it again in a minute.");
    if (same !== undefined && same.digest !== digest)
      return fail(
        "illegal_transition",
        `${name}@${version} is published with other code: sha256 ${same.digest}${same.deleted_at === null ? "" : " (deleted since)"}, and this is ${digest}.`,
        "A version has one code for ever: raise the environment's version, or push it with --version.",
      );
    if (same !== undefined) return ok(null);
    if ((before?.versions.length ?? 0) >= MAX_VERSIONS) return fail("invalid_request", `${name} has ${MAX_VERSIONS} versions, and no more are kept.`);
    const [{ there } = { there: 0 }] = this.#tables.rows<{ there: number }>("SELECT count(*) AS there FROM published");
    if (before === null && there >= MAX_PUBLISHED) return fail("invalid_request", `A team publishes at most ${MAX_PUBLISHED} environments.`);
    return ok(null);
  }

  /** From here on until `publish` what is stored is known, should the push end before it. */
  begin(request: PublishRequest): Result<null> {
    return this.#tables.transaction(() => {
      const refusal = this.may(request);
      if (!refusal.ok) return refusal;
      const { name, version } = request;
      this.#tables.rows(
        "INSERT INTO published_push VALUES (?1, ?2, ?3, ?4, 0) ON CONFLICT (name, version, digest) DO UPDATE SET began_at = ?4",
        ...[name, version.version, version.digest, version.created_at],
      );
      return refusal;
    });
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
      this.#tables.rows("DELETE FROM published_push WHERE name = ? AND version = ? AND digest = ?", name, version.version, version.digest);
      // Of one that is there again everything else is as it was.
      this.#tables.rows(
        `INSERT INTO published_version (${VERSION}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (name, version) DO UPDATE SET deleted_at = NULL, removal = 0`,
        ...[name, version.version, version.digest, version.bytes, beginning(version.description), version.created_at, version.created_by],
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

  /** From here on until `forget` nobody pushes these again: what they stored would be removed as well. What is being pushed is left where it is. */
  toRemove(before: number, most: number): PublishedCode[] {
    return this.#tables.transaction(() => {
      const deleted = this.#tables.rows<CodeRow>(
        `UPDATE published_version SET removal = ${BEING_REMOVED} WHERE (name, version) IN
          (SELECT name, version FROM published_version AS gone WHERE deleted_at < ?1 AND removal < ${GONE} AND NOT EXISTS
            (SELECT 1 FROM published_push AS push WHERE ${SAME_CODE("push", "gone")} AND began_at >= ?1) ORDER BY deleted_at LIMIT ?2) RETURNING name, version, digest`,
        before,
        most,
      );
      const left = this.#tables.rows<CodeRow>(
        `UPDATE published_push SET removal = ${BEING_REMOVED} WHERE (name, version, digest) IN
          (SELECT name, version, digest FROM published_push AS push WHERE began_at < ? AND NOT EXISTS
            (SELECT 1 FROM published_version AS there WHERE ${SAME_CODE("push", "there")} AND removal = 0) LIMIT ?) RETURNING name, version, digest`,
        before,
        most - deleted.length,
      );
      return [...deleted, ...left];
    });
  }

  forget(removed: readonly PublishedCode[]): void {
    for (const { name, version, digest } of removed)
      for (const statement of [
        `UPDATE published_version SET removal = ${GONE} WHERE name = ? AND version = ? AND digest = ? AND removal = ${BEING_REMOVED}`,
        `DELETE FROM published_push WHERE name = ? AND version = ? AND digest = ? AND removal = ${BEING_REMOVED}`,
      ])
        this.#tables.rows(statement, name, version, digest);
  }

  #isLeaving({ name, version, digest }: PublishedCode): boolean {
    const leaving = (table: string): boolean =>
      this.#tables.rows(`SELECT 1 FROM ${table} WHERE name = ? AND version = ? AND digest = ? AND removal = ${BEING_REMOVED}`, name, version, digest).length >
      0;
    return leaving("published_version") || leaving("published_push");
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
    ...{ name, visibility, created_at, updated_at },
    versions: versions.map(({ name: _, ...version }): PublishedVersion => version),
  };
}
