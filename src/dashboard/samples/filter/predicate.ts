import type { ColumnTable } from "../columns/column-table.ts";
import { type Checked, searchKey, type SearchTerm } from "./check.ts";

/** Whether a rollout is what is looked for. A text that is still being looked for is `UNKNOWN` where it was not found yet, and its opposite too. */
export const NO = 0;
export const UNKNOWN = 1;
export const YES = 2;
export type Verdict = typeof NO | typeof UNKNOWN | typeof YES;

/** What was found of a text so far. */
export interface Findings {
  has(row: number): boolean;
  /** The texts of that row were looked through. */
  isThrough(row: number): boolean;
}

export type Predicate = (row: number) => Verdict;

/** `findings`: by `searchKey`; what is not there is not looked for yet. The predicate holds for as long as the table takes nothing. */
export function predicateOf(checked: Checked, table: ColumnTable, findings: ReadonlyMap<string, Findings>): Predicate {
  switch (checked.kind) {
    case "number":
      return comparing(checked, table);
    case "known": {
      const values = table.column(checked.column);
      return (row) => (values === null || Number.isNaN(values[row] ?? Number.NaN) ? NO : YES);
    }
    case "error": {
      const values = table.column("error");
      const codes = new Set(checked.codes);
      return (row) => (values !== null && codes.has(values[row] ?? Number.NaN) ? YES : NO);
    }
    case "example":
      return comparingExamples(checked, table);
    case "search":
      return searching(checked.term, findings);
    case "not": {
      const part = predicateOf(checked.part, table, findings);
      return (row) => (YES - part(row)) as Verdict;
    }
    case "and": {
      const parts = checked.parts.map((part) => predicateOf(part, table, findings));
      return (row) => parts.reduce<Verdict>((least, part) => (least === NO ? NO : (Math.min(least, part(row)) as Verdict)), YES);
    }
    case "or": {
      const parts = checked.parts.map((part) => predicateOf(part, table, findings));
      return (row) => parts.reduce<Verdict>((most, part) => (most === YES ? YES : (Math.max(most, part(row)) as Verdict)), NO);
    }
  }
}

type Compared = Extract<Checked, { kind: "number" | "example" }>["operator"];

/** No number is never more, less, the same or another one. */
const holds: Readonly<Record<Compared, (left: number, right: number) => boolean>> = {
  "=": (left, right) => left === right,
  "!=": (left, right) => left !== right && !Number.isNaN(left),
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
};

function comparing({ column, operator, value }: Extract<Checked, { kind: "number" }>, table: ColumnTable): Predicate {
  const values = table.column(column);
  const compare = holds[operator];
  return (row) => (values !== null && compare(values[row] ?? Number.NaN, value) ? YES : NO);
}

function comparingExamples({ operator, value }: Extract<Checked, { kind: "example" }>, table: ColumnTable): Predicate {
  const number = value.trim() === "" ? Number.NaN : Number(value);
  const compare = holds[operator];
  const matches = (row: number): boolean => {
    const id = table.exampleId(table.exampleOf(row));
    if (typeof id === "number") return operator === "!=" && Number.isNaN(number) ? true : compare(id, number);
    const same = id === value;
    return operator === "=" ? same : operator === "!=" ? !same : id !== null && compare(id < value ? -1 : id > value ? 1 : 0, 0);
  };
  return (row) => (matches(row) ? YES : NO);
}

function searching(term: SearchTerm, findings: ReadonlyMap<string, Findings>): Predicate {
  const found = findings.get(searchKey(term));
  if (found === undefined) return () => UNKNOWN;
  return (row) => (found.has(row) ? YES : found.isThrough(row) ? NO : UNKNOWN);
}
