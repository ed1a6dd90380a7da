import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../src/env.ts";
import { EdgewiseError, type Result } from "../../src/errors/result.ts";
import { steadyNow } from "../../src/steady-clock.ts";
import type { Principal } from "../../src/teams/caller.ts";
import type { DirectoryControl, MemberChange, NewToken, TeamFacts, TokenFacts } from "./directory-control.ts";
import { openDirectory } from "./directory-tables.ts";
import { TeamStore } from "./team-store.ts";
import { TokenStore } from "./token-store.ts";

/** The one object that knows who there is: teams, users and tokens. What a team has is its Registry's. */
export class Directory extends DurableObject<Env> implements DirectoryControl {
  readonly #opened: Result<null>;
  readonly #teamsStored: TeamStore;
  readonly #tokensStored: TokenStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#opened = openDirectory(ctx.storage, steadyNow());
    this.#teamsStored = new TeamStore(ctx.storage);
    this.#tokensStored = new TokenStore(ctx.storage);
  }

  async principal(digest: string): Promise<Principal | null> {
    return this.#tokens.principal(digest, steadyNow());
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
