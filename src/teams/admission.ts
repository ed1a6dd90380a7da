import { fairShares } from "../config/shares.ts";
import type { Failure, Result } from "../errors/result.ts";
import { LIMITS, type Limit, limitText, type TokenLimits } from "./limits.ts";

/** What is used of a limit, of a team or by a token. */
export interface Use {
  /** Runs that are made and neither settled nor suspended. */
  readonly runs: number;
  /** What those may have in flight together; one without a limit of its own counts as none. */
  readonly rollouts: number;
}

/** Whose limits they are, as a refusal names them. */
interface Bound {
  readonly owner: string;
  /** What to type to change them. */
  readonly change: (flag: string) => string;
  readonly limits: { readonly runs?: number | null; readonly rollouts?: number | null };
  readonly use: Use;
}

/** The token that asks; null where it is none of the Directory's. */
export interface TokenUse {
  readonly id: string;
  readonly limits: TokenLimits;
}

const ofTeam = (team: string): Pick<Bound, "owner" | "change"> => ({
  owner: `the team ${JSON.stringify(team)}`,
  change: (flag) => `npx edgewise team limits ${team} ${flag}`,
});
const ofToken = (token: TokenUse): Pick<Bound, "owner" | "change"> => ({
  owner: `the token ${token.id}`,
  change: (flag) => `npx edgewise token create NAME --scope SCOPE ${flag}`,
});

export interface Asked {
  /** `max_concurrent` of each run that is to be at work; 0 or less = as many as there may be. */
  readonly wanted: readonly number[];
  readonly team: string;
  readonly limits: Bound["limits"];
  readonly use: Use;
  readonly token: (TokenUse & { readonly use: Use }) | null;
}

/**
 * Whether so many runs may begin, and the `max_concurrent` of each: what it asks for, or its part of what the others leave. A run that begins has one at least.
 */
export function admit({ wanted, team, limits, use, token }: Asked): Result<readonly number[]> {
  const bounds: Bound[] = [{ ...ofTeam(team), limits, use }, ...(token === null ? [] : [{ ...ofToken(token), limits: token.limits, use: token.use }])];
  for (const bound of bounds) {
    const limit = bound.limits.runs ?? null;
    if (limit !== null && bound.use.runs + wanted.length > limit) return refused("runs", bound, limit, bound.use.runs, wanted.length);
  }
  let left = Number.POSITIVE_INFINITY;
  for (const bound of bounds) {
    const limit = bound.limits.rollouts ?? null;
    if (limit === null) continue;
    if (limit - bound.use.rollouts < wanted.length) return refused("rollouts", bound, limit, bound.use.rollouts, wanted.length);
    left = Math.min(left, limit - bound.use.rollouts);
  }
  return { ok: true, value: Number.isFinite(left) ? fairShares(left, wanted) : wanted };
}

/** What a run says for itself that is given less than it asked for. */
export const loweredText = (granted: number, asked: number): string =>
  `max_concurrent is ${granted}${asked > 0 ? `, not ${asked}` : ""}: the limit of rollouts at once of the team or token leaves no more. A resume asks again.`;

function refused(name: "runs" | "rollouts", { owner, change }: Bound, limit: number, used: number, asked: number): { ok: false; error: Failure } {
  const { help, counts, retryAfter }: Limit = LIMITS[name];
  const what = help.split(",")[0] ?? name;
  const begin = asked === 1 ? "one more run" : `${asked} more runs`;
  const free = asked > limit ? "Ask for fewer runs at once" : "Ask again when one has ended, or stop one (`npx edgewise eval stop RUN`)";
  const failure: Failure = {
    code: "limit_reached",
    message: `The limit of ${what} of ${owner} is ${limit}, of which ${used} are in use (${counts}): there is no room for ${begin}.`,
    hint: `${free}; the owner of the service changes the limit: \`${change(`--${name} N`)}\`.`,
    ...(retryAfter === undefined ? {} : { retry_after_s: retryAfter }),
  };
  return { ok: false, error: failure };
}

/** Null where so many bytes more may be stored; 0 asks whether the limit is reached. */
export function storageRefusal(team: string, limit: number | null, used: number, more: number): Failure | null {
  if (limit === null || (more === 0 ? used < limit : used + more <= limit)) return null;
  const { counts, retryAfter }: Limit = LIMITS.stored_bytes;
  return {
    code: "limit_reached",
    message: `The limit of bytes stored of the team ${JSON.stringify(team)} is ${limitText("stored_bytes", limit)}, of which ${limitText("stored_bytes", used)} are in use (${counts}).`,
    hint: `Delete runs that nobody needs (DELETE /evaluations/{id}, or \`npx edgewise team limits ${team} --retention-days N\`); the owner of the service changes the limit: \`npx edgewise team limits ${team} --stored-bytes N\`.`,
    ...(retryAfter === undefined ? {} : { retry_after_s: retryAfter }),
  };
}
