/** A filter as it was parsed. Parts of `and` are no `and`s, and parts of `or` no `or`s, so that what means the same is the same. */

export const OPERATORS = ["<=", ">=", "!=", "<", ">", "=", "~"] as const;
/** `~`: contains. */
export type Operator = (typeof OPERATORS)[number];

/** Where something stands in the text. */
export interface Span {
  readonly start: number;
  /** Behind its last character. */
  readonly end: number;
}

/** `m`: a metric, whatever it is called; `info`: a key of `info`; "" = whatever has that name, columns first. */
export interface FieldName {
  readonly group: "" | "m" | "info";
  readonly name: string;
}

export interface Comparison {
  readonly kind: "comparison";
  readonly field: FieldName;
  readonly operator: Operator;
  readonly value: string;
  readonly spans: { readonly field: Span; readonly operator: Span; readonly value: Span };
}

/** Words that are looked for in the texts of a rollout. */
export interface Words {
  readonly kind: "words";
  readonly text: string;
}

export interface Not {
  readonly kind: "not";
  readonly part: Filter;
}

export interface Joined {
  readonly kind: "and" | "or";
  /** Two or more. */
  readonly parts: readonly Filter[];
}

export type Filter = Comparison | Words | Not | Joined;

/** What is wrong with a filter, where, and what may stand there. */
export interface FilterProblem {
  readonly span: Span;
  readonly text: string;
  readonly allowed: readonly string[];
}

export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: FilterProblem };

export const refused = (span: Span, text: string, allowed: readonly string[]): Outcome<never> => ({ ok: false, problem: { span, text, allowed } });

/** One filter of several. `parts`: one or more. */
export function joined(kind: Joined["kind"], parts: readonly Filter[]): Filter {
  const flat = parts.flatMap((part) => (part.kind === kind ? part.parts : [part]));
  const [only] = flat;
  return flat.length === 1 && only !== undefined ? only : { kind, parts: flat };
}
