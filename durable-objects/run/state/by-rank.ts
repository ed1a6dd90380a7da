import type { Done, Ledger } from "./ledger.ts";

/** Units that are looked up at once where they do not lie side by side: bounds memory, as a page of a scan does. */
const RANKS_AT_ONCE = 512;

/** All done units in the order of the data set, in which results are sorted; a lazy scan. */
export function* donesByRank(ledger: Pick<Ledger, "order" | "head" | "doneFrom" | "donesOf">): Iterable<Done> {
  const order = ledger.order.get();
  if (!order.isPermuted) return yield* ledger.doneFrom(0);
  const n = ledger.head()?.n ?? 0;
  for (let lo = 0; lo < n; lo += RANKS_AT_ONCE) {
    const units = Array.from({ length: Math.min(RANKS_AT_ONCE, n - lo) }, (_, index) => order.positionOf(lo + index));
    yield* ledger.donesOf(units);
  }
}
