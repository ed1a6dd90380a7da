import Fraction from "fraction.js";
import { anywhere, type Node, type Relation } from "./node.ts";

/** What cannot be read as mathematics; the text itself is compared then. */
export class Unreadable extends Error {}

/** A longer number is compared as text only: arithmetic with it has no bound. */
const MAX_DIGITS = 400;

export const HUNDREDTH: Node = { kind: "number", value: new Fraction(1n, 100n), decimal: false };
export const EMPTY: Node = { kind: "list", items: [] };

export const isWhole = (node: Node): node is Node & { kind: "number" } => node.kind === "number" && !node.decimal && node.value.d === 1n;

export function number(text: string): Node {
  if (text.length > MAX_DIGITS) throw new Unreadable();
  const [digits = "", exponent] = text.split(/[eE]/);
  if (exponent !== undefined) return { kind: "number", value: new Fraction(digits).mul(new Fraction(10).pow(new Fraction(exponent)) ?? 1), decimal: true };
  return { kind: "number", value: new Fraction(text.startsWith(".") ? `0${text}` : text), decimal: text.includes(".") };
}

const onlyOf = (nodes: readonly Node[]): Node | null => (nodes.length === 1 ? (nodes[0] ?? null) : null);

export const sumOf = (terms: readonly Node[]): Node => onlyOf(terms) ?? { kind: "sum", terms };

/** A product; words side by side are a text. */
export const productOf = (factors: readonly Node[]): Node =>
  onlyOf(factors) ??
  (factors.every(({ kind }) => kind === "text")
    ? { kind: "text", text: factors.map((factor) => (factor.kind === "text" ? factor.text : "")).join(" ") }
    : { kind: "product", factors });

export function bracketed(open: string, items: readonly Node[], close: string): Node {
  const [first, second] = items;
  if (open === "\\{" && close === "\\}") return { kind: "list", items };
  if (items.length === 1 && first !== undefined) {
    if ((open === "(") === (close === ")") && open !== "\\{") return first;
    throw new Unreadable();
  }
  if (open === "(" && close === ")") return { kind: "tuple", items };
  // `[3, 1, 2]`, and `[3, 1]`, which would hold nothing as an interval.
  if (open === "[" && close === "]" && (items.length > 2 || isFalling(items))) return { kind: "tuple", items };
  if (items.length !== 2 || first === undefined || second === undefined || open === "\\{" || close === "\\}") throw new Unreadable();
  return { kind: "interval", low: first, high: second, lowClosed: open === "[", highClosed: close === "]" };
}

function isFalling(items: readonly Node[]): boolean {
  const [first, second] = items.map(literal);
  return first !== undefined && second !== undefined && first !== null && second !== null && first.compare(second) > 0;
}

function literal(node: Node): Fraction | null {
  if (node.kind === "negative") return literal(node.of)?.neg() ?? null;
  return node.kind === "number" ? node.value : null;
}

/** `x = 1/3 \approx 0.33` is `x = 1/3`; `x \approx 3` is `x = 3`; `1/3 \approx 0.33` is `1/3`. */
export function withoutApproximation(sides: readonly Node[], operators: readonly (Relation | "~")[]): Node {
  const at = operators.indexOf("~");
  const exact = (end: number): Node => {
    const [first] = sides;
    const kept = operators.slice(0, end).map((operator) => (operator === "~" ? "=" : operator));
    return kept.length === 0 && first !== undefined ? first : { kind: "relation", sides: sides.slice(0, end + 1), operators: kept };
  };
  if (at < 0) return exact(operators.length);
  const [first] = sides;
  return at === 0 && first !== undefined && !anywhere(first, ({ kind }) => kind === "number" || kind === "constant") ? exact(1) : exact(at);
}

export function nameOf(node: Node): string {
  if (node.kind === "symbol" || node.kind === "constant") return node.name;
  if (node.kind === "text") return node.text;
  if (node.kind === "product") return node.factors.map(nameOf).join("");
  if (node.kind === "number") return node.value.toString();
  throw new Unreadable();
}

/** Words as they are compared. */
export const evenText = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[().,;:!?"'`*$]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
