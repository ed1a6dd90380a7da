import { fail, ok, type Result } from "../../src/errors/result.ts";
import type { Principal } from "../../src/teams/caller.ts";
import { TOKEN_LIMITS, type TokenLimits } from "../../src/teams/limits.ts";
import { inBoth, type Scope, shortest } from "../../src/teams/scopes.ts";
import { execute } from "../counted-sql.ts";
import type { NewToken, TokenFacts } from "./directory-control.ts";

/** A use is written when the one before is so long ago: not each request is a write. */
const USED_MS = 60_000;
/** Tokens of one team, revoked ones among them: a list stays a page. */
export const MAX_TOKENS = 1_000;

interface TokenRow extends Record<string, SqlStorageValue> {
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly scopes: string;
  readonly created_at: number;
  readonly created_by: string;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly used_at: number | null;
}

const noToken = <T>(): Result<T> => fail("not_found", "There is no such token.", "`npx edgewise token list` shows those there are.");

/** No change of version: for code that does not know them a token has no limits. */
const LIMITS_OF_TOKENS =
  "CREATE TABLE IF NOT EXISTS token_limit (token TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (token, name)) WITHOUT ROWID";

/** Tokens, by their digests. */
export class TokenStore {
  readonly #storage: DurableObjectStorage;
  #made = false;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  principal(digest: string, now: number): Principal | null {
    const [row] = this.#rows<TokenRow>("SELECT * FROM token WHERE digest = ?", digest);
    return row === undefined ? null : this.#principalOf(row, now);
  }

  /** The same by the token's id. */
  principalBy(id: string, now: number): Principal | null {
    const [row] = this.#rows<TokenRow>("SELECT * FROM token WHERE id = ?", id);
    return row === undefined ? null : this.#principalOf(row, now);
  }

  create({ id, digest, name, user, teams, scopes, created_by, expires_at, limits }: NewToken, now: number): Result<TokenFacts> {
    return this.#storage.transactionSync(() => {
      for (const team of teams) {
        if (this.#rows("SELECT 1 FROM member WHERE user = ? AND team = ?", user, team).length === 0)
          return fail(
            "not_found",
            `There is no user ${JSON.stringify(user)} in the team ${JSON.stringify(team)}.`,
            "`npx edgewise team add TEAM USER` adds one.",
          );
        const [{ count } = { count: 0 }] = this.#rows<{ count: number }>("SELECT count(*) AS count FROM token_team WHERE team = ?", team);
        if (count >= MAX_TOKENS) return fail("invalid_request", `The team ${JSON.stringify(team)} has had ${MAX_TOKENS} tokens, and no more are made.`);
      }
      const [{ scopes: allowed } = { scopes: "[]" }] = this.#rows<{ scopes: string }>("SELECT scopes FROM user WHERE user = ?", user);
      const excess = scopes.filter((scope) => !inBoth([scope], JSON.parse(allowed) as Scope[]).includes(scope));
      if (excess.length > 0) return fail("forbidden", `The user ${JSON.stringify(user)} may not have ${excess.join(", ")}.`);
      const written = JSON.stringify(shortest(scopes));
      this.#rows("INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)", id, digest, name, user, written, now, created_by, expires_at);
      for (const [position, team] of teams.entries()) this.#rows("INSERT INTO token_team VALUES (?, ?, ?)", id, team, position);
      this.#makeLimits();
      for (const [name, value] of Object.entries(limits)) this.#rows("INSERT INTO token_limit VALUES (?, ?, ?)", id, name, value);
      return this.#facts(id);
    });
  }

  inTeam(team: string): TokenFacts[] {
    const rows = this.#rows<TokenRow>(
      "SELECT token.* FROM token_team JOIN token ON token.id = token_team.token WHERE token_team.team = ? ORDER BY token.created_at DESC, token.id",
      team,
    );
    return rows.map((row) => this.#factsOf(row));
  }

  revoke(id: string, teams: readonly string[] | null, now: number): Result<TokenFacts> {
    return this.#storage.transactionSync(() => {
      const good = this.#teamsOf(id);
      const taken = teams === null ? good : good.filter((team) => teams.includes(team));
      if (taken.length === 0) return noToken();
      // The last team stays named: where it was good is part of what is known of it.
      if (taken.length === good.length) this.#rows("UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", now, id);
      else for (const team of taken) this.#rows("DELETE FROM token_team WHERE token = ? AND team = ?", id, team);
      return this.#facts(id);
    });
  }

  #principalOf(row: TokenRow, now: number): Principal | null {
    if (row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= now)) return null;
    const teams = this.#rows<{ team: string }>(
      "SELECT token_team.team FROM token_team JOIN member ON member.team = token_team.team AND member.user = ? WHERE token = ? ORDER BY position",
      row.user,
      row.id,
    ).map(({ team }) => team);
    const [user] = this.#rows<{ scopes: string }>("SELECT scopes FROM user WHERE user = ?", row.user);
    if (user === undefined || teams.length === 0) return null;
    if (row.used_at === null || now - row.used_at >= USED_MS) this.#rows("UPDATE token SET used_at = ? WHERE id = ?", now, row.id);
    const scopes = inBoth(JSON.parse(row.scopes) as Scope[], JSON.parse(user.scopes) as Scope[]);
    return { user: row.user, teams, scopes, token: row.id, expires_at: row.expires_at, limits: this.#limitsOf(row.id) };
  }

  #facts(id: string): Result<TokenFacts> {
    const [row] = this.#rows<TokenRow>("SELECT * FROM token WHERE id = ?", id);
    return row === undefined ? noToken() : ok(this.#factsOf(row));
  }

  #factsOf({ id, name, user, scopes, created_at, created_by, expires_at, revoked_at, used_at }: TokenRow): TokenFacts {
    return {
      id,
      name,
      user,
      teams: this.#teamsOf(id),
      scopes: JSON.parse(scopes) as Scope[],
      created_at,
      created_by,
      expires_at,
      revoked_at,
      used_at,
      limits: this.#limitsOf(id),
    };
  }

  #limitsOf(id: string): TokenLimits {
    this.#makeLimits();
    const rows = this.#rows<{ name: string; value: number }>("SELECT name, value FROM token_limit WHERE token = ? ORDER BY name", id);
    return Object.fromEntries(rows.filter(({ name }) => (TOKEN_LIMITS as readonly string[]).includes(name)).map(({ name, value }) => [name, value]));
  }

  /** Once in the life of the object. */
  #makeLimits(): void {
    if (this.#made) return;
    this.#rows(LIMITS_OF_TOKENS);
    this.#made = true;
  }

  #teamsOf(id: string): string[] {
    return this.#rows<{ team: string }>("SELECT team FROM token_team WHERE token = ? ORDER BY position", id).map(({ team }) => team);
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
