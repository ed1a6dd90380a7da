import { metricOf } from "../../../cells/column-names.ts";
import { PLACE, type SampleColumn } from "./sample-columns.ts";

/** Attempts beside each other at once; the keys lead on to the others. */
export const ATTEMPTS_AT_ONCE = 12;

export interface AttemptColumn extends SampleColumn {
  /** Number of the attempt, from 0. */
  readonly attempt: number;
}

/** Columns of a grid with an example a row. `from`: the first attempt that is shown. `measure`: what each says of itself. */
export function attemptColumns(
  all: readonly SampleColumn[],
  { rollouts, from, measure }: { readonly rollouts: number; readonly from: number; readonly measure: SampleColumn },
) {
  const fixed = all.filter(({ key }) => key === PLACE || key === "prompt");
  const shown = Math.max(0, Math.min(ATTEMPTS_AT_ONCE, rollouts - from));
  const attempts = Array.from({ length: shown }, (_, index): AttemptColumn => {
    const attempt = from + index;
    return { key: `attempt ${attempt}`, title: `Attempt ${attempt}`, kind: measure.kind, width: 132, grows: true, sorts: false, attempt };
  });
  return [...fixed, ...attempts];
}

/** What attempts say: the column that the list is sorted by, where it has numbers, else the reward. */
export function measureOf(all: readonly SampleColumn[], sort: string): SampleColumn | undefined {
  const sorted = all.find(({ key }) => key === sort);
  return sorted !== undefined && (metricOf(sort) !== null || sorted.tone !== undefined) ? sorted : all.find(({ key }) => key === "reward");
}
