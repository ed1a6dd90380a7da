import { Budget, MathBoundError } from "./budget.ts";
import { evenText } from "./build.ts";
import type { Node, Relation } from "./node.ts";
import { parseMath } from "./parse.ts";
import { isName, ratioOf, sameValue, symbolsOf } from "./same-value.ts";

export interface MathLimits {
  /** Characters of one answer. */
  readonly maxChars: number;
  /** Steps of one comparison. */
  readonly maxSteps: number;
}

/**
 * Whether a response gives the expected answer, both in LaTeX or plain text: equal as numbers and expressions, as sets in any order,
 * as points, intervals, matrices, equations and inequalities; units, percent signs (1/100), wrappers and spacing as in math-verify.
 * Throws a `MathBoundError` when that would take more than `limits`.
 */
export function sameAnswer(expected: string, response: string, limits: MathLimits): boolean {
  const [gold, given] = [plain(expected), plain(response)];
  if (gold === "" || given === "") return false;
  if (gold === given) return true;
  if (Math.max(gold.length, given.length) > limits.maxChars) throw new MathBoundError(`an answer has more than ${limits.maxChars} characters`);
  const budget = new Budget(limits.maxSteps);
  const tree = parseMath(gold, budget);
  const other = parseMath(given, budget);
  if (tree === null || other === null) return bare(gold) === bare(given) && bare(gold) !== "";
  return new Comparison(budget).same(tree, other);
}

/** Wrappers around wrappers that are taken off an answer; nobody writes more. */
const MAX_WRAPPERS = 8;

/** Without what stands around an answer: dollar signs, `\[…\]`, braces, spaces. No patterns here: they could take the square of its length. */
function plain(text: string): string {
  let inner = text.replace(/\s+/g, " ").trim();
  for (let round = 0; round < MAX_WRAPPERS; round++) {
    const [open, close] = [inner.slice(0, 2), inner.endsWith(".") ? inner.slice(-3, -1) : inner.slice(-2)];
    if (inner.length > 1 && inner.startsWith("$") && inner.endsWith("$")) inner = inner.slice(1, -1).trim();
    else if ((open === "\\[" && close === "\\]") || (open === "\\(" && close === "\\)")) inner = inner.slice(2, inner.lastIndexOf("\\")).trim();
    else if (isBraced(inner)) inner = inner.slice(1, -1).trim();
    else break;
  }
  return inner;
}

/** Whether the first brace closes at the end. */
function isBraced(text: string): boolean {
  if (!text.startsWith("{")) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i === text.length - 1;
  }
  return false;
}

/**
 * What cannot be read as mathematics, as it is compared: without what only sets it. Words lose case and punctuation too; what looks like
 * a formula keeps them.
 */
function bare(text: string): string {
  const unset = text
    .replace(/\\(?:(?:text|textbf|textit|textrm|mathrm|mbox|left|right|displaystyle|limits|quad|qquad)(?![a-zA-Z])|[,;:! ])/g, " ")
    .replace(/[$~]/g, " ");
  if (!/[\\^_=<>+*/\d]/.test(unset)) return evenText(unset.replace(/[{}]/g, " "));
  return unset
    .replace(/\{([^{}\\ ])\}/g, "$1")
    .replace(/\s+/g, "")
    .replace(/\.$/, "");
}

const FLIPPED: Readonly<Record<Relation, Relation>> = { "=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=" };

class Comparison {
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Not symmetric: it is the expected answer that says which form is asked for. */
  same(expected: Node, response: Node): boolean {
    return this.#budget.nested(() => this.#same(...this.#unwrapped(expected, response)));
  }

  #same(gold: Node, given: Node): boolean {
    if (gold.kind === "text" || given.kind === "text") return this.#sameText(gold, given);
    if (gold.kind === "based" || given.kind === "based")
      return gold.kind === "based" && given.kind === "based" && gold.digits === given.digits && gold.base === given.base;
    const [left, right] = [valuesOf(gold), valuesOf(given)];
    if (left !== null || right !== null) return this.#sameLists(gold, left, given, right);
    if (gold.kind === "relation" || given.kind === "relation") return this.#sameRelations(gold, given);
    if (gold.kind === "tuple" && given.kind === "tuple") return this.#inOrder(gold.items, given.items);
    if (gold.kind === "matrix" || given.kind === "matrix") {
      if (gold.kind !== "matrix" || given.kind !== "matrix" || gold.rows.length !== given.rows.length) return false;
      return gold.rows.every((row, index) => this.#inOrder(row, given.rows[index] ?? []));
    }
    const [a, b] = [intervalOf(gold), intervalOf(given)];
    if (a !== null && b !== null) return a.lowClosed === b.lowClosed && a.highClosed === b.highClosed && this.#inOrder([a.low, a.high], [b.low, b.high]);
    if (gold.kind === "sets" || given.kind === "sets") {
      if (gold.kind !== "sets" || given.kind !== "sets" || gold.operator !== given.operator) return false;
      return gold.operator === "setminus" ? this.#inOrder(gold.parts, given.parts) : this.#anyOrder(gold.parts, given.parts);
    }
    if (gold.kind === "ratio" || given.kind === "ratio") return this.#sameRatios(gold, given);
    return sameValue(gold, given, this.#budget);
  }

  /** `x = 5` answers a question for 5, and 5 one for `x = 5`; between two equations the names count. */
  #unwrapped(gold: Node, given: Node): [Node, Node] {
    const [left, right] = [chainEnds(gold), chainEnds(given)];
    if (isEquation(right) && !isEquation(left) && left.kind !== "list" && namesOrCalculates(right)) return [left, lastSide(right)];
    if (isEquation(left) && !isEquation(right) && isName(left.sides[0] ?? left) && right.kind !== "relation") return [lastSide(left), right];
    return [left, right];
  }

  #sameText(gold: Node, given: Node): boolean {
    const [a, b] = [spelled(gold), spelled(given)].map((text) => text?.replaceAll(" ", ""));
    return a !== undefined && a === b;
  }

  #sameLists(gold: Node, left: readonly Node[] | null, given: Node, right: readonly Node[] | null): boolean {
    // A point and a list of its numbers: math-verify takes one for the other as long as the order is the same.
    if (left !== null && given.kind === "tuple") return this.#inOrder(left, given.items);
    if (right !== null && gold.kind === "tuple") return this.#inOrder(gold.items, right);
    return this.#anyOrder(left ?? [gold], right ?? [given]);
  }

  #inOrder(gold: readonly Node[], given: readonly Node[]): boolean {
    return gold.length === given.length && gold.every((item, index) => this.same(item, given[index] as Node));
  }

  #anyOrder(gold: readonly Node[], given: readonly Node[]): boolean {
    if (gold.length !== given.length) return false;
    const left = [...given];
    return gold.every((item) => {
      const at = left.findIndex((other) => this.same(item, other));
      if (at >= 0) left.splice(at, 1);
      return at >= 0;
    });
  }

  #sameRatios(gold: Node, given: Node): boolean {
    const [a, b] = [gold, given].map((node) => (node.kind === "ratio" ? node.parts : node.kind === "quotient" ? [node.over, node.under] : [node]));
    if (a === undefined || b === undefined || a.length !== b.length) return false;
    if (this.#inOrder(a, b)) return true;
    const [over, under] = a;
    const [otherOver, otherUnder] = b;
    if (a.length !== 2 || over === undefined || under === undefined || otherOver === undefined || otherUnder === undefined) return false;
    const zero = (node: Node): boolean => node.kind === "number" && node.value.n === 0n;
    if (zero(under) || zero(otherUnder)) return false;
    return this.same({ kind: "quotient", over, under }, { kind: "quotient", over: otherOver, under: otherUnder });
  }

  #sameRelations(gold: Node, given: Node): boolean {
    const [a, b] = [intervalOf(gold), intervalOf(given)];
    if (a !== null && b !== null && (gold.kind !== "relation" || given.kind !== "relation")) return this.#same(a, b);
    if (gold.kind !== "relation" || given.kind !== "relation") return false;
    if (gold.operators.length !== given.operators.length) return false;
    if (gold.operators.length > 1) {
      const turned = { sides: [...given.sides].reverse(), operators: given.operators.map((operator) => FLIPPED[operator]).reverse() };
      return [given, turned].some(
        ({ sides, operators }) => operators.every((operator, i) => operator === gold.operators[i]) && this.#inOrder(gold.sides, sides),
      );
    }
    const [left, right] = [difference(gold), difference(given)];
    const [operator, other] = [gold.operators[0], given.operators[0]];
    if (left === null || right === null) return operator === other && this.#inOrder(gold.sides, given.sides);
    const ratio = ratioOf(left, right, this.#budget);
    if (ratio === null || operator === undefined || other === undefined) return false;
    return operator === (ratio > 0 ? other : FLIPPED[other]);
  }
}

const isEquation = (node: Node): node is Node & { kind: "relation" } => node.kind === "relation" && node.operators.every((operator) => operator === "=");
/** `x = 5` and `2 + 3 = 5` say 5; `2x + y = 5` does not. */
const namesOrCalculates = ({ sides: [first] }: Node & { kind: "relation" }): boolean => first !== undefined && (isName(first) || symbolsOf(first).length === 0);
const lastSide = (node: Node & { kind: "relation" }): Node => node.sides.at(-1) ?? node;

/** `x = 2 + 3 = 5` is `x = 5`. */
function chainEnds(node: Node): Node {
  const [first] = node.kind === "relation" ? node.sides : [];
  if (!isEquation(node) || first === undefined || node.sides.length === 2 || !isName(first)) return node;
  return { kind: "relation", sides: [first, lastSide(node)], operators: ["="] };
}

/** Left side less right side; null where the sides are no scalars. */
function difference({ sides }: Node & { kind: "relation" }): Node | null {
  const [left, right] = sides;
  if (
    left === undefined ||
    right === undefined ||
    [left, right].some(({ kind }) => ["tuple", "list", "interval", "sets", "matrix", "ratio", "text"].includes(kind))
  )
    return null;
  return { kind: "sum", terms: [left, { kind: "negative", of: right }] };
}

/** The values that a node stands for, `\pm` written out; null when it is a single thing. */
function valuesOf(node: Node): readonly Node[] | null {
  if (node.kind === "list") return node.items.flatMap((item) => valuesOf(item) ?? [item]);
  const [upper, lower] = [signed(node, 1), signed(node, -1)];
  return upper === null || lower === null ? null : [upper, lower];
}

/** The node with every `\pm` as the upper (1) or lower (-1) sign; null when it has none. */
function signed(node: Node, sign: 1 | -1): Node | null {
  switch (node.kind) {
    case "plus-minus": {
      const right: Node = signed(node.right, sign) ?? node.right;
      const term: Node = node.upper === sign ? right : { kind: "negative", of: right };
      return node.left === null ? term : { kind: "sum", terms: [signed(node.left, sign) ?? node.left, term] };
    }
    case "sum":
      return replaced(node.terms, sign, (terms) => ({ kind: "sum", terms }));
    case "product":
      return replaced(node.factors, sign, (factors) => ({ kind: "product", factors }));
    case "tuple":
      return replaced(node.items, sign, (items) => ({ kind: "tuple", items }));
    case "relation":
      return replaced(node.sides, sign, (sides) => ({ ...node, sides }));
    case "negative":
      return replaced([node.of], sign, ([of]) => ({ kind: "negative", of: of as Node }));
    case "quotient":
      return replaced([node.over, node.under], sign, ([over, under]) => ({ kind: "quotient", over: over as Node, under: under as Node }));
    default:
      return null;
  }
}

function replaced(parts: readonly Node[], sign: 1 | -1, build: (parts: readonly Node[]) => Node): Node | null {
  const found = parts.map((part) => signed(part, sign));
  return found.every((part) => part === null) ? null : build(parts.map((part, index) => found[index] ?? part));
}

const INFINITY: Node = { kind: "constant", name: "infinity" };

/** An interval, in whatever form: `(a, b)`, `a < x < b`, `x > a`; null for anything else. */
function intervalOf(node: Node): (Node & { kind: "interval" }) | null {
  if (node.kind === "interval") return node;
  const [first, second, third] = node.kind === "tuple" ? node.items : node.kind === "relation" ? node.sides : [];
  if (first === undefined || second === undefined) return null;
  if (node.kind === "tuple") return node.items.length === 2 ? { kind: "interval", low: first, high: second, lowClosed: false, highClosed: false } : null;
  if (node.kind !== "relation") return null;
  const operators = node.operators;
  const [operator] = operators;
  if (operator === undefined || operators.some((each) => each === "=" || each === "!=")) return null;
  const closed = (each: Relation | undefined): boolean => each === "<=" || each === ">=";
  const rises = operator.startsWith("<");
  if (third !== undefined) {
    if (node.sides.length !== 3 || operators[1]?.charAt(0) !== operator.charAt(0) || !isUnknown(second)) return null;
    const [low, high] = rises ? [first, third] : [third, first];
    const [lowClosed, highClosed] = rises ? [closed(operator), closed(operators[1])] : [closed(operators[1]), closed(operator)];
    return { kind: "interval", low, high, lowClosed, highClosed };
  }
  if (isUnknown(first) === isUnknown(second)) return null;
  const bound = isUnknown(first) ? second : first;
  const below = isUnknown(first) === rises;
  return below
    ? { kind: "interval", low: { kind: "negative", of: INFINITY }, high: bound, lowClosed: false, highClosed: closed(operator) }
    : { kind: "interval", low: bound, high: INFINITY, lowClosed: closed(operator), highClosed: false };
}

const isUnknown = (node: Node): boolean => (node.kind === "symbol" || node.kind === "product") && isName(node);

/** A node as it is spelled, for comparing it with words: letters side by side are a word. */
function spelled(node: Node): string | null {
  switch (node.kind) {
    case "text":
      return node.text;
    case "symbol":
    case "constant":
      return evenText(node.name);
    case "number":
      return node.value.toString();
    case "product": {
      const parts = node.factors.map(spelled);
      return parts.includes(null) ? null : parts.join("");
    }
    case "list": {
      const parts = node.items.map(spelled);
      return parts.includes(null) ? null : parts.join(" ");
    }
    default:
      return null;
  }
}
