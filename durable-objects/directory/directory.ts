import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../src/env.ts";
import { EdgewiseError, type Result } from "../../src/errors/result.ts";
import { steadyNow } from "../../src/steady-clock.ts";
import type { Principal } from "../../src/teams/caller.ts";
import type { DirectoryControl, MemberChange, NewSession, NewToken, SessionOf, TeamFacts, TokenFacts } from "./directory-control.ts";
import { openDirectory } from "./directory-tables.ts";
import { SessionStore } from "./session-store.ts";
import { TeamStore } from "./team-store.ts";
import { TokenStore } from "./token-store.ts";

/** The one object that knows who there is: teams, users, tokens, and browsers that are signed in. What a team has is its Registry's. */
export class Directory extends DurableObject<Env> implements DirectoryControl {
  readonly #opened: Result<null>;
  readonly #teamsStored: TeamStore;
  readonly #tokensStored: TokenStore;
  readonly #sessionsStored: SessionStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#opened = openDirectory(ctx.storage, steadyNow());
    this.#teamsStored = new TeamStore(ctx.storage);
    this.#tokensStored = new TokenStore(ctx.storage);
    this.#sessionsStored = new SessionStore(ctx.storage, this.#tokensStored);
  }

  async principal(digest: string): Promise<Principal | null> {
    return this.#tokens.principal(digest, steadyNow());
  }
  async session(digest: string): Promise<SessionOf | null> {
    return this.#sessions.find(digest, steadyNow());
  }
  async person(email: string): Promise<Principal | null> {
    return this.#teams.person(email);
  }
  async holder({ user, token }: { readonly user: string; readonly token: string | null }): Promise<Principal | null> {
    return token === null ? this.#teams.user(user) : this.#tokens.principalBy(token, steadyNow());
  }
  async openSession(session: NewSession): Promise<void> {
    this.#sessions.open(session, steadyNow());
  }
  async endSession(digest: string): Promise<void> {
    this.#sessions.end(digest);
  }
  async attemptSignIn(place: string): Promise<number> {
    return this.#sessions.attempt(place, steadyNow());
  }
  async createToken(token: NewToken): Promise<Result<TokenFacts>> {
    return this.#tokens.create(token, steadyNow());
  }
  async listTokens(team: string): Promise<readonly TokenFacts[]> {
    return this.#tokens.inTeam(team);
  }
  async revokeToken(id: string, teams: readonly string[] | null): Promise<Result<TokenFacts>> {
    return this.#tokens.revoke(id, teams, steadyNow());
  }
  async listTeams(): Promise<readonly TeamFacts[]> {
    return this.#teams.all();
  }
  async isTeam(team: string): Promise<boolean> {
    return this.#teams.has(team);
  }
  async teamNames(after: string, limit: number): Promise<readonly string[]> {
    return this.#teams.names(after, limit);
  }
  async createTeam(team: string): Promise<Result<TeamFacts>> {
    return this.#teams.create(team, steadyNow());
  }
  async putMember(change: MemberChange): Promise<Result<TeamFacts>> {
    return this.#teams.putMember(change, steadyNow());
  }
  async removeMember(team: string, user: string): Promise<Result<TeamFacts>> {
    return this.#teams.removeMember(team, user);
  }

  get #teams(): TeamStore {
    this.#mustBeOpen();
    return this.#teamsStored;
  }
  get #sessions(): SessionStore {
    this.#mustBeOpen();
    return this.#sessionsStored;
  }
  get #tokens(): TokenStore {
    this.#mustBeOpen();
    return this.#tokensStored;
  }

  #mustBeOpen(): void {
    if (this.#opened.ok) return;
    const { code, message, hint } = this.#opened.error;
    throw new EdgewiseError(code, message, hint === undefined ? {} : { hint });
  }
}
