import type { Result } from "../../src/errors/result.ts";
import type { Principal } from "../../src/teams/caller.ts";
import type { TokenLimits } from "../../src/teams/limits.ts";
import type { Scope } from "../../src/teams/scopes.ts";

/** What crosses between the Directory and the HTTP door. Times are Unix milliseconds. */

/** A token as lists show it: everything but its text, which nobody has. */
export interface TokenFacts {
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly teams: readonly string[];
  readonly scopes: readonly Scope[];
  readonly created_at: number;
  readonly created_by: string;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  /** To the minute. */
  readonly used_at: number | null;
  /** Its own; a limit that it lacks has its default. */
  readonly limits: TokenLimits;
}

export interface NewToken extends Pick<TokenFacts, "id" | "name" | "user" | "teams" | "scopes" | "created_by" | "expires_at" | "limits"> {
  readonly digest: string;
}

export interface MemberFacts {
  readonly user: string;
  readonly email: string | null;
  /** What the person may do in teams of theirs: a token of theirs is good for no more. */
  readonly scopes: readonly Scope[];
}

export interface TeamFacts {
  readonly team: string;
  readonly created_at: number;
  readonly members: readonly MemberFacts[];
}

/** `null` in what changes: stays as it is, or for a new user the default. */
export interface MemberChange {
  readonly team: string;
  readonly user: string;
  readonly email: string | null;
  readonly scopes: readonly Scope[] | null;
}

/** Who a session of a browser is: of a token, with which it ends, or of the owner. */
export type SessionOf =
  | { readonly principal: Principal; readonly expires_at: number }
  /** Digest of the session's text and the owner's token: good for as long as that token is the owner's. */
  | { readonly owner_proof: string; readonly expires_at: number };

export interface NewSession {
  /** Of the session's text. */
  readonly digest: string;
  readonly of: { readonly token: string } | { readonly owner_proof: string };
  readonly expires_at: number;
  /** Whose attempt it was that succeeded. */
  readonly place: string;
}

export interface DirectoryControl {
  /** Null when there is none, it is over or ended, or its token is good no more. */
  session(digest: string): Promise<SessionOf | null>;
  /** The user with this address in lower case, as Cloudflare Access names people; null for one who is in no team. */
  person(email: string): Promise<Principal | null>;
  /** The same for a user by name; `token`: by this token of theirs, by its id. */
  holder(of: { readonly user: string; readonly token: string | null }): Promise<Principal | null>;
  openSession(session: NewSession): Promise<void>;
  endSession(digest: string): Promise<void>;
  /** Counts an attempt to sign in. Milliseconds until the next one is allowed from there; 0 = this one is. */
  attemptSignIn(place: string): Promise<number>;
  /** Who a token of this digest stands for; null when there is none, it is revoked or over, or its user has none of its teams any more. */
  principal(digest: string): Promise<Principal | null>;
  createToken(token: NewToken): Promise<Result<TokenFacts>>;
  /** Those that are good in the team, or were, the newest first. */
  listTokens(team: string): Promise<readonly TokenFacts[]>;
  /** Takes the teams from the token; one that has none left is revoked. `null`: all of them. */
  revokeToken(id: string, teams: readonly string[] | null): Promise<Result<TokenFacts>>;
  listTeams(): Promise<readonly TeamFacts[]>;
  isTeam(team: string): Promise<boolean>;
  /** Names only, after `after`, in their order: the watchdog goes through them. */
  teamNames(after: string, limit: number): Promise<readonly string[]>;
  /** Nothing changes where the team is there. */
  createTeam(team: string): Promise<Result<TeamFacts>>;
  putMember(change: MemberChange): Promise<Result<TeamFacts>>;
  removeMember(team: string, user: string): Promise<Result<TeamFacts>>;
}
