import type { RunHead } from "../state/head.ts";
import type { Ledger, Suspect, Ticket } from "../state/ledger.ts";
import type { UnitRange } from "../protocol.ts";

/** Lapses after which a unit is run alone, and lapses alone after which it is given up (design: Poisoned units). */
export const LAPSES_TO_SUSPECT = 2;
export const LAPSES_ALONE_TO_POISON = 3;

export const isSuspect = (suspect: Suspect | null): boolean => suspect !== null && suspect.lapses >= LAPSES_TO_SUSPECT;
export const isPoisoned = (suspect: Suspect): boolean => suspect.alone >= LAPSES_ALONE_TO_POISON;

/** Ranges kept apart; beyond that they become one that covers them all. */
const MOST_WARY = 32;

/** Remembers what a silent executor held: any of it may have been the reason, reported or not. */
export function becomeWary(ledger: Ledger, head: RunHead, ticket: Ticket): void {
  const ranges = [...head.wary, ...ledger.claimsOf(ticket.id).map(({ lo, hi }) => ({ lo, hi }))];
  head.wary = ranges.length <= MOST_WARY ? ranges : [{ lo: Math.min(...ranges.map(({ lo }) => lo)), hi: Math.max(...ranges.map(({ hi }) => hi)) }];
}

export const isWary = (head: RunHead, range: UnitRange): boolean => head.wary.some(({ lo, hi }) => lo < range.hi && range.lo < hi);

/**
 * Counts the lapse of `ticket` against the units that could have caused it: those reported started. Once a unit is suspect
 * only a lapse while it was alone counts, so that a neighbour is never poisoned with it.
 */
export function blameLapse(ledger: Ledger, ticket: Ticket): void {
  const blamed = ticket.started;
  for (const unit of blamed) {
    const known = ledger.suspect(unit);
    const done = ledger.done(unit);
    if (done !== null && !done.owed) continue;
    const before = known ?? { unit, lapses: 0, alone: 0, waiting: false };
    if (!isSuspect(before)) ledger.putSuspect({ ...before, lapses: before.lapses + 1 });
    else if (ticket.alone) ledger.putSuspect({ ...before, alone: before.alone + 1 });
  }
}
