import { addUnit } from "../../../src/metrics/totals.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import { addRowBytes, lengthOf } from "../state/row-bytes.ts";
import type { RunHead } from "../state/head.ts";
import type { Done, Ledger, Ticket } from "../state/ledger.ts";
import { markChanged } from "./lifecycle.ts";
import type { Ack, AdoptedAnswer, AdoptRequest, InputsAnswer, TicketId, UnitRange } from "../protocol.ts";
import { makeOwed, makePending, makeRangeOwed } from "../grants/pending.ts";
import { isOwing, owedOf, scoresOnly, termsOf } from "./repair.ts";
import { inBatches } from "../batching/unasked.ts";
import type { DoneBefore } from "./done-before.ts";
import { PLACES_A_TURN } from "./turns.ts";
import { endTicket, liveTicket } from "../grants/tickets.ts";

/**
 * Rows of a results folder become done units while the run works on what the folder lacks. A unit that the folder has rows of is
 * _held_: it is in no table, neither pending nor claimed nor done, until its rows are taken over or the folder turns out to have none.
 */

/** The live grant that takes rows over, named by a request. */
function adopting(ledger: Ledger, head: RunHead, request: TicketId): Ticket | null {
  const ticket = liveTicket(ledger, request);
  return ticket !== null && ticket.task.kind === "adopt" && head.phase === "open" && head.import !== null ? ticket : null;
}

/** Shares the pinned units out: those that the folder lacks are pending, all others held. What an earlier version took over before stays done. */
export function holdUnits(ledger: Ledger, head: RunHead, lacks: readonly UnitRange[], before: DoneBefore): void {
  const n = head.n ?? 0;
  head.cursor = n;
  head.pending = 0;
  if (head.batching !== undefined) head.batching = { ...head.batching, unasked: 0 };
  head.done = before.units - before.owed.length;
  for (const unit of before.owed) {
    const done = ledger.done(unit);
    if (done !== null && !done.owed) ledger.putDone({ ...done, owed: true });
  }
  let lacking = 0;
  for (const { lo, hi } of lacks) {
    for (const range of before.without({ lo, hi: Math.min(hi, n) })) {
      makeRangeOwed(ledger, head, range);
      lacking += range.hi - range.lo;
    }
  }
  makeOwed(ledger, head, before.owed);
  head.held = n - before.units - lacking;
}

/** Units of the range that are somewhere: done, pending, claimed, or to be answered in a batch. All others are held. */
function placedIn(ledger: Ledger, range: UnitRange): Set<number> {
  const placed = new Set(ledger.placesIn(range).map(({ unit }) => unit));
  for (const suspect of ledger.suspectsIn(range)) placed.add(suspect.unit);
  for (const { lo, hi } of [...ledger.returnedIn(range), ...ledger.claimsIn(range), ...inBatches(ledger, range)]) {
    for (let unit = Math.max(lo, range.lo); unit < Math.min(hi, range.hi); unit++) placed.add(unit);
  }
  return placed;
}

/** Where the pinned examples are, for whoever takes rows over: their ids say which unit a row belongs to. */
export function inputs(ledger: Ledger, head: RunHead, request: TicketId): InputsAnswer {
  if (adopting(ledger, head, request) === null || head.n === null) return { kind: "lost" };
  return { kind: "inputs", chunks: ledger.chunksIn({ lo: 0, hi: head.n }) };
}

/** Takes over rows of a results folder: held units become done, and at once pending again where a rollout is missing or failed. Units that are not held stay as they are. */
export function adopt(ledger: Ledger, head: RunHead, request: AdoptRequest, context: RunContext): Ack {
  if (adopting(ledger, head, request) === null || head.n === null) return { kind: "lost" };
  head.import_part = request.part;
  head.import_through = request.through;
  // Whoever got so far will get further.
  delete head.lost_preparations;
  const n = head.n;
  const units = request.units.filter(({ unit }) => unit < n);
  if (units.length === 0) return { kind: "ok" };
  const numbers = units.map(({ unit }) => unit);
  const placed = placedIn(ledger, { lo: Math.min(...numbers), hi: Math.max(...numbers) + 1 });
  const terms = termsOf(head, ledger.config());
  const taken: Done[] = [];
  // Of one part, so they ascend.
  const owed: number[] = [];
  const scored: number[] = [];
  let rollouts = 0;
  for (const { unit, offset, length, rollouts: all } of units) {
    if (placed.has(unit)) continue;
    placed.add(unit);
    const known = all.filter((rollout): rollout is RolloutSummary => rollout !== null);
    head.totals = addUnit(head.totals, known);
    rollouts += known.length;
    const debt = owedOf({ rollouts: all }, terms);
    const owes = isOwing(debt);
    if (owes) (scoresOnly(debt) ? scored : owed).push(unit);
    taken.push({ unit, segment: request.segment, offset, length, rollouts: all, owed: owes });
  }
  if (taken.length === 0) return { kind: "ok" };
  ledger.putDones(taken);
  addRowBytes(head, lengthOf(taken));
  makePending(ledger, head, scored);
  makeOwed(ledger, head, owed);
  head.done += taken.length - owed.length - scored.length;
  head.held = (head.held ?? 0) - taken.length;
  head.seq++;
  ledger.putEvent({
    seq: head.seq,
    time: context.now,
    type: "commit",
    level: "INFO",
    message: `${taken.length} units, ${rollouts} rollouts taken over from a result folder`,
    rollouts,
    units: taken.map(({ unit }) => unit),
    segment: request.segment,
  });
  return { kind: "ok" };
}

/**
 * Ends the adoption: what is still held has no rows in the folder after all, and is pending. Looked for in slices, one for each call: `more` until
 * all of the run has been looked through.
 */
export function adopted(ledger: Ledger, head: RunHead, request: TicketId, context: RunContext): AdoptedAnswer {
  const ticket = adopting(ledger, head, request);
  if (ticket === null || head.n === null) return { kind: "lost" };
  const lo = head.import_looked ?? 0;
  // From the cursor on all are pending, those that the run has grown by among them.
  const end = head.cursor;
  if ((head.held ?? 0) > 0 && lo < end) {
    const hi = Math.min(end, lo + (context.slice ?? PLACES_A_TURN));
    const placed = placedIn(ledger, { lo, hi });
    const lacking: number[] = [];
    for (let unit = lo; unit < hi; unit++) if (!placed.has(unit)) lacking.push(unit);
    makeOwed(ledger, head, lacking);
    head.held = (head.held ?? 0) - lacking.length;
    head.import_looked = hi;
    if (hi < end && head.held > 0) return { kind: "more" };
  }
  delete head.held;
  delete head.import_part;
  delete head.import_through;
  delete head.import_looked;
  head.import = null;
  endTicket(ledger, head, ticket);
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", "All rows of the result folder are taken over");
  return { kind: "ok" };
}
