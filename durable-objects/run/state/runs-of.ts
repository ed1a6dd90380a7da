import type { UnitRange } from "../protocol.ts";

/** Units that lie close together are read as one range: a gap costs a few rows read, a query of its own more. */
const GAP = 16;

/** Ranges that cover `units`, ascending; units of one commit lie mostly side by side. `gap`: units between two that may be covered too; 0 = none. */
export function runsOf(units: readonly number[], gap = GAP): UnitRange[] {
  const ranges: { lo: number; hi: number }[] = [];
  for (const unit of [...units].sort((a, b) => a - b)) {
    const open = ranges.at(-1);
    if (open !== undefined && unit <= open.hi + gap) open.hi = Math.max(open.hi, unit + 1);
    else ranges.push({ lo: unit, hi: unit + 1 });
  }
  return ranges;
}
