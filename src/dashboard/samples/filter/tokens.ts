import { type FieldName, OPERATORS, type Operator, type Span } from "./filter.ts";

/** Words of the language; what is looked for under such a name stands in quotes. */
export const KEYWORDS = ["and", "or", "not"] as const;
export type Keyword = (typeof KEYWORDS)[number];

export type Token =
  | { readonly kind: "(" | ")"; readonly span: Span }
  | { readonly kind: "operator"; readonly operator: Operator; readonly span: Span }
  | { readonly kind: "keyword"; readonly keyword: Keyword; readonly span: Span }
  | NameToken;

/** A word, or what stands in quotes: a name where an operator follows, else words to look for. */
export interface NameToken {
  readonly kind: "name";
  readonly field: FieldName;
  /** As a value, or as words. Null = it can be a name alone, such as `m:"…"`. */
  readonly text: string | null;
  /** Its quotes are closed, or it has none. */
  readonly closed: boolean;
  readonly quoted: boolean;
  readonly span: Span;
}

const WORD = /[^\s()"<>=!~]+/y;
const SPACE = /\s+/y;
/** What stands before quotes that are the rest of a name. */
const PREFIXES: readonly (readonly [prefix: string, group: FieldName["group"]])[] = [
  ["m:", "m"],
  ["info.", "info"],
];

/** The text in pieces. Quotes that are not closed go to its end. Null with the place of what is no piece: a lone `!`. */
export function tokensOf(text: string): { readonly tokens: readonly Token[]; readonly wrong: Span | null } {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    const space = matched(SPACE, text, at);
    if (space !== null) {
      at += space.length;
      continue;
    }
    const token = tokenAt(text, at);
    if (token === null) return { tokens, wrong: { start: at, end: at + 1 } };
    tokens.push(token);
    at = token.span.end;
  }
  return { tokens, wrong: null };
}

function tokenAt(text: string, start: number): Token | null {
  const character = text[start];
  if (character === "(" || character === ")") return { kind: character, span: { start, end: start + 1 } };
  const operator = OPERATORS.find((each) => text.startsWith(each, start));
  if (operator !== undefined) return { kind: "operator", operator, span: { start, end: start + operator.length } };
  if (character === '"') {
    const { value, end, closed } = quotedAt(text, start);
    return { kind: "name", field: { group: "", name: value }, text: value, closed, quoted: true, span: { start, end } };
  }
  const word = matched(WORD, text, start);
  if (word === null) return null;
  const end = start + word.length;
  const [, group] = PREFIXES.find(([prefix]) => prefix === word.toLowerCase()) ?? [];
  if (group !== undefined && text[end] === '"') {
    const rest = quotedAt(text, end);
    return { kind: "name", field: { group, name: rest.value }, text: null, closed: rest.closed, quoted: true, span: { start, end: rest.end } };
  }
  const keyword = KEYWORDS.find((each) => each === word.toLowerCase());
  if (keyword !== undefined) return { kind: "keyword", keyword, span: { start, end } };
  return { kind: "name", field: fieldOf(word), text: word, closed: true, quoted: false, span: { start, end } };
}

function fieldOf(word: string): FieldName {
  const [prefix, group] = PREFIXES.find(([each]) => word.length > each.length && word.toLowerCase().startsWith(each)) ?? ["", "" as const];
  return { group, name: word.slice(prefix.length) };
}

function quotedAt(text: string, start: number): { readonly value: string; readonly end: number; readonly closed: boolean } {
  let value = "";
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return { value, end: at + 1, closed: true };
    if (text[at] === "\\" && at + 1 < text.length) at++;
    value += text[at];
  }
  return { value, end: text.length, closed: false };
}

function matched(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

const isWord = (text: string): boolean =>
  matched(WORD, text, 0)?.length === text.length && text !== "" && !KEYWORDS.some((each) => each === text.toLowerCase());
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;

/** A value, or words, as they are written. */
export const textToken = (text: string): string => (isWord(text) ? text : quoted(text));

/** The name of a field as it is written. */
export function fieldToken({ group, name }: FieldName): string {
  const [prefix] = PREFIXES.find(([, each]) => each === group) ?? [""];
  if (prefix !== "") return prefix + (matched(WORD, name, 0)?.length === name.length && name !== "" ? name : quoted(name));
  return isWord(name) && fieldOf(name).group === "" ? name : quoted(name);
}
