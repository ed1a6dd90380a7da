import type Fraction from "fraction.js";

/** An answer as a tree. Scalars first, then what is made of several. */
export type Scalar =
  /** `decimal`: written with a decimal point, so that it may stand for a rounded value. */
  | { readonly kind: "number"; readonly value: Fraction; readonly decimal: boolean }
  /** A number with a base below it, `52_8`: equal only to one of the same base. */
  | { readonly kind: "based"; readonly digits: string; readonly base: string }
  | { readonly kind: "symbol"; readonly name: string }
  | { readonly kind: "constant"; readonly name: "pi" | "e" | "i" | "infinity" }
  | { readonly kind: "sum"; readonly terms: readonly Node[] }
  | { readonly kind: "negative"; readonly of: Node }
  | { readonly kind: "product"; readonly factors: readonly Node[] }
  | { readonly kind: "quotient"; readonly over: Node; readonly under: Node }
  | { readonly kind: "power"; readonly base: Node; readonly exponent: Node }
  | { readonly kind: "root"; readonly of: Node; readonly degree: Node | null }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Node[] }
  /** `a \pm b`: two values at once. `upper`: the sign of `right` in the first of them. */
  | { readonly kind: "plus-minus"; readonly left: Node | null; readonly right: Node; readonly upper: 1 | -1 };

export type Relation = "=" | "<" | ">" | "<=" | ">=" | "!=";

export type Compound =
  /** In any order: `1, 2`, `\{1, 2\}`, `1 \text{ or } 2`. */
  | { readonly kind: "list"; readonly items: readonly Node[] }
  /** In this order: a point, a vector, or an open interval. */
  | { readonly kind: "tuple"; readonly items: readonly Node[] }
  | { readonly kind: "interval"; readonly low: Node; readonly high: Node; readonly lowClosed: boolean; readonly highClosed: boolean }
  | { readonly kind: "sets"; readonly operator: "cup" | "cap" | "setminus"; readonly parts: readonly Node[] }
  | { readonly kind: "matrix"; readonly rows: readonly (readonly Node[])[] }
  | { readonly kind: "ratio"; readonly parts: readonly Node[] }
  | { readonly kind: "relation"; readonly sides: readonly Node[]; readonly operators: readonly Relation[] }
  /** Words; `text` in lower case, spaces and punctuation evened out. */
  | { readonly kind: "text"; readonly text: string };

export type Node = Scalar | Compound;

/** The parts that a node is made of, left to right. */
export function partsOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case "number":
    case "based":
    case "symbol":
    case "constant":
    case "text":
      return [];
    case "sum":
      return node.terms;
    case "negative":
      return [node.of];
    case "product":
      return node.factors;
    case "quotient":
      return [node.over, node.under];
    case "power":
      return [node.base, node.exponent];
    case "root":
      return node.degree === null ? [node.of] : [node.of, node.degree];
    case "call":
      return node.args;
    case "plus-minus":
      return node.left === null ? [node.right] : [node.left, node.right];
    case "list":
    case "tuple":
      return node.items;
    case "interval":
      return [node.low, node.high];
    case "sets":
    case "ratio":
      return node.parts;
    case "matrix":
      return node.rows.flat();
    case "relation":
      return node.sides;
  }
}

/** Whether `test` holds for the node or anything in it. */
export const anywhere = (node: Node, test: (node: Node) => boolean): boolean => test(node) || partsOf(node).some((part) => anywhere(part, test));
