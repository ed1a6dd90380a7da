import { Budget, MathBoundError } from "./budget.ts";
import { evenText, HUNDREDTH, isWhole } from "./build.ts";
import { multipliedOut } from "./matrix.ts";
import type { Node, Relation } from "./node.ts";
import { parseMath } from "./parse.ts";
import { asText, foldedTogether, plain, withoutUnitLetter } from "./plain-answer.ts";
import { valuesOf } from "./plus-minus.ts";
import { intervalOf, isReals, sameRealSet } from "./real-set.ts";
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
  if (isSame(gold, given, budget)) return true;
  const folded = foldedTogether(gold, given);
  if (folded !== null && isSame(folded[0], folded[1], budget)) return true;
  const [bareGold, bareGiven] = [withoutUnitLetter(gold), withoutUnitLetter(given)];
  return (bareGold !== gold || bareGiven !== given) && isSame(bareGold, bareGiven, budget);
}

function isSame(gold: string, given: string, budget: Budget): boolean {
  const tree = parseMath(gold, budget);
  const other = parseMath(given, budget);
  if (tree !== null && other !== null) return new Comparison(budget).same(tree, other);
  const text = asText(gold, budget);
  return text !== "" && text === asText(given, budget);
}

const FLIPPED: Readonly<Record<Relation, Relation>> = { "=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=" };

class Comparison {
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Not symmetric: it is the expected answer that says which form is asked for. */
  same(expected: Node, response: Node): boolean {
    const [gold, given] = this.#unwrapped(expected, response);
    return this.#budget.nested(() => this.#same(multipliedOut(gold), multipliedOut(given)));
  }

  #same(gold: Node, given: Node): boolean {
    if (gold.kind === "text" || given.kind === "text") {
      const isList = gold.kind === "list" || given.kind === "list";
      return this.#sameText(gold, given) || (isList && this.#anyOrder(valuesOf(gold) ?? [gold], valuesOf(given) ?? [given]));
    }
    if (gold.kind === "based" || given.kind === "based")
      return gold.kind === "based" && given.kind === "based" && gold.digits === given.digits && gold.base === given.base;
    if (isMadeOfSets(gold) || isMadeOfSets(given)) {
      const known = sameRealSet(gold, given, this.#budget);
      if (known !== null) return known;
    }
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
    return sameValue(gold, given, this.#budget) || this.#samePercent(gold, given);
  }

  /** `10\%` for 10 and 10 for `10\%`, beside 0.1: a whole number of percent is often asked for without the sign, or with it. */
  #samePercent(gold: Node, given: Node): boolean {
    const [left, right] = [wholePercent(gold), wholePercent(given)];
    if ((left === null) === (right === null)) return false;
    const number = left === null ? gold : given;
    return isWholeNumber(number) && sameValue(left ?? gold, right ?? given, this.#budget);
  }

  /** `x = 5` answers a question for 5, and 5 one for `x = 5`; between two equations the names count. */
  #unwrapped(gold: Node, given: Node): [Node, Node] {
    const [left, right] = [chainEnds(gold), chainEnds(given)];
    // `x = 1, y = 2` is the point of `(x, y) = (1, 2)`.
    const isPlace = left.kind !== "list" || (isEquation(right) && lastSide(right).kind === "tuple");
    if (isEquation(right) && !isEquation(left) && isPlace && namesOrCalculates(right)) return [left, lastSide(right)];
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

  /** As sets: what is said twice is said once. */
  #anyOrder(gold: readonly Node[], given: readonly Node[]): boolean {
    const said = new Set<number>();
    const isFound = (item: Node): boolean => {
      const at = given.findIndex((other, index) => !said.has(index) && this.same(item, other));
      if (at >= 0) said.add(at);
      return at >= 0 || given.some((other, index) => said.has(index) && this.same(item, other));
    };
    return gold.every(isFound) && given.every((other, index) => said.has(index) || gold.some((item) => this.same(item, other)));
  }

  #sameRatios(gold: Node, given: Node): boolean {
    const [only, other] = [gold, given].map(asQuotient);
    if (gold.kind !== given.kind && only !== undefined && other !== undefined) return sameValue(only, other, this.#budget);
    const [a, b] = [gold, given].map((node) => (node.kind === "ratio" ? node.parts : [node]));
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

/** Sets of numbers that may be written in several ways. */
const isMadeOfSets = (node: Node): boolean => node.kind === "sets" || isReals(node);

const isWholeNumber = (node: Node): boolean => isWhole(node.kind === "negative" ? node.of : node);

/** 10 of `10\%`; null for anything but a whole number of percent. */
function wholePercent(node: Node): Node | null {
  if (node.kind === "negative") {
    const of = wholePercent(node.of);
    return of === null ? null : { kind: "negative", of };
  }
  const [first, second] = node.kind === "product" ? node.factors : [];
  return first !== undefined && second === HUNDREDTH && isWhole(first) && node.kind === "product" && node.factors.length === 2 ? first : null;
}

/** A ratio of two as their quotient; longer ones stay. */
function asQuotient(node: Node): Node {
  const [over, under] = node.kind === "ratio" && node.parts.length === 2 ? node.parts : [];
  return over === undefined || under === undefined ? node : { kind: "quotient", over, under };
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
