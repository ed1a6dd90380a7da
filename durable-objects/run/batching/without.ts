import type { UnitRange } from "../work.ts";

/** Parts of ascending ranges that lie in none of `others`. */
export function without<Range extends UnitRange>(ranges: readonly Range[], others: readonly UnitRange[]): Range[] {
  const sorted = others.toSorted((a, b) => a.lo - b.lo);
  const left: Range[] = [];
  let next = 0;
  for (const range of ranges) {
    let from = range.lo;
    while ((sorted[next]?.hi ?? Number.POSITIVE_INFINITY) <= from) next++;
    for (let at = next; (sorted[at]?.lo ?? range.hi) < range.hi; at++) {
      const { lo, hi } = sorted[at] as UnitRange;
      if (lo > from) left.push({ ...range, lo: from, hi: lo });
      from = Math.max(from, hi);
    }
    if (from < range.hi) left.push({ ...range, lo: from });
  }
  return left;
}
