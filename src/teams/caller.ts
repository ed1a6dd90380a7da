import type { TokenUse } from "./admission.ts";
import type { TokenLimits } from "./limits.ts";
import { allows, type Scope, SCOPES } from "./scopes.ts";
import { DEFAULT_TEAM } from "./team-name.ts";

/** Whoever has `EDGEWISE_TOKEN`, or is the one person of a local service that has none; also the owner of the bundled environments. */
export const OWNER = "edgewise";

/** Who a credential stands for, as the Directory has it. */
export interface Principal {
  readonly user: string;
  /** At least one; the first is meant where a request names none. */
  readonly teams: readonly string[];
  readonly scopes: readonly Scope[];
  /** The token's id; null for the owner, and for whoever Cloudflare Access names. */
  readonly token: string | null;
  /** Unix milliseconds; null = never. */
  readonly expires_at: number | null;
  /** Of the token; absent = none of its own. */
  readonly limits?: TokenLimits;
}

/** Who asks. */
export interface Caller extends Principal {
  /** May make teams, users and tokens of any team; works in the default team. */
  readonly owner: boolean;
  /** `local`: on this machine, where no token is set. */
  readonly via: "local" | "owner" | "token" | "session" | "access";
}

export const ownerBy = (via: Caller["via"]): Caller => ({
  user: OWNER,
  teams: [DEFAULT_TEAM],
  scopes: SCOPES,
  token: null,
  expires_at: null,
  owner: true,
  via,
});

/** What a route asks for: a scope, nothing but a caller, or the owner. */
export type Right = Scope | "caller" | "owner";

export const may = (caller: Pick<Caller, "owner" | "scopes">, right: Right): boolean =>
  caller.owner || right === "caller" || (right !== "owner" && allows(caller.scopes, right));

/** Whose token what the caller begins counts as. */
export const tokenUseOf = ({ token, limits = {} }: Pick<Caller, "token" | "limits">): TokenUse | null => (token === null ? null : { id: token, limits });
