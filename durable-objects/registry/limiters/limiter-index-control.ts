import type { LimitedPlace } from "../../limiter/limiter-control.ts";
import type { GivenLimit } from "../../../src/config/endpoints/given-limit.ts";
import type { Result } from "../../../src/errors/result.ts";
import type { TeamOf } from "../../../src/teams/team-name.ts";

/** Which Limiters a team's runs call, and what the team was given to keep to there, as Limiters, the door and its Registry speak of them. Times are Unix milliseconds. */

/** A Limiter that runs of the team have called. */
export interface SeenLimiter {
  /** Drawn by the Registry: the name of the object is made of a key, and is told to nobody. */
  readonly id: string;
  /** Of the object (src/endpoint-limits/limiter-name.ts). */
  readonly name: string;
  readonly place: LimitedPlace;
  /** When it last began anew, and made itself known. */
  readonly seen_at: number;
  /** Runs of the team itself have called it; else only those of others have, with a key of the service: in the default team's Registry alone. */
  readonly own: boolean;
}

/** A limit that the service keeps for a team. */
export interface KeptLimit {
  readonly name: string;
  /** At least one: of an endpoint with replicas one for each place. */
  readonly limits: readonly GivenLimit[];
  readonly created_at: number;
  readonly updated_at: number;
  readonly updated_by: string;
}

/** Those that hold at a place. */
export interface HeldLimits {
  /** For the runs of the team together. */
  readonly team: readonly GivenLimit[];
  /** Of the default team, for its key: for all who use it, whichever team they are of. */
  readonly everybody: readonly GivenLimit[];
}

export interface LimiterIndexControl {
  /**
   * A Limiter makes itself known, once in its life for each team that calls it, and is told what holds for that team at its place. The same again is
   * no harm. Of a team whose key is not its own the default team's Registry hears too, since the key is the service's: `own` is false there, absent = true.
   */
  limiterSeen(seen: TeamOf & { readonly place: LimitedPlace; readonly name: string; readonly own?: boolean }): Promise<HeldLimits>;
  /** The newest first. */
  listLimiters(): Promise<readonly SeenLimiter[]>;
  /** Null where there is none. */
  seenLimiter(id: string): Promise<SeenLimiter | null>;
  /** By their names. */
  listKeptLimits(): Promise<readonly KeptLimit[]>;
  keptLimit(name: string): Promise<KeptLimit | null>;
  /** In the place of what had the name. The same once more changes nothing. */
  putLimit(put: { readonly name: string; readonly limits: readonly GivenLimit[]; readonly user: string }): Promise<Result<KeptLimit>>;
  /** What it was; null where there was none. */
  deleteLimit(name: string): Promise<KeptLimit | null>;
  /** What holds for the team at a place now. */
  heldLimits(held: TeamOf & { readonly place: LimitedPlace }): Promise<HeldLimits>;
  /** Whether the team has a secret of this name, so that the key is its own and not the service's. */
  hasOwnKey(name: string): Promise<boolean>;
}
