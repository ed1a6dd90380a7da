/** JSON as Python's library writes it: with bare `NaN` and `Infinity`, which the standard does not know. */

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

/** Bare `NaN` and `Infinity` are read as the texts of that name: they are no numbers to reckon with, and they are shown. */
export function parseLoosely(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) return { ok: false, reason: reasonIn(error) };
  }
  try {
    return { ok: true, value: JSON.parse(text.replace(TOKENS, (token) => (token.startsWith('"') ? token : `"${token}"`))) };
  } catch (error) {
    return { ok: false, reason: reasonIn(error) };
  }
}

const reasonIn = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null && !Array.isArray(value);

export const objectOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});

export const numberOf = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** A value on one line: a text as it is, all else as JSON, cut after `limit` characters. */
export function valueText(value: unknown, limit = 200): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
