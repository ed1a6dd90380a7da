import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { JUDGE_COLUMN } from "../../metrics/judge-fields.ts";
import { type Judgements, judgementsOf } from "../state/judgements.ts";
import type { State } from "../types.ts";
import { type ColumnProblem, type ColumnValue, columnValue } from "./column.ts";

/** The column of what judges saw and said: what the environment keeps of it, and what whoever asked them for it has noted. */
export function judgeColumn(state: State): ColumnValue | ColumnProblem {
  const own = columnValue(state, JUDGE_COLUMN);
  return own.ok ? { ok: true, value: withJudgements(own.value, judgementsOf(state)) } : own;
}

/** `own` with what was noted. A text under the same prompt is what was said before, or a part of it; all else that an environment keeps there is its own to say. */
export function withJudgements(own: Json | undefined, noted: Judgements | null): Json {
  if (noted === null) return own ?? null;
  if (own === undefined || own === null) return { ...noted } as JsonObject;
  if (typeof own !== "object" || Array.isArray(own)) return own;
  const news = Object.entries(noted).filter(([shown]) => !Object.hasOwn(own, shown) || typeof own[shown] === "string");
  return { ...own, ...(Object.fromEntries(news) as JsonObject) };
}

/** Into the state of a row that was scored again. `asked`: the state that judges were asked about. */
export function putJudgements(own: State, asked: State, columns: readonly string[]): void {
  const noted = columns.includes(JUDGE_COLUMN) ? judgementsOf(asked) : null;
  const before = noted === null ? null : columnValue(own, JUDGE_COLUMN);
  if (before?.ok === true) own[JUDGE_COLUMN] = withJudgements(before.value, noted);
}
