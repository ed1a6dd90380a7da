import { createHash } from "node:crypto";
import type { DirectoryControl, NewSession, SessionOf, TeamFacts, TokenFacts } from "../../../durable-objects/directory/directory-control.ts";
import { fail } from "../../../src/errors/result.ts";
import type { Principal } from "../../../src/teams/caller.ts";
import { DEFAULT_TEAM } from "../../../src/teams/team-name.ts";
import { drawToken } from "../../../src/teams/token-text.ts";

/** Who has which token; what else a Directory does is tested in the runtime. */
export class FakeDirectory implements DirectoryControl {
  /** By the digests of their texts. */
  readonly tokens = new Map<string, Principal>();
  asked = 0;
  readonly names = new Set<string>([DEFAULT_TEAM]);

  /** Text of a new token that is good for this. */
  token(principal: Partial<Principal> = {}): string {
    const text = drawToken();
    this.tokens.set(createHash("sha256").update(text).digest("hex"), {
      user: "ada",
      teams: [DEFAULT_TEAM],
      scopes: ["runs:write"],
      token: "0123456789ab",
      expires_at: null,
      ...principal,
    });
    return text;
  }
  /** By the digests of their cookies. */
  readonly sessions = new Map<string, NewSession>();
  /** Milliseconds that an attempt to sign in has to wait. */
  wait = 0;
  async attemptSignIn(): Promise<number> {
    return this.wait;
  }
  async openSession(session: NewSession): Promise<void> {
    this.sessions.set(session.digest, session);
  }
  async endSession(digest: string): Promise<void> {
    this.sessions.delete(digest);
  }
  async session(digest: string): Promise<SessionOf | null> {
    const { of, expires_at } = this.sessions.get(digest) ?? {};
    if (of === undefined || expires_at === undefined) return null;
    if ("owner_proof" in of) return { owner_proof: of.owner_proof, expires_at };
    const principal = [...this.tokens.values()].find(({ token }) => token === of.token);
    return principal === undefined ? null : { principal, expires_at };
  }
  /** By their addresses. */
  readonly people = new Map<string, Principal>();
  async person(email: string): Promise<Principal | null> {
    return this.people.get(email) ?? null;
  }
  async holder({ token }: { readonly user: string; readonly token: string | null }): Promise<Principal | null> {
    return [...this.tokens.values()].find((principal) => principal.token === token) ?? null;
  }
  readonly #nothing = async () => fail("not_found", "There is no such thing.");
  readonly createToken = this.#nothing;
  readonly revokeToken = this.#nothing;
  readonly createTeam = this.#nothing;
  readonly putMember = this.#nothing;
  readonly removeMember = this.#nothing;
  async listTokens(): Promise<readonly TokenFacts[]> {
    return [];
  }
  async listTeams(): Promise<readonly TeamFacts[]> {
    return [];
  }
  async teamNames(): Promise<readonly string[]> {
    return [];
  }
  async isTeam(team: string): Promise<boolean> {
    return this.names.has(team);
  }
  async principal(digest: string): Promise<Principal | null> {
    this.asked++;
    return this.tokens.get(digest) ?? null;
  }
}
