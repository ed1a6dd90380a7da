/** What a token may be good for. */
export const SCOPES = ["runs:read", "runs:write", "environments:write", "secrets:write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

/** `runs:write` is of little use without reading what was started; `admin` of a team may do everything in it. */
const INCLUDED: Readonly<Record<Scope, readonly Scope[]>> = {
  "runs:read": [],
  "runs:write": ["runs:read"],
  "environments:write": [],
  "secrets:write": [],
  admin: SCOPES,
};

export const allows = (scopes: readonly Scope[], wanted: Scope): boolean => scopes.some((scope) => scope === wanted || INCLUDED[scope].includes(wanted));

/** What both allow: a token is good for no more than its user. */
export const inBoth = (a: readonly Scope[], b: readonly Scope[]): readonly Scope[] => SCOPES.filter((scope) => allows(a, scope) && allows(b, scope));

/** A list without what another of it includes. */
export const shortest = (scopes: readonly Scope[]): readonly Scope[] =>
  SCOPES.filter((scope) => scopes.includes(scope) && !scopes.some((other) => other !== scope && INCLUDED[other].includes(scope)));
