import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { CollectedJob, UnitRange } from "../work.ts";

/** Whether ascending ranges reach into the range. */
function reaches(ranges: readonly UnitRange[], { lo, hi }: UnitRange): boolean {
  let [from, to] = [0, ranges.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ranges[middle]?.hi ?? 0) <= lo) from = middle + 1;
    else to = middle;
  }
  const found = ranges[from];
  return found !== undefined && found.lo < hi;
}

/** Jobs whose answers are in storage and that asked for some of these units, oldest first. */
export function answersFor(ledger: Ledger, head: RunHead, units: readonly UnitRange[]): readonly CollectedJob[] {
  return ledger.batching.jobs().flatMap(({ job, index, generation }): CollectedJob[] => {
    if (index === null) return [];
    const asked = ledger.batching.unitsOf(job);
    if (!units.some((range) => reaches(asked, range))) return [];
    return [{ job, index, ...(generation < head.generation ? { earlier: true as const } : {}) }];
  });
}
