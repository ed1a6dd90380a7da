import { Unreadable } from "./build.ts";
import type { Node } from "./node.ts";

type Matrix = Node & { readonly kind: "matrix" };
const isMatrix = (node: Node): node is Matrix => node.kind === "matrix";
/** Larger ones are compared as they stand: a determinant has n! terms. */
const MAX_DETERMINANT = 4;

const mapped = ({ rows }: Matrix, change: (entry: Node) => Node): Matrix => ({ kind: "matrix", rows: rows.map((row) => row.map(change)) });

/** The matrix that a multiple of one is (`2A`, `-A`, `A/3`), its entries as products; anything else stays. */
export function multipliedOut(node: Node): Node {
  if (node.kind === "negative") {
    const of = multipliedOut(node.of);
    return isMatrix(of) ? mapped(of, (entry) => ({ kind: "negative", of: entry })) : node;
  }
  if (node.kind === "quotient") {
    const over = multipliedOut(node.over);
    return isMatrix(over) ? mapped(over, (entry) => ({ kind: "quotient", over: entry, under: node.under })) : node;
  }
  if (node.kind !== "product") return node;
  const matrices = node.factors.filter(isMatrix);
  const [matrix] = matrices;
  if (matrix === undefined || matrices.length > 1) return node;
  const factors = node.factors.filter((factor) => factor !== matrix);
  return mapped(matrix, (entry) => ({ kind: "product", factors: [...factors, entry] }));
}

/** The determinant written out along the first row. Throws `Unreadable` where there is none, or one of too many terms. */
export function determinant(rows: readonly (readonly Node[])[]): Node {
  const [first, ...rest] = rows;
  if (first === undefined || rows.length > MAX_DETERMINANT || rows.some((row) => row.length !== rows.length)) throw new Unreadable();
  const [only] = first;
  if (rest.length === 0 && only !== undefined) return only;
  const terms = first.map((entry, column): Node => {
    const term: Node = { kind: "product", factors: [entry, determinant(rest.map((row) => row.filter((_, at) => at !== column)))] };
    return column % 2 === 0 ? term : { kind: "negative", of: term };
  });
  return { kind: "sum", terms };
}
