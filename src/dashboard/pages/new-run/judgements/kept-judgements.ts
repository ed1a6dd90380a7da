import { JUDGE_COLUMN } from "../../../../metrics/judge-fields.ts";
import { type Given, givenOf, readGiven, valueIn, withValue } from "../../../design/field/given.ts";
import type { Draft } from "../draft.ts";

/** The option that names the columns. */
export const COLUMNS_OPTION = "state_columns";
const LINES = { kind: "lines" } as const;

/** Whether the draft asks for what judges saw and said; null where its columns are written in a way that nobody can read. */
export function keepsJudgements({ options }: Pick<Draft, "options">): boolean | null {
  return columnsIn(valueIn(options, COLUMNS_OPTION))?.includes(JUDGE_COLUMN) ?? null;
}

/** The draft with that column, or without it; as it is where its columns cannot be read. */
export function withJudgements(draft: Draft, keeps: boolean): Draft {
  const columns = columnsIn(valueIn(draft.options, COLUMNS_OPTION));
  if (columns === null || columns.includes(JUDGE_COLUMN) === keeps) return draft;
  const next = keeps ? [...columns, JUDGE_COLUMN] : columns.filter((name) => name !== JUDGE_COLUMN);
  return { ...draft, options: withValue(draft.options, COLUMNS_OPTION, next.length === 0 ? null : givenOf(LINES, next)) };
}

function columnsIn(given: Given | null): readonly string[] | null {
  if (given === null) return [];
  const read = readGiven(LINES, given);
  if (!read.ok || !Array.isArray(read.value)) return null;
  return read.value.every((name) => typeof name === "string") ? read.value : null;
}
