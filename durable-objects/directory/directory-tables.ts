import { fail, ok, type Result } from "../../src/errors/result.ts";
import { OWNER } from "../../src/teams/caller.ts";
import { DEFAULT_TEAM } from "../../src/teams/team-name.ts";
import { execute } from "../counted-sql.ts";

/** Version of the tables below. */
export const DIRECTORY_SCHEMA = 1;

/**
 * `token`: by the digest of its text, which nobody has; one that is revoked stays, as the audit names it. `token_team`: where it is good.
 * Lists of scopes are JSON.
 */
const TABLES = `
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

/** Makes the tables where there are none, with the default team and the owner in it. Tables of a version this code does not know are left alone. */
export function openDirectory(storage: DurableObjectStorage, now: number): Result<null> {
  const version = storage.transactionSync(() => {
    const run = (statement: string, ...values: SqlStorageValue[]) => execute<Record<string, SqlStorageValue>>(storage.sql, statement, ...values);
    run("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)");
    const [row] = run("SELECT version FROM schema_version");
    if (row !== undefined) return Number(row.version);
    run(TABLES);
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
