/** Whose verdict is the better one: ours, math-verify's, or neither's since the answer can be read in two ways. */
export type Right = "ours" | "math-verify" | "either";

/** A kind of pair for which our comparison and math-verify's come to different verdicts, on purpose. */
export interface Difference {
  /** As in docs/math-answers.md. */
  readonly name: string;
  readonly right: Right;
  /** Whether two answers are of the kind, either way round. `verdicts`: ours and theirs, both ways round, such as `11 00`. */
  readonly holds: (one: string, other: string, verdicts: string) => boolean;
}

type Holds = (one: string, other: string) => boolean;
const holding = (name: string, right: Right, verdicts: RegExp, holds: RegExp | Holds): Difference => ({
  name,
  right,
  holds: (one, other, both) => verdicts.test(both) && (holds instanceof RegExp ? holds.test(one) || holds.test(other) : holds(one, other)),
});
/** We take such a pair for equal, math-verify does not, one way round at least. */
const taken = (name: string, right: Right, holds: RegExp | Holds): Difference => holding(name, right, /^11 /, holds);
/** math-verify takes such a pair for equal, one way round at least; we do not. */
const refused = (name: string, right: Right, holds: RegExp | Holds): Difference => holding(name, right, /^00 /, holds);

/** In this order: the first that holds names a difference. */
export const DIFFERENCES: readonly Difference[] = [
  holding("beyond the bounds", "ours", /E/, () => true),
  refused("integrals and limits", "math-verify", /\\(?:int|lim|sum|prod)(?![a-zA-Z])/),
  refused("capital pi", "ours", /\\Pi(?![a-zA-Z])/),
  holding("one way round", "ours", /^11 (?:10|01)$/, () => true),
  taken("closing punctuation", "ours", /[.,]\s*$|\\\\$/),
  taken("signs and looks in front", "ours", /^\s*(?:=|\\approx|≈|\\sim|x \\approx|\\large|\\Large|\\color|\\quad)/),
  taken("repeating decimals", "ours", /\\overline|\.\.\.|\\ldots/),
  taken("base e, sums over sums", "ours", /\\log_e|\\over /),
  taken("e-notation", "ours", /\d[eE][-+]?\d/),
  taken("upright constants", "ours", /\\(?:text|mathrm)\{[ieC]\}|\\imath|\\cdot i|\*i|\d\\sqrt\{-1\}/),
  taken("a factor before i", "ours", /\d\s*i/),
  taken("mathematics set as text", "ours", /\\(?:text|textbf|textsf|mathbf|mathrm|operatorname)\{|\\bf(?![a-zA-Z])/),
  taken("degrees", "ours", /°|\\degree/),
  taken("signs of Unicode", "ours", /[^\x20-\x7e]/),
  taken("functions without a backslash", "ours", /(?<![\\a-zA-Z])(?:sin|cos|tan|ln|log|pi|sqrt)(?![a-z])/),
  taken("semicolons", "ours", /;/),
  taken("percent of decimals and in words", "ours", /\\,\s*\\%|percent|%/),
  taken("units behind decimals and letters", "ours", /\d\.\d+ [a-z]+/),
  taken("thousands apart", "ours", /\d(?:\\,| )\d{3}(?!\d)/),
  taken("mixed numbers in one line", "ours", /\d \d+\/\d/),
  taken("blackboard letters without braces", "ours", /\\mathbb [A-Z]/),
  taken("plus or minus inside a fraction", "ours", /\\pm|\\mp/),
  taken("vectors and braces", "ours", /\\langle|Bmatrix/),
  taken("fractions in one line before a letter", "either", /\d\/\d+[a-z]/),
  holding("bases of numbers", "ours", /^(?:00|11) /, /\d\)?_\{?\d/),
  taken("other signs of the empty set", "ours", /\\varnothing/),
  taken("multiples of an equation", "ours", /=|<|>/),
  taken("a hair off", "ours", /\.\d*0{6}\d/),
  taken("digits behind a root", "either", /\\sqrt\d\d/),
  taken("points and their numbers", "ours", (one, other) => one.startsWith("(") !== other.startsWith("(")),
  taken("a number among sets", "either", /\\cup \d/),
  taken("a bracket behind a choice", "ours", /^[A-F]\)$/),
];

/** What makes the verdicts on a pair differ; null when it is none of the known kinds. */
export function differenceOf(one: string, other: string, ours: string, theirs: string): Difference | null {
  return DIFFERENCES.find(({ holds }) => holds(one, other, `${ours} ${theirs}`)) ?? null;
}
