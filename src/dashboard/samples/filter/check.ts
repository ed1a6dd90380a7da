import { fieldOf, FIXED_NAMES, metricName, type RunNames } from "./names.ts";
import { type Comparison, type Filter, type Operator, type Outcome, refused } from "./filter.ts";
import { fieldToken } from "./tokens.ts";

/** What the service has to look for, since the texts are there. */
export interface SearchTerm {
  /** Of the row; null: prompt, completion and answer. */
  readonly field: string | null;
  readonly text: string;
  /** `is`: the field is that, and no more. */
  readonly how: "contains" | "is";
}

/** A filter for one run: every name stands for something. */
export type Checked =
  | { readonly kind: "number"; readonly column: string; readonly operator: Exclude<Operator, "~">; readonly value: number }
  /** Whether there is a number. */
  | { readonly kind: "known"; readonly column: string }
  /** The rollout failed, with one of these codes. */
  | { readonly kind: "error"; readonly codes: readonly number[] }
  | { readonly kind: "example"; readonly operator: Exclude<Operator, "~">; readonly value: string }
  | { readonly kind: "search"; readonly term: SearchTerm }
  | { readonly kind: "not"; readonly part: Checked }
  | { readonly kind: "and" | "or"; readonly parts: readonly Checked[] };

const NONE = "none";
const ANY = "any";
const SHOWN = 12;

/** Looks the names of a filter up in a run. */
export function checkFilter(filter: Filter, names: RunNames): Outcome<Checked> {
  if (filter.kind === "words") return { ok: true, value: { kind: "search", term: { field: null, text: filter.text, how: "contains" } } };
  if (filter.kind === "comparison") return checkComparison(filter, names);
  if (filter.kind === "not") {
    const part = checkFilter(filter.part, names);
    return part.ok ? { ok: true, value: not(part.value) } : part;
  }
  const parts: Checked[] = [];
  for (const each of filter.parts) {
    const part = checkFilter(each, names);
    if (!part.ok) return part;
    parts.push(part.value);
  }
  return { ok: true, value: { kind: filter.kind, parts } };
}

const not = (part: Checked): Checked => ({ kind: "not", part });

function checkComparison({ field: name, operator, value, spans }: Comparison, names: RunNames): Outcome<Checked> {
  const field = fieldOf(name, names);
  if (field === null) return refused(spans.field, `“${name.name}” is no column of this run.`, offered(names));
  const operators = OPERATORS_OF[field.kind];
  if (!operators.includes(operator)) return refused(spans.operator, `“${operator}” does not go with ${fieldToken(name)}.`, operators);
  const isNot = operator === "!=";
  const maybe = (checked: Checked): Outcome<Checked> => ({ ok: true, value: isNot ? not(checked) : checked });
  switch (field.kind) {
    case "text":
      if (operator === "~" && field.field.includes(",")) return refused(spans.operator, "A key with a comma in it is compared as a whole.", EQUALITY);
      if (value === "") return refused(spans.value, "There is nothing in these quotes.", ["a word", 'words in "quotes"']);
      return maybe({ kind: "search", term: { field: field.field, text: value, how: operator === "~" ? "contains" : "is" } });
    case "truncated": {
      const word = TRUTHS.find(([each]) => each === value.toLowerCase());
      return word === undefined
        ? refused(spans.value, `“${value}” is neither yes nor no.`, ["yes", "no"])
        : { ok: true, value: { kind: "number", column: "truncated", operator: isNot ? "!=" : "=", value: word[1] } };
    }
    case "error": {
      const codes = codesOf(value, names);
      if (codes === null) return refused(spans.value, `“${value}” is no code of an error.`, [NONE, ANY, ...names.errorCodes.flatMap((code) => code ?? [])]);
      // What is not known is neither the same nor another one, as with numbers.
      return { ok: true, value: { kind: "error", codes: isNot ? [...names.errorCodes.keys()].filter((code) => !codes.includes(code)) : codes } };
    }
    case "example":
      return { ok: true, value: { kind: "example", operator: operator as Exclude<Operator, "~">, value } };
    case "number":
      return value.toLowerCase() === NONE && (operator === "=" || isNot)
        ? { ok: true, value: isNot ? { kind: "known", column: field.column } : not({ kind: "known", column: field.column }) }
        : numeric(field.column, operator as Exclude<Operator, "~">, value, spans.value);
  }
}

const EQUALITY: readonly Operator[] = ["=", "!="];
const ORDER: readonly Operator[] = ["=", "!=", "<", "<=", ">", ">="];
export const OPERATORS_OF = { number: ORDER, example: ORDER, error: EQUALITY, truncated: EQUALITY, text: ["~", ...EQUALITY] } as const satisfies Record<
  string,
  readonly Operator[]
>;
const TRUTHS: readonly (readonly [word: string, value: 0 | 1])[] = [
  ["yes", 1],
  ["true", 1],
  ["1", 1],
  ["no", 0],
  ["false", 0],
  ["0", 0],
];

function numeric(column: string, operator: Exclude<Operator, "~">, text: string, span: Comparison["spans"]["value"]): Outcome<Checked> {
  const value = Number(text.replaceAll("_", ""));
  if (text.trim() === "" || !Number.isFinite(value)) return refused(span, `“${text}” is no number.`, ["a number such as 0.5, 1e-3 or 2000", NONE]);
  return { ok: true, value: { kind: "number", column, operator, value } };
}

function codesOf(value: string, { errorCodes }: RunNames): readonly number[] | null {
  if (value.toLowerCase() === NONE) return [0];
  if (value.toLowerCase() === ANY) return errorCodes.flatMap((_, number) => (number === 0 ? [] : [number]));
  const number = errorCodes.indexOf(value);
  return number < 0 ? null : [number];
}

function offered({ metrics }: RunNames): readonly string[] {
  const all = [...FIXED_NAMES.slice(0, 5), ...metrics.map((metric) => fieldToken(metricName(metric))), "info.<key>", ...FIXED_NAMES.slice(5)];
  return all.length <= SHOWN ? all : [...all.slice(0, SHOWN), `${all.length - SHOWN} more`];
}

/** Columns that a filter looks at. */
export function columnsOf(checked: Checked | null): readonly string[] {
  if (checked === null) return [];
  if (checked.kind === "number" || checked.kind === "known") return [checked.column];
  if (checked.kind === "error") return ["error"];
  if (checked.kind === "not") return columnsOf(checked.part);
  return checked.kind === "and" || checked.kind === "or" ? checked.parts.flatMap(columnsOf) : [];
}

/** What the service has to look for, each once. */
export function searchesOf(checked: Checked | null): readonly SearchTerm[] {
  const all = new Map(termsIn(checked).map((term) => [searchKey(term), term]));
  return [...all.values()];
}

function termsIn(checked: Checked | null): readonly SearchTerm[] {
  if (checked === null) return [];
  if (checked.kind === "search") return [checked.term];
  if (checked.kind === "not") return termsIn(checked.part);
  return checked.kind === "and" || checked.kind === "or" ? checked.parts.flatMap(termsIn) : [];
}

export const searchKey = ({ field, text, how }: SearchTerm): string => JSON.stringify([field, text, how]);
