import type { Failure } from "../../../src/errors/result.ts";

/** What ended a run where its status does not say: that alone would be the end that somebody asked for. Null: its status says all. */
export const endedBy = (failure: Failure | null): "budget" | null => (failure?.code === "over_budget" ? "budget" : null);

export function endedByField(failure: Failure | null): { readonly ended_by?: "budget" } {
  const by = endedBy(failure);
  return by === null ? {} : { ended_by: by };
}
