import { OPERATORS_OF } from "./check.ts";
import type { FieldName } from "./filter.ts";
import { fieldOf, FIXED_NAMES, metricName, type RunNames } from "./names.ts";
import { fieldToken, type NameToken, textToken, type Token, tokensOf } from "./tokens.ts";

/** What may stand where somebody types. */
export interface Completion {
  /** What is taken out of the text: what was typed of it. */
  readonly start: number;
  readonly end: number;
  readonly options: readonly CompletionOption[];
}

export interface CompletionOption {
  /** What goes in in its place, with a space behind it. */
  readonly text: string;
  readonly about: string;
}

export interface CompletionNames extends RunNames {
  /** Keys of `info` that were seen. */
  readonly infoKeys: readonly string[];
}

const MOST_OPTIONS = 12;
/** Names that are offered before metrics. */
const FIRST = 5;
const ABOUT: Readonly<Record<string, string>> = {
  reward: "number",
  prompt: "text",
  completion: "text",
  answer: "text",
  stop_condition: "text",
  error: "code, any or none",
  example: "what the data set calls it",
  rollout: "number of the attempt, from 0",
  tokens: "input and output",
  cost: "dollars",
  truncated: "yes or no",
};

/** What may stand at the cursor: names, then operators, then values, then what joins terms. */
export function complete(text: string, cursor: number, names: CompletionNames): Completion {
  const { tokens } = tokensOf(text.slice(0, cursor));
  const last = tokens.at(-1);
  const touches = last !== undefined && last.span.end === cursor;
  // What is being typed is no whole word yet; an operator or a bracket is.
  const partial = touches && (last.kind === "name" || last.kind === "keyword") ? last : null;
  const before = partial === null ? tokens : tokens.slice(0, -1);
  const typed = partial === null ? "" : text.slice(partial.span.start, cursor);
  const start = partial?.span.start ?? cursor;
  const end = partial === null ? cursor : wordEnd(text, cursor);
  const options = optionsBehind(before, names).filter((option) => fits(option.text, typed) && option.text !== typed);
  return { start, end, options: options.toSorted((a, b) => rank(a.text, typed) - rank(b.text, typed)).slice(0, MOST_OPTIONS) };
}

const plain = (text: string): string => text.replace(/^"/, "").toLowerCase();
const fits = (option: string, typed: string): boolean => plain(option).includes(plain(typed));
const rank = (option: string, typed: string): number => (plain(option).startsWith(plain(typed)) ? 0 : 1);

function wordEnd(text: string, cursor: number): number {
  const rest = /^[^\s()"<>=!~]*/.exec(text.slice(cursor))?.[0] ?? "";
  return cursor + rest.length;
}

function optionsBehind(tokens: readonly Token[], names: CompletionNames): readonly CompletionOption[] {
  const last = tokens.at(-1);
  const name = tokens.at(-2);
  if (last?.kind === "operator") return name?.kind === "name" ? valuesOf(name.field, names) : [];
  if (last?.kind === "name" && name?.kind !== "operator") return [...operatorsOf(last, names), ...joins(names)];
  return last === undefined || last.kind === "(" || last.kind === "keyword" ? terms(names) : joins(names);
}

function operatorsOf({ field: name }: NameToken, names: RunNames): readonly CompletionOption[] {
  const field = fieldOf(name, names);
  return field === null ? [] : OPERATORS_OF[field.kind].map((text) => ({ text, about: "" }));
}

function valuesOf(name: FieldName, names: RunNames): readonly CompletionOption[] {
  const field = fieldOf(name, names);
  if (field?.kind === "truncated") return [option("yes"), option("no")];
  if (field?.kind === "number") return [option("none", "no number")];
  if (field?.kind !== "error") return [];
  return [option("any", "every error"), option("none", "no error"), ...names.errorCodes.flatMap((code) => (code === null ? [] : [option(textToken(code))]))];
}

const option = (text: string, about = ""): CompletionOption => ({ text, about });

function terms({ metrics, infoKeys }: CompletionNames): readonly CompletionOption[] {
  return [
    ...FIXED_NAMES.slice(0, FIRST).map((name) => option(name, ABOUT[name])),
    ...metrics.map((metric) => option(fieldToken(metricName(metric)), "metric")),
    ...infoKeys.map((key) => option(fieldToken({ group: "info", name: key }), "info")),
    ...FIXED_NAMES.slice(FIRST).map((name) => option(name, ABOUT[name] ?? "number")),
    option("not"),
  ];
}

const joins = (names: CompletionNames): readonly CompletionOption[] => [option("and"), option("or"), ...terms(names)];
