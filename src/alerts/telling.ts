import { isLike } from "../config/wildcard.ts";
import type { AlertDefinition } from "./alert-definition.ts";
import type { Occurrence } from "./occurrence.ts";

/** Which alerts an occurrence is for, and whether it is said at all. */

export const isWanted = ({ on, for: patterns }: AlertDefinition, { type, names }: Pick<Occurrence, "type" | "names">): boolean =>
  on.includes(type) && patterns.some((pattern) => pattern === "*" || names.some((name) => isLike(pattern, name)));

/** What is known of something that lasts. Times are Unix milliseconds. */
export interface KnownCondition {
  readonly state: "on" | "off";
  /** Of the newest telling of it. */
  readonly at: number;
  /** When it began, where it is on. */
  readonly since: number;
}

export interface Heard {
  /** Whether alerts are told. */
  readonly isNews: boolean;
  /** What is known from now on; null = nothing of it is to be kept. */
  readonly known: KnownCondition | null;
  /** Alerts that were made later know nothing of its beginning, and are not told of its end; null = all are told. */
  readonly madeBefore: number | null;
}

/**
 * The same condition alerts once, and once more when it ends: another beginning of what is on, an end of what is not, and what comes later than something
 * newer are no news.
 */
export function hear(before: KnownCondition | null, { condition, at }: Pick<Occurrence, "condition" | "at">): Heard {
  const told = { isNews: true, madeBefore: null };
  if (condition === undefined) return { ...told, known: null };
  const { state } = condition;
  const quiet: Heard = { isNews: false, known: before, madeBefore: null };
  if (before !== null && at < before.at) return quiet;
  if (state === (before?.state ?? "off")) return before === null ? quiet : { ...quiet, known: { ...before, at } };
  return { ...told, known: { state, at, since: at }, madeBefore: state === "off" ? (before?.since ?? null) : null };
}
