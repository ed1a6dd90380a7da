import type { Json } from "../../config/plan/run-config.ts";
import type { State } from "../types.ts";

/** Value of a requested state column, or why it cannot stand in a row. */
export interface ColumnValue {
  readonly ok: true;
  readonly value: Json;
}
export interface ColumnProblem {
  readonly ok: false;
  readonly problem: string;
}

class NotJson extends Error {}

/** What `state[name]` is in a row: missing → null; dates, errors and typed objects in their text or JSON form. */
export function columnValue(state: State, name: string): ColumnValue | ColumnProblem {
  try {
    return { ok: true, value: toJson(Object.hasOwn(state, name) ? state[name] : null, new Set()) };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return { ok: false, problem: `the state column ${JSON.stringify(name)} cannot be written as JSON: ${reason}` };
  }
}

function toJson(value: unknown, above: Set<object>): Json {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new NotJson(`it holds ${value}`);
    return value;
  }
  if (typeof value !== "object") throw new NotJson(`it holds a ${typeof value}`);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (above.has(value)) throw new NotJson("it contains itself");
  above.add(value);
  const json = toJsonObject(value, above);
  above.delete(value);
  return json;
}

function toJsonObject(value: object, above: Set<object>): Json {
  if (Array.isArray(value)) return value.map((item) => toJson(item, above));
  if (value instanceof Map) return objectOf([...value], above);
  if ("toJSON" in value && typeof value.toJSON === "function") return toJson(value.toJSON(), above);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new NotJson(`it holds a ${value.constructor.name}`);
  return objectOf(Object.entries(value), above);
}

function objectOf(entries: readonly (readonly [unknown, unknown])[], above: Set<object>): Json {
  const object: Record<string, Json> = {};
  for (const [key, item] of entries) {
    if (typeof key !== "string") throw new NotJson("it holds a map whose keys are not texts");
    if (item !== undefined) object[key] = toJson(item, above);
  }
  return object;
}
