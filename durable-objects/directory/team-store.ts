import { fail, ok, type Result } from "../../src/errors/result.ts";
import { OWNER, type Principal } from "../../src/teams/caller.ts";
import type { Scope } from "../../src/teams/scopes.ts";
import { shortest } from "../../src/teams/scopes.ts";
import { DEFAULT_TEAM } from "../../src/teams/team-name.ts";
import { execute } from "../counted-sql.ts";
import type { MemberChange, TeamFacts } from "./directory-control.ts";

/** What a user may do where nobody says: work with runs. */
const USUAL: readonly Scope[] = ["runs:write"];

const noTeam = <T>(): Result<T> => fail("not_found", "There is no such team.", "`npx edgewise team list` shows those there are.");

/** Teams, and who belongs to them. */
export class TeamStore {
  readonly #storage: DurableObjectStorage;
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  all(): TeamFacts[] {
    return this.names("", Number.MAX_SAFE_INTEGER).flatMap((team) => {
      const facts = this.#facts(team);
      return facts.ok ? [facts.value] : [];
    });
  }

  has(team: string): boolean {
    return this.#rows("SELECT 1 FROM team WHERE team = ?", team).length > 0;
  }

  names(after: string, limit: number): string[] {
    return this.#rows<{ team: string }>("SELECT team FROM team WHERE team > ? ORDER BY team LIMIT ?", after, limit).map(({ team }) => team);
  }

  create(team: string, now: number): Result<TeamFacts> {
    this.#rows("INSERT OR IGNORE INTO team VALUES (?, ?)", team, now);
    return this.#facts(team);
  }

  putMember({ team, user, email, scopes }: MemberChange, now: number): Result<TeamFacts> {
    return this.#storage.transactionSync(() => {
      if (!this.has(team)) return noTeam();
      if (user === OWNER && scopes !== null) return fail("invalid_request", `${OWNER} is the owner of this service, whose scopes stay.`);
      if (email !== null && this.#rows("SELECT 1 FROM user WHERE email = ? AND user <> ?", email, user).length > 0)
        return fail("invalid_request", `The address ${JSON.stringify(email)} is another user's.`);
      this.#rows("INSERT OR IGNORE INTO user VALUES (?, NULL, ?, ?)", user, JSON.stringify(USUAL), now);
      if (scopes !== null) this.#rows("UPDATE user SET scopes = ? WHERE user = ?", JSON.stringify(shortest(scopes)), user);
      if (email !== null) this.#rows("UPDATE user SET email = ? WHERE user = ?", email, user);
      this.#rows("INSERT OR IGNORE INTO member VALUES (?, ?)", user, team);
      return this.#facts(team);
    });
  }

  removeMember(team: string, user: string): Result<TeamFacts> {
    return this.#storage.transactionSync(() => {
      if (team === DEFAULT_TEAM && user === OWNER) return fail("invalid_request", "The owner stays in the default team.");
      if (this.#rows("SELECT 1 FROM member WHERE user = ? AND team = ?", user, team).length === 0)
        return fail("not_found", "There is no such user in this team.");
      this.#rows("DELETE FROM member WHERE user = ? AND team = ?", user, team);
      return this.#facts(team);
    });
  }

  person(email: string): Principal | null {
    const [row] = this.#rows<{ user: string; scopes: string }>("SELECT user, scopes FROM user WHERE email = ?", email);
    return row === undefined ? null : this.#principalOf(row);
  }

  /** The same by name. */
  user(user: string): Principal | null {
    const [row] = this.#rows<{ user: string; scopes: string }>("SELECT user, scopes FROM user WHERE user = ?", user);
    return row === undefined ? null : this.#principalOf(row);
  }

  #principalOf(row: { readonly user: string; readonly scopes: string }): Principal | null {
    const teams = this.#rows<{ team: string }>("SELECT team FROM member WHERE user = ? ORDER BY team", row.user).map(({ team }) => team);
    return teams.length === 0 ? null : { user: row.user, teams, scopes: JSON.parse(row.scopes) as Scope[], token: null, expires_at: null };
  }

  #facts(team: string): Result<TeamFacts> {
    const [row] = this.#rows<{ created_at: number }>("SELECT created_at FROM team WHERE team = ?", team);
    if (row === undefined) return noTeam();
    const members = this.#rows<{ user: string; email: string | null; scopes: string }>(
      "SELECT user.user, email, scopes FROM member JOIN user ON user.user = member.user WHERE member.team = ? ORDER BY user.user",
      team,
    );
    return ok({ team, created_at: row.created_at, members: members.map(({ scopes, ...member }) => ({ ...member, scopes: JSON.parse(scopes) as Scope[] })) });
  }

  #rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    return execute<Row>(this.#storage.sql, statement, ...values);
  }
}
