import type { Relation } from "./node.ts";

/** What the commands and signs of an answer are, by name. */

export const FUNCTIONS = new Set(
  "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth arcsinh arccosh arctanh ln log lg exp Re Im arg det gcd lcm min max".split(" "),
);
export const RELATIONS: Readonly<Record<string, Relation | "~">> = {
  "=": "=",
  "<": "<",
  ">": ">",
  leq: "<=",
  geq: ">=",
  neq: "!=",
  approx: "~",
  sim: "~",
  equiv: "=",
  to: "=",
};
export const SETS = new Set(["cup", "cap", "setminus"]);
export const MATRIX = new Set(["pmatrix", "bmatrix", "Bmatrix", "vmatrix", "matrix", "smallmatrix", "array", "cases"]);
export const OPEN = new Set(["(", "[", "\\{"]);
export const CLOSE = new Set([")", "]", "\\}"]);
/** Signs that end a product. */
export const ENDS = new Set(["+", "-", ",", ";", ":", "&", "}", "=", "<", ">", "!", ...CLOSE]);
/** Commands that no factor of a product begins with. */
export const NO_FACTOR = new Set(["in", "pm", "mp", "\\", "end", "rfloor", "rceil", "rangle", "over", "choose", "cdot", "times", "div", "ldots"]);
/** Commands that make a name of their argument. */
export const NAMING = new Set(["overline", "vec", "hat", "bar", "widehat", "mathbb", "mathcal"]);
export const GREEK = new Set(
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron rho sigma tau upsilon phi chi psi omega ell hbar nabla partial".split(" "),
);
