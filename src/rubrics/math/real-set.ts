import type { Budget } from "./budget.ts";
import type { Node, Relation } from "./node.ts";
import { isName, valueAt } from "./same-value.ts";

/** An interval of real numbers; a point is one that holds both its equal ends. */
interface Piece {
  readonly low: number;
  readonly lowIn: boolean;
  readonly high: number;
  readonly highIn: boolean;
}

/** Two ends of the same value in double precision, relative to it. */
const EQUAL = 1e-10;
const same = (a: number, b: number): boolean => a === b || Math.abs(a - b) <= EQUAL * Math.max(Math.abs(a), Math.abs(b));
const ALL: readonly Piece[] = [{ low: Number.NEGATIVE_INFINITY, lowIn: false, high: Number.POSITIVE_INFINITY, highIn: false }];
const INFINITY: Node = { kind: "constant", name: "infinity" };

export const isReals = (node: Node): boolean => node.kind === "symbol" && node.name === "mathbb R";

/** Whether two sets hold the same real numbers, however they are put together; null where one is no set of known numbers. */
export function sameRealSet(left: Node, right: Node, budget: Budget): boolean | null {
  const [a, b] = [piecesOf(left, budget), piecesOf(right, budget)];
  if (a === null || b === null) return null;
  return a.length === b.length && a.every((piece, index) => isSamePiece(piece, b[index]));
}

const isSamePiece = (a: Piece, b: Piece | undefined): boolean =>
  b !== undefined && same(a.low, b.low) && same(a.high, b.high) && a.lowIn === b.lowIn && a.highIn === b.highIn;

/** Ascending, apart from one another, none empty. */
function piecesOf(node: Node, budget: Budget): readonly Piece[] | null {
  if (isReals(node)) return ALL;
  if (node.kind === "list") return united(node.items.map((item) => pointAt(item, budget)));
  if (node.kind === "relation" && node.operators.length === 1 && node.operators[0] === "!=") {
    const [first, second] = node.sides;
    const point = first !== undefined && second !== undefined && isUnknown(first) ? pointAt(second, budget) : null;
    return point === null ? null : without(ALL, point);
  }
  const interval = intervalOf(node);
  if (interval !== null) {
    const [low, high] = [realAt(interval.low, budget), realAt(interval.high, budget)];
    return low === null || high === null ? null : united([[{ low, high, lowIn: interval.lowClosed, highIn: interval.highClosed }]]);
  }
  if (node.kind !== "sets") return pointAt(node, budget);
  const parts = node.parts.map((part) => piecesOf(part, budget));
  if (node.operator === "cup") return united(parts);
  return parts.reduce((left, right) => {
    if (left === null || right === null) return null;
    budget.spend(left.length * right.length);
    return node.operator === "cap" ? common(left, right) : without(left, right);
  });
}

function realAt(node: Node, budget: Budget): number | null {
  const value = valueAt(node, new Map(), budget);
  if (value === null) return null;
  if ("exact" in value) return value.exact.valueOf();
  return value.im === 0 ? value.re : null;
}

function pointAt(node: Node, budget: Budget): readonly Piece[] | null {
  const value = ["tuple", "list", "relation", "matrix", "text"].includes(node.kind) ? null : realAt(node, budget);
  return value === null ? null : [{ low: value, lowIn: true, high: value, highIn: true }];
}

const isEmpty = ({ low, lowIn, high, highIn }: Piece): boolean => low > high || (low === high && !(lowIn && highIn));

function united(parts: readonly (readonly Piece[] | null)[]): readonly Piece[] | null {
  if (parts.includes(null)) return null;
  const sorted = (parts as readonly (readonly Piece[])[])
    .flat()
    .filter((piece) => !isEmpty(piece))
    .sort((a, b) => a.low - b.low || Number(b.lowIn) - Number(a.lowIn));
  const merged: Piece[] = [];
  for (const piece of sorted) {
    const last = merged.at(-1);
    const touches = last !== undefined && (piece.low < last.high || (same(piece.low, last.high) && (piece.lowIn || last.highIn)));
    if (!touches) merged.push(piece);
    else if (piece.high > last.high) merged[merged.length - 1] = { ...last, high: piece.high, highIn: piece.highIn };
    else if (same(piece.high, last.high)) merged[merged.length - 1] = { ...last, highIn: last.highIn || piece.highIn };
  }
  return merged;
}

const common = (left: readonly Piece[], right: readonly Piece[]): readonly Piece[] =>
  left.flatMap((a) =>
    right
      .map((b): Piece => {
        const [lower, upper] = [a.low === b.low ? null : a.low > b.low ? a : b, a.high === b.high ? null : a.high < b.high ? a : b];
        return {
          low: Math.max(a.low, b.low),
          lowIn: lower?.lowIn ?? (a.lowIn && b.lowIn),
          high: Math.min(a.high, b.high),
          highIn: upper?.highIn ?? (a.highIn && b.highIn),
        };
      })
      .filter((piece) => !isEmpty(piece)),
  );

function without(left: readonly Piece[], right: readonly Piece[]): readonly Piece[] {
  const gaps: Piece[] = [];
  let [low, lowIn] = [Number.NEGATIVE_INFINITY, false];
  for (const piece of right) {
    gaps.push({ low, lowIn, high: piece.low, highIn: !piece.lowIn });
    [low, lowIn] = [piece.high, !piece.highIn];
  }
  gaps.push({ low, lowIn, high: Number.POSITIVE_INFINITY, highIn: false });
  return common(
    left,
    gaps.filter((gap) => !isEmpty(gap)),
  );
}

/** An interval, in whatever form: `(a, b)`, `a < x < b`, `x > a`; null for anything else. */
export function intervalOf(node: Node): (Node & { kind: "interval" }) | null {
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
