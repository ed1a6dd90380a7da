import { isObject } from "../../../../cells/row-messages.ts";

/** One question of a judge. */
export interface Judgement {
  /** The whole prompt; null where the row does not say it. */
  readonly shown: string | null;
  /** One thing, or several where the same was asked several times: texts where the row is one of ours. */
  readonly said: readonly unknown[];
}

/**
 * What a `judge_response` column says: a map from each prompt to the judge's text, or to its texts. A text, or a list, of another program is what was said without what
 * was shown. Null of anything else, which is no such map. Never throws.
 */
export function judgementsOf(value: unknown): readonly Judgement[] | null {
  if (value === null || value === undefined || value === "") return [];
  if (typeof value === "string") return [{ shown: null, said: [value] }];
  if (Array.isArray(value)) return value.map((said: unknown) => ({ shown: null, said: [said] }));
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  const isSaid = (said: unknown): boolean =>
    typeof said === "string" || (Array.isArray(said) && said.length > 0 && said.every((each) => typeof each === "string"));
  return entries.every(([, said]) => isSaid(said))
    ? entries.map(([shown, said]) => ({ shown, said: Array.isArray(said) ? (said as unknown[]) : [said] }))
    : null;
}
