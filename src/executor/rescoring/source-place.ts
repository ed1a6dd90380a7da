import type { RolloutInput } from "../../rollouts/types.ts";

/** Where the rows of an example lie that a run scores again, in an object of its own copy of them. */
export interface SourcePlace {
  /** sha256 of the object, by which it is called. */
  readonly object: string;
  readonly offset: number;
  readonly length: number;
}

/** Beside the columns of the example in its pinned line; no data set has a column of that name by chance. */
const COLUMN = "edgewise:source";

/** The pinned line of an example with the place of its rows. */
export const lineWithSource = (input: RolloutInput, place: SourcePlace): string => JSON.stringify({ ...input, [COLUMN]: place });

/** The example as it is, and the place of its rows; null where the run makes its own. */
export function splitSource(pinned: RolloutInput): { readonly input: RolloutInput; readonly place: SourcePlace | null } {
  const { [COLUMN]: place, ...input } = pinned;
  return place === undefined ? { input: pinned, place: null } : { input: input as RolloutInput, place: place as SourcePlace };
}
