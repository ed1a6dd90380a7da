import type { Done } from "../state/ledger.ts";
import type { ExamplePlace } from "./cells-protocol.ts";

/** Where the rows of a done unit are, `example` being its place in the results. */
export const placeOf = ({ segment, offset, length, rollouts }: Omit<Done, "unit" | "owed">, example: number): ExamplePlace => ({
  example,
  segment,
  offset,
  length,
  missing: rollouts.flatMap((rollout, index) => (rollout === null ? [index] : [])),
});
