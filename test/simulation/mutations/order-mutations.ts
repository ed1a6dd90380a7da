import type { Mutation } from "./mutation.ts";

/** Rules of examples that are permuted, and of results that are in the order of the data set all the same. */
export const ORDER_MUTATIONS: readonly Mutation[] = [
  {
    name: "leave the rows of permuted examples as they were played",
    file: "durable-objects/run/course/sorting.ts",
    find: "return pointers.sort(byRank);",
    replace: "return pointers;",
  },
  {
    name: "take the position of an example for its place in the data set",
    file: "durable-objects/run/course/sorting.ts",
    find: "const pointer = { unit: order.rankOf(unit), segment, offset, length };",
    replace: "const pointer = { unit, segment, offset, length };",
  },
  {
    name: "end the final file with the first permuted part",
    file: "durable-objects/run/course/sorting.ts",
    find: "    at = part.hi;\n",
    replace: "    return;\n",
  },
  {
    name: "give a permuted part the rows of those behind it",
    file: "durable-objects/run/course/sorting.ts",
    find: "    if (unit >= part.hi) break;\n",
    replace: "",
  },
  {
    name: "forget where a permuted part begins",
    file: "src/pinned-order.ts",
    find: "part.lo + (this.#draw(part).ranks[position - part.lo] ?? 0)",
    replace: "(this.#draw(part).ranks[position - part.lo] ?? 0)",
  },
  {
    name: "look for an example as if its permuted part were the first",
    file: "src/pinned-order.ts",
    find: "ranks[position - part.lo]",
    replace: "ranks[position]",
  },
  {
    name: "forget the permuted parts before a new one",
    file: "durable-objects/run/state/tables/order-store.ts",
    find: "[...(known?.parts ?? []), [part.lo, part.hi]]",
    replace: "[[part.lo, part.hi]]",
  },
  {
    name: "permute only what is pinned first",
    file: "durable-objects/run/course/preparation.ts",
    find: "part.lo >= (head.n ?? 0)) ledger.order",
    replace: "head.n === null) ledger.order",
  },
  {
    name: "look up what is permuted as it was before the last growth",
    file: "durable-objects/run/state/tables/order-store.ts",
    find: "    this.#record.put(JSON.stringify(stored));\n    this.#order = null;",
    replace: "    this.#record.put(JSON.stringify(stored));",
  },
];
