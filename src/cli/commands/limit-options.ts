/** Flags of limits, one for each of the table. */
import { Option } from "commander";
import { LIMITS, type LimitName, limitFrom, limitRule, type TokenLimitName, TOKEN_LIMITS, TEAM_LIMITS, type TokenLimits } from "../../teams/limits.ts";
import { usageError } from "../terminal/cli-error.ts";
import type { LimitChanges } from "../people/limits.ts";

const flagOf = (name: LimitName): string => `--${name.replaceAll("_", "-")}`;
/** As the parser calls it. */
const keyOf = (name: LimitName): string => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());

function numberOf(name: LimitName, text: string): number {
  const value = limitFrom(name, text);
  if (value !== null) return value;
  throw usageError(`${flagOf(name)}: ${limitRule(name)}, not ${JSON.stringify(text)}`);
}

/** Of a team: a number, `none` or `default`. */
export const teamLimitOptions = (): readonly Option[] =>
  TEAM_LIMITS.map((name) =>
    new Option(`${flagOf(name)} <N>`, `${LIMITS[name].help}; none, or default`).argParser((text) =>
      text === "none" || text === "default" ? text : numberOf(name, text),
    ),
  );

/** Of a token. */
export const tokenLimitOptions = (): readonly Option[] =>
  TOKEN_LIMITS.map((name) => new Option(`${flagOf(name)} <N>`, `${LIMITS[name].help}, of what the team may`).argParser((text) => numberOf(name, text)));

type Flags = Readonly<Record<string, unknown>>;
const given = (names: readonly LimitName[], flags: Flags) =>
  Object.fromEntries(names.flatMap((name) => (flags[keyOf(name)] === undefined ? [] : [[name, flags[keyOf(name)]]])));

export const teamLimitsGiven = (flags: Flags): LimitChanges =>
  Object.fromEntries(Object.entries(given(TEAM_LIMITS, flags)).map(([name, value]) => [name, value === "none" ? null : value])) as LimitChanges;
export const tokenLimitsGiven = (flags: Flags): TokenLimits => given(TOKEN_LIMITS as readonly TokenLimitName[], flags) as TokenLimits;
