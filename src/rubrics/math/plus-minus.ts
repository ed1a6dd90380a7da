import { EMPTY } from "./build.ts";
import type { Node } from "./node.ts";

/** The values that a node stands for, `\pm` written out; null when it is a single thing. */
export function valuesOf(node: Node): readonly Node[] | null {
  if (node.kind === "list") return node.items.flatMap((item) => (item === EMPTY ? [item] : (valuesOf(item) ?? [item])));
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
