import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { KIB } from "../../limits.ts";
import type { RolloutFailure, State } from "../types.ts";
import { type ForeignRow, readForeignRow } from "./foreign-row.ts";
import { objectText, type RawField, rawFields } from "./raw-fields.ts";
import { rowChains, rowError } from "./row-errors.ts";
import { escapedSeparators, rowText } from "./row-text.ts";

/**
 * Rows that came with their rollout: of environments that another library plays, which writes its rows itself. What it wrote stays as it
 * wrote it, keys, order and numbers.
 */

/** Beside the states: a state column is not to hold the row that it stands in. */
const given = new WeakMap<State, ForeignRow>();

/** From now on the row of `state` is this one, as `rowOf` writes it. */
export const giveRow = (state: State, row: ForeignRow): void => void given.set(state, row);

/** Null where the row is made of the state. */
export const givenRowOf = (state: State): ForeignRow | null => given.get(state) ?? null;

/** Reads a row as another library writes it: one line, whatever stood between its tokens. Throws a `SyntaxError` for what is no JSON object. */
export const readGivenRow = (text: string): ForeignRow => readForeignRow(escapedSeparators(text.replace(/[\r\n]+/g, " ")));

/** Keys that are ours alone to write. */
const OURS: ReadonlySet<string> = new Set(["rollout_index", "env_digest", "usage_cost", "judge_usage", "scored_anew", "cache_usage"]);

/** Keys that a row keeps whatever else it loses: they are bounded, or its scores. */
const KEPT: ReadonlySet<string> = new Set([
  ...["example_id", "reward", "error", "timing", "is_completed", "is_truncated", "stop_condition", "metrics", "token_usage"],
  ...["error_chain", "long_error_chain"],
]);
/** Characters of each text of an error in a row that is too large. */
const MAX_ERROR_CHARACTERS = 4 * KIB;

/** What is written into a row that is there already. */
export interface GivenWith {
  /** The rollout's own, or that of a row that is too large. */
  readonly error: RolloutFailure | null;
  /** What the row is written without. */
  readonly lost: "nothing" | "completion" | "all";
  /** Keys after its own. */
  readonly more: JsonObject;
  /** Columns that the other library does not know, and wrote as null or not at all. */
  readonly columns: JsonObject;
}

/** The given row of `state`, whose scores and error it says, and its line: every byte that nothing changes is as it was. */
export function writtenRow(row: ForeignRow, state: State, { error, lost, more, columns }: GivenWith): { readonly row: JsonObject; readonly line: string } {
  const { value } = row;
  const changes: Record<string, Json | undefined> = { ...columns, ...lostFields(value, state, lost), example_id: state.example_id };
  if (value.reward !== state.reward) changes.reward = state.reward ?? 0;
  if (error !== null) Object.assign(changes, isObject(value.error) ? {} : { error: rowError(error), ...rowChains(error) });
  return merged(row, changes, error?.code ?? null, more);
}

function merged({ text, value }: ForeignRow, changes: Readonly<Record<string, Json | undefined>>, code: string | null, more: JsonObject) {
  const row: JsonObject = {};
  const line: RawField[] = [];
  const added = defined({ ...changes, ...more });
  const texts = new Map(rawFields(rowText(added)));
  const put = (name: string, item: Json, raw: string): void => {
    Object.defineProperty(row, name, { value: item, enumerable: true, writable: true, configurable: true });
    line.push([name, raw]);
  };
  // Of a key that is there twice the last one counts, as for whoever parses the line.
  for (const [name, raw] of new Map(rawFields(text))) {
    const own = value[name] as Json;
    if (OURS.has(name)) continue;
    const now = Object.hasOwn(changes, name) ? changes[name] : own;
    if (now === undefined) continue;
    const [item, written] = now === own ? [own, raw] : [now, texts.get(name) ?? "null"];
    if (name === "error" && code !== null && isObject(item)) put(name, { ...withoutCode(item), code }, withCode(written, code));
    else put(name, item, written);
  }
  for (const [name, item] of Object.entries(added)) if (!Object.hasOwn(row, name)) put(name, item, texts.get(name) ?? "null");
  return { row, line: objectText(line, text) };
}

function lostFields(value: JsonObject, { metrics }: State, lost: GivenWith["lost"]): Record<string, Json | undefined> {
  if (lost === "nothing") return {};
  if (lost === "completion") return { completion: null };
  const fields: Record<string, Json | undefined> = {};
  for (const [name, item] of Object.entries(value)) {
    if (name === "answer" || name === "info") fields[name] = undefined;
    else if (name === "error" || name === "error_chain" || name === "long_error_chain") fields[name] = shortened(item);
    else if (!KEPT.has(name) && !Object.hasOwn(metrics ?? {}, name)) fields[name] = null;
  }
  return fields;
}

function shortened(item: Json): Json {
  if (typeof item === "string") return item.length > MAX_ERROR_CHARACTERS ? `${item.slice(0, MAX_ERROR_CHARACTERS)}…` : item;
  return isObject(item) ? Object.fromEntries(Object.entries(item).map(([name, each]) => [name, shortened(each)])) : item;
}

const isObject = (value: Json | undefined): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
const withoutCode = ({ code: _, ...error }: JsonObject): JsonObject => error;
const defined = (fields: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, item]) => item !== undefined)) as JsonObject;

/** The text of an error object with our code, last. */
const withCode = (error: string, code: string): string =>
  objectText([...rawFields(error).filter(([name]) => name !== "code"), ["code", JSON.stringify(code)]], error);
