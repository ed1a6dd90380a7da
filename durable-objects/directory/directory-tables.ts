import { fail, ok, type Result } from "../../src/errors/result.ts";
import { OWNER } from "../../src/teams/caller.ts";
import { DEFAULT_TEAM } from "../../src/teams/team-name.ts";
import { execute } from "../counted-sql.ts";

/** Version of the tables below. */
export const DIRECTORY_SCHEMA = 2;

/**
 * `token`: by the digest of its text, which nobody has; one that is revoked stays, as the audit names it. `token_team`: where it is good.
 * Lists of scopes are JSON.
 */
const TABLES_1 = `
  CREATE TABLE team (team TEXT PRIMARY KEY, created_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE user (user TEXT PRIMARY KEY, email TEXT UNIQUE, scopes TEXT NOT NULL, created_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE member (user TEXT NOT NULL, team TEXT NOT NULL, PRIMARY KEY (user, team)) WITHOUT ROWID;
  CREATE INDEX member_by_team ON member (team, user);
  CREATE TABLE token (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    user TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    used_at INTEGER
  ) WITHOUT ROWID;
  CREATE TABLE token_team (token TEXT NOT NULL, team TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (token, team)) WITHOUT ROWID;
  CREATE INDEX token_by_team ON token_team (team, token);
`;

/**
 * `browser_session`: by the digest of the cookie's text; of a token, or of the owner's while `owner_proof` fits that. `sign_in_attempt`: of the last
 * quarter of an hour.
 */
const TABLES_2 = `
  CREATE TABLE browser_session (digest TEXT PRIMARY KEY, token TEXT, owner_proof TEXT, expires_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX browser_session_by_token ON browser_session (token, expires_at);
  CREATE TABLE sign_in_attempt (place TEXT PRIMARY KEY, since INTEGER NOT NULL, attempts INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX sign_in_attempt_by_time ON sign_in_attempt (since);
`;

/** Makes the tables where there are none, with the default team and the owner in it, and adds those of a later version. Tables of a version this code does not know are left alone. */
export function openDirectory(storage: DurableObjectStorage, now: number): Result<null> {
  const version = storage.transactionSync(() => {
    const run = (statement: string, ...values: SqlStorageValue[]) => execute<Record<string, SqlStorageValue>>(storage.sql, statement, ...values);
    run("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)");
    const [row] = run("SELECT version FROM schema_version");
    if (row?.version === 1) {
      run(TABLES_2);
      run("UPDATE schema_version SET version = ?", DIRECTORY_SCHEMA);
      return DIRECTORY_SCHEMA;
    }
    if (row !== undefined) return Number(row.version);
    run(TABLES_1);
    run(TABLES_2);
    run("INSERT INTO team VALUES (?, ?)", DEFAULT_TEAM, now);
    run("INSERT INTO user VALUES (?, NULL, ?, ?)", OWNER, JSON.stringify(["admin"]), now);
    run("INSERT INTO member VALUES (?, ?)", OWNER, DEFAULT_TEAM);
    run("INSERT INTO schema_version VALUES (?)", DIRECTORY_SCHEMA);
    return DIRECTORY_SCHEMA;
  });
  if (version === DIRECTORY_SCHEMA) return ok(null);
  return fail(
    "stored_version_unknown",
    `The Directory was stored by another version of edgewise (schema ${version}).`,
    "Deploy that version again, or a newer one.",
  );
}
