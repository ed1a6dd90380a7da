import type { Json, JsonObject } from "../config/plan/run-config.ts";
import { localOf } from "./local-time.ts";

/** What stands in a name for the day of the due time, in the schedule's zone: 2026-11-22. */
export const DATE = "{{date}}";

export const hasDate = (value: Json | undefined): boolean => value !== undefined && JSON.stringify(value).includes(DATE);

/** The same with the day in it. */
export function dated<Value extends Json | JsonObject>(value: Value, due: number, zone: string): Value {
  return withDay(value, new Date(localOf(due, zone)).toISOString().slice(0, 10)) as Value;
}

function withDay(value: Json, day: string): Json {
  if (typeof value === "string") return value.replaceAll(DATE, day);
  if (Array.isArray(value)) return value.map((each) => withDay(each, day));
  if (typeof value === "object" && value !== null) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withDay(each, day)]));
  return value;
}
