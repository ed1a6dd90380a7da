import { MOST_FILTER_CHARACTERS } from "../../address/samples-view.ts";
import { type Filter, joined, OPERATORS, type Outcome, refused, type Span } from "./filter.ts";
import { type NameToken, type Token, tokensOf } from "./tokens.ts";

/** Brackets and `not`s within each other: what an address says is not to overflow the stack. */
const MOST_DEPTH = 50;
const TERM = ["a word to look for", 'words in "quotes"', "a comparison such as reward < 0.5", "not", "("];

/**
 * Reads a filter: `reward < 0.5 and (error = any or "wrong answer") not info.level = 5`. Terms that stand beside each other must all hold, as with `and`, which binds
 * closer than `or`; what is no comparison is looked for in the texts. Null: it is empty. Names are not looked up here (check.ts).
 */
export function parseFilter(text: string): Outcome<Filter | null> {
  if (text.length > MOST_FILTER_CHARACTERS)
    return refused({ start: MOST_FILTER_CHARACTERS, end: text.length }, `A filter has at most ${MOST_FILTER_CHARACTERS} characters.`, []);
  const { tokens, wrong } = tokensOf(text);
  if (wrong !== null) return refused(wrong, "“!” stands alone.", ["!="]);
  const open = tokens.find((token) => token.kind === "name" && !token.closed);
  if (open !== undefined) return refused(open.span, "These quotes are not closed.", ['"']);
  if (tokens.length === 0) return { ok: true, value: null };
  const parser = new Parser(tokens, text.length);
  const filter = parser.any(0);
  if (!filter.ok) return filter;
  const rest = parser.peek();
  return rest === null ? filter : refused(rest.span, rest.kind === ")" ? "This bracket closes none." : "Something is missing before this.", TERM);
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #length: number;
  #at = 0;

  constructor(tokens: readonly Token[], length: number) {
    this.#tokens = tokens;
    this.#length = length;
  }

  peek(): Token | null {
    return this.#tokens[this.#at] ?? null;
  }

  any(depth: number): Outcome<Filter> {
    const parts: Filter[] = [];
    do {
      const part = this.#all(depth);
      if (!part.ok) return part;
      parts.push(part.value);
    } while (this.#skips("or"));
    return { ok: true, value: joined("or", parts) };
  }

  #all(depth: number): Outcome<Filter> {
    const parts: Filter[] = [];
    do {
      const part = this.#term(depth);
      if (!part.ok) return part;
      parts.push(part.value);
    } while (this.#skips("and") || this.#begins());
    return { ok: true, value: joined("and", parts) };
  }

  #term(depth: number): Outcome<Filter> {
    const token = this.peek();
    if (token === null) return refused(this.#end(), "Something must follow.", TERM);
    if (depth > MOST_DEPTH) return refused(token.span, `Brackets and “not” go ${MOST_DEPTH} deep at most.`, []);
    if (token.kind === "name") return this.#named(token);
    if (this.#skips("not")) {
      const part = this.#term(depth + 1);
      return part.ok ? { ok: true, value: { kind: "not", part: part.value } } : part;
    }
    if (token.kind !== "(")
      return refused(token.span, token.kind === "operator" ? "A name must stand before this." : "Something must stand before this.", TERM);
    this.#at++;
    const inner = this.any(depth + 1);
    if (!inner.ok) return inner;
    if (this.peek()?.kind !== ")") return refused(token.span, "This bracket is not closed.", [")"]);
    this.#at++;
    return inner;
  }

  #named({ field, text, span }: NameToken): Outcome<Filter> {
    this.#at++;
    const operator = this.peek();
    if (operator?.kind !== "operator") {
      if (text === null) return refused({ start: span.end, end: span.end }, "This is compared with nothing.", OPERATORS);
      return text.trim() === "" ? refused(span, "There is nothing in these quotes.", TERM) : { ok: true, value: { kind: "words", text } };
    }
    this.#at++;
    const value = this.peek();
    if (value?.kind !== "name" || value.text === null)
      return refused(value?.span ?? this.#end(), "A value must follow.", ["a number", "a word", 'words in "quotes"']);
    this.#at++;
    const spans = { field: span, operator: operator.span, value: value.span };
    return { ok: true, value: { kind: "comparison", field, operator: operator.operator, value: value.text, spans } };
  }

  #skips(keyword: "and" | "or" | "not"): boolean {
    const token = this.peek();
    const found = token?.kind === "keyword" && token.keyword === keyword;
    if (found) this.#at++;
    return found;
  }

  #begins(): boolean {
    const token = this.peek();
    return token !== null && (token.kind === "name" || token.kind === "(" || (token.kind === "keyword" && token.keyword === "not"));
  }

  #end(): Span {
    return { start: this.#length, end: this.#length };
  }
}
