import { isObject } from "../../../../cells/row-messages.ts";

/** One question of a judge. */
export interface Judgement {
  /** The whole prompt; null where the row does not say it. */
  readonly shown: string | null;
  /** A text where the row is one of ours. */
  readonly said: unknown;
}

/**
 * What a `judge_response` column says: a map from each prompt to the judge's text. A text, or a list, of another program is what was said without what
 * was shown. Null of anything else, which is no such map. Never throws.
 */
export function judgementsOf(value: unknown): readonly Judgement[] | null {
  if (value === null || value === undefined || value === "") return [];
  if (typeof value === "string") return [{ shown: null, said: value }];
  if (Array.isArray(value)) return value.map((said: unknown) => ({ shown: null, said }));
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  return entries.every(([, said]) => typeof said === "string") ? entries.map(([shown, said]) => ({ shown, said })) : null;
}
