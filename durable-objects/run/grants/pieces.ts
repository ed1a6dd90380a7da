import type { RunHead } from "../state/head.ts";
import type { Ledger, Ticket } from "../state/ledger.ts";
import type { CommitPiece } from "../protocol.ts";
import { runsOf } from "../state/runs-of.ts";

/**
 * Keeps the generated rollouts of units that are not done. As for units the claim must be of this very grant; what was kept of a rollout
 * first stays, and a unit that is done needs none. Nothing of it counts in the totals: a rollout counts with its unit.
 */
export function keepPieces(ledger: Ledger, head: RunHead, ticket: Ticket, segment: string, pieces: readonly CommitPiece[]): void {
  if (pieces.length === 0 || head.phase === "settled" || head.phase === "finalising") return;
  const claims = ledger.claimsOf(ticket.id).filter(({ epoch }) => epoch === ticket.epoch);
  const ranges = runsOf(pieces.map(({ unit }) => unit));
  const settled = new Set(ranges.flatMap((range) => ledger.settledIn(range)));
  // The same commit again finds all of its own.
  const known = ranges.flatMap((range) => ledger.piecesIn(range));
  const kept = new Set(known.flatMap(({ unit, rollouts }) => rollouts.map((rollout) => `${unit}/${rollout}`)));
  const fresh = pieces
    .filter(({ unit }) => !settled.has(unit) && claims.some(({ lo, hi }) => unit >= lo && unit < hi))
    .map((piece) => ({ ...piece, rollouts: piece.rollouts.filter((rollout) => !kept.has(`${piece.unit}/${rollout}`)) }))
    .filter(({ rollouts }) => rollouts.length > 0);
  if (fresh.length > 0) ledger.putPieces(segment, fresh);
}
