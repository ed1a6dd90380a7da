import { gotOn } from "./pieces.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger, Suspect, Ticket } from "../state/ledger.ts";
import type { RunContext } from "../state/context.ts";
import type { UnitRange } from "../protocol.ts";

/** Lapses after which a unit is run alone, and lapses alone after which it is given up (design: Poisoned units). */
export const LAPSES_TO_SUSPECT = 2;
export const LAPSES_ALONE_TO_POISON = 3;

export const isSuspect = (suspect: Suspect | null): boolean => suspect !== null && suspect.lapses >= LAPSES_TO_SUSPECT;
export const isPoisoned = (suspect: Suspect): boolean => suspect.alone >= LAPSES_ALONE_TO_POISON;

/** Ranges kept apart; beyond that they become one that covers them all. */
const MOST_WARY = 32;

/** Units that a grant has, or some rollouts of. The claim of one that is divided says only that somebody has. */
function heldBy(ledger: Ledger, { id }: Ticket): UnitRange[] {
  const divided = ledger.spans.byUnit();
  const whole = ledger.claimsOf(id).filter(({ lo }) => !divided.has(lo));
  const spans = [...divided].filter(([, each]) => each.some(({ ticket }) => ticket === id));
  return [...whole.map(({ lo, hi }) => ({ lo, hi })), ...spans.map(([unit]) => ({ lo: unit, hi: unit + 1 }))];
}

/** Remembers what a silent executor held: any of it may have been the reason, reported or not. */
export function becomeWary(ledger: Ledger, head: RunHead, ticket: Ticket): void {
  const ranges = [...head.wary, ...heldBy(ledger, ticket)];
  head.wary = ranges.length <= MOST_WARY ? ranges : [{ lo: Math.min(...ranges.map(({ lo }) => lo)), hi: Math.max(...ranges.map(({ hi }) => hi)) }];
}

export const isWary = (head: RunHead, range: UnitRange): boolean => head.wary.some(({ lo, hi }) => lo < range.hi && range.lo < hi);

/** What a lapse while alone counts for when others fell silent with it, or had something open in its isolate: any of them may have been the reason. */
const AMONG_OTHERS = 0.5;

const lastHeard = ({ lease_until }: Ticket, { timing }: RunContext): number => lease_until - timing.lease;

/**
 * Whether another executor of the run that had begun something fell silent within a beat of this one: their isolate, their network or the Run
 * itself was away then, and not what one of them ran. Those that ended before it are known by the newest of them, if `ticket` lived beside it.
 */
function fellSilentAmongOthers(ledger: Ledger, { silence }: RunHead, ticket: Ticket, context: RunContext): boolean {
  const { now, timing } = context;
  const isNear = (at: number): boolean => Math.abs(at - lastHeard(ticket, context)) <= timing.beat;
  if (silence !== undefined && ticket.epoch <= silence.epoch && isNear(silence.at)) return true;
  const isSilent = ({ lease_until, runtime = context.runtime }: Ticket): boolean => lease_until <= now || runtime !== context.runtime;
  return ledger.tickets().some((other) => other.id !== ticket.id && other.started.length > 0 && isSilent(other) && isNear(lastHeard(other, context)));
}

/**
 * Counts the lapse of `ticket` against the units that could have caused it: those reported started. Once a unit is suspect
 * only a lapse while it was alone counts, so that a neighbour is never poisoned with it; among others that lapse with it half. A unit that got on
 * under the grant is not counted.
 */
export function blameLapse(ledger: Ledger, head: RunHead, ticket: Ticket, context: RunContext): void {
  const blamed = ticket.started;
  if (blamed.length === 0) return;
  const counts = ticket.beside === true || fellSilentAmongOthers(ledger, head, ticket, context) ? AMONG_OTHERS : 1;
  head.silence = { at: lastHeard(ticket, context), epoch: head.epoch };
  const held = heldBy(ledger, ticket);
  for (const unit of blamed) {
    // A call that was late may name one that is over by now.
    if (!held.some(({ lo, hi }) => lo <= unit && unit < hi)) continue;
    const known = ledger.suspect(unit);
    const done = ledger.done(unit);
    if (done !== null && !done.owed) continue;
    // What kills it comes to nothing, again and again: a unit gets on in as many grants as it has rollouts and turns at most.
    if (gotOn(ledger, unit, ticket)) continue;
    const before = known ?? { unit, lapses: 0, alone: 0, waiting: false };
    if (!isSuspect(before)) ledger.putSuspect({ ...before, lapses: before.lapses + 1 });
    else if (ticket.alone) ledger.putSuspect({ ...before, alone: before.alone + counts });
  }
}
