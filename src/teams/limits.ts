/**
 * What a team and a token may use, in one table: the schema of `/teams/{team}/limits`, the flags of `team limits` and `token create`, and the table in
 * docs/limits-of-a-team.md are made from it.
 */
import { DEFAULT_TEAM } from "./team-name.ts";

export interface Limit {
  /** Whose it is. */
  readonly of: readonly ("team" | "token")[];
  /** Who sets that of a team: the owner of the service, or who administers the team too. */
  readonly setBy: "owner" | "admin";
  readonly kind: "count" | "bytes" | "days";
  readonly least: number;
  readonly most: number;
  /** Of a team other than the default one and of a token, on a deployment; null = none. Locally there are none. */
  readonly deployed: number | null;
  readonly help: string;
  /** What counts, as a refusal says it; absent where nothing is refused. */
  readonly counts?: string;
  /** Seconds after which to ask again. */
  readonly retryAfter?: number;
}

export const LIMITS = {
  runs: {
    of: ["team", "token"],
    setBy: "owner",
    kind: "count",
    least: 1,
    most: 100_000,
    deployed: 50,
    help: "runs at once",
    counts: "runs that are made and have neither settled nor been interrupted",
    retryAfter: 30,
  },
  rollouts: {
    of: ["team", "token"],
    setBy: "owner",
    kind: "count",
    least: 1,
    most: 1_000_000,
    deployed: 2_000,
    help: "rollouts at once, of all runs together: a run gets what the others leave as its max_concurrent",
    counts: "max_concurrent of the runs that are at work",
    retryAfter: 30,
  },
  stored_bytes: {
    of: ["team"],
    setBy: "owner",
    kind: "bytes",
    least: 1,
    most: 1e15,
    deployed: 1e12,
    help: "bytes stored: rows of runs, their final files and pinned inputs, and uploads",
    counts: "rows of runs, their final files and pinned inputs, and uploads",
    retryAfter: 3_600,
  },
  requests_per_minute: {
    of: ["token"],
    setBy: "owner",
    kind: "count",
    least: 1,
    most: 1_200,
    deployed: 1_200,
    help: "requests per minute",
    counts: "requests of this token to this place of the service",
    retryAfter: 60,
  },
  retention_days: {
    of: ["team"],
    setBy: "admin",
    kind: "days",
    least: 1,
    most: 3_650,
    deployed: null,
    help: "days after which a settled run is removed, with a notice before; a kept one stays",
  },
  audit_days: {
    of: ["team"],
    setBy: "owner",
    kind: "days",
    least: 1,
    most: 3_650,
    deployed: null,
    help: "days after which entries of the audit are removed",
  },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;
type NameOf<Owner> = { [Name in LimitName]: Owner extends (typeof LIMITS)[Name]["of"][number] ? Name : never }[LimitName];
export type TeamLimitName = NameOf<"team">;
export type TokenLimitName = NameOf<"token">;

const ALL = Object.keys(LIMITS) as LimitName[];
const namesOf = (owner: "team" | "token"): readonly LimitName[] => ALL.filter((name) => (LIMITS[name] as Limit).of.includes(owner));
export const TEAM_LIMITS = namesOf("team") as readonly TeamLimitName[];
export const TOKEN_LIMITS = namesOf("token") as readonly TokenLimitName[];

/** `null`: no limit; absent: nobody said, so the default holds. */
export type TeamLimits = { readonly [Name in TeamLimitName]?: number | null };
export type TokenLimits = { readonly [Name in TokenLimitName]?: number | null };

/** What holds where nobody said: the owner's own team has no limits, nor has anybody on this machine. */
export function usualLimit(name: LimitName, of: { readonly local: boolean; readonly team?: string | undefined }): number | null {
  return of.local || of.team === DEFAULT_TEAM ? null : LIMITS[name].deployed;
}

/** All limits of a team as they hold. */
export function limitsOfTeam(set: TeamLimits, of: { readonly local: boolean; readonly team: string }): Readonly<Record<TeamLimitName, number | null>> {
  const values = TEAM_LIMITS.map((name) => [name, set[name] === undefined ? usualLimit(name, of) : set[name]] as const);
  return Object.fromEntries(values) as Record<TeamLimitName, number | null>;
}

const BYTES: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

/** What a text such as `20` or `50GB` says; null where it is none that this limit takes. */
export function limitFrom(name: LimitName, text: string): number | null {
  const { kind, least, most }: Limit = LIMITS[name];
  const [, digits = "", unit = ""] = /^(\d{1,16})([A-Z]{0,2})$/.exec(text.toUpperCase()) ?? [];
  const factor = unit === "" ? 1 : kind === "bytes" ? (BYTES[unit] ?? 0) : 0;
  const value = digits === "" ? 0 : Number(digits) * factor;
  return value >= least && value <= most ? value : null;
}

/** `must be a whole number between 1 and 100000`. */
export function limitRule(name: LimitName): string {
  const { kind, least, most }: Limit = LIMITS[name];
  return `must be a whole number between ${least} and ${most}${kind === "bytes" ? ", or one such as 50GB" : ""}`;
}

/** As people read it: `none`, `20`, `50 GB`, `30 days`. */
export function limitText(name: LimitName, value: number | null): string {
  if (value === null) return "none";
  const { kind } = LIMITS[name] as Limit;
  if (kind === "days") return `${value} ${value === 1 ? "day" : "days"}`;
  return kind === "bytes" ? bytesText(value) : String(value);
}

/** `1.5 GB`: three digits that count. */
export function bytesText(bytes: number): string {
  const [unit = "B", factor = 1] = Object.entries(BYTES).findLast(([, each]) => bytes >= each) ?? [];
  return `${Number((bytes / factor).toPrecision(3))} ${unit}`;
}
