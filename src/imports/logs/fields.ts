import type { Json } from "../../config/plan/run-config.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";

/** JSON that another program wrote: every field may be absent, or of another kind. */
export type Fields = Readonly<Record<string, Json | undefined>>;

export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
export const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
export const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);
export const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
export const numberOf = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);
export const countOf = (value: unknown): number | null => (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null);

/** As rows count: a boolean is 1 or 0; whatever else is no number is no score. */
export const scoreOf = (value: unknown): number | null => (typeof value === "boolean" ? Number(value) : numberOf(value));

/** The fields that say something: neither absent, null nor empty. */
export const present = (fields: Fields): { [name: string]: Json } =>
  Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, Json] => {
      const [, value] = field;
      return value !== undefined && value !== null && value !== "" && (typeof value !== "object" || Object.keys(value).length > 0);
    }),
  );

/** Reads a JSON object as Python writes them, NaN and Infinity as null. Throws a `SyntaxError`. */
export const readFields = (text: string): Fields => readForeignRow(text).value;

/** Unix seconds of a date; null for what is none. */
export function secondsOf(date: unknown): number | null {
  const time = typeof date === "string" ? Date.parse(date) : Number.NaN;
  return Number.isNaN(time) ? null : time / 1_000;
}
