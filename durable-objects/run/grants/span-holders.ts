import type { Ledger, Ticket } from "../state/ledger.ts";

/** Whether a grant has this rollout of a unit that is divided; null when the unit is not. */
export function hasInSpan(ledger: Ledger, { id, epoch }: Ticket, unit: number, rollout: number): boolean | null {
  const spans = ledger.spans.byUnit().get(unit);
  if (spans === undefined) return null;
  return spans.some((span) => span.ticket === id && span.epoch === epoch && span.lo <= rollout && rollout < span.hi);
}
