import { addUnit, removeUnit } from "../../../src/metrics/totals.ts";
import type { RunContext } from "../state/context.ts";
import { debugEvent } from "../state/events.ts";
import { addRowBytes, lengthOf } from "../state/row-bytes.ts";
import type { RunHead } from "../state/head.ts";
import { observeHealth } from "./health.ts";
import type { Claim, DonePlace, Ledger, Ticket } from "../state/ledger.ts";
import { endRun } from "../course/lifecycle.ts";
import { keepPieces } from "./pieces.ts";
import type { CommitAnswer, CommitRequest, CommitUnit, CommitVerdict } from "../protocol.ts";
import type { RolloutSummary, Unscored } from "../../../src/metrics/rollout-summary.ts";
import { runsOf } from "../state/runs-of.ts";
import { endKeptSpans } from "./spans.ts";
import { liveTicket, renewed, withoutRest, wordFor } from "./tickets.ts";

const present = (rollouts: readonly (RolloutSummary | null)[]): RolloutSummary[] => rollouts.filter((rollout) => rollout !== null);

/** What a commit is decided on, read once for all its units. */
interface Grounds {
  readonly ticket: Ticket | null;
  readonly claims: readonly Claim[];
  readonly known: ReadonlyMap<number, DonePlace>;
}

function groundsOf(ledger: Ledger, ticket: Ticket | null, units: readonly CommitUnit[]): Grounds {
  const known = new Map<number, DonePlace>();
  for (const range of runsOf(units.map(({ unit }) => unit))) for (const place of ledger.placesIn(range)) known.set(place.unit, place);
  return { ticket, claims: ticket === null ? [] : ledger.claimsOf(ticket.id), known };
}

/**
 * Decides one unit of a commit. The only way into `done`: the unit must lie in a claim of this very grant, and what was done
 * before stays unless it is owed to a repair. What is accepted for the first time is stored by `recordCommit`.
 */
function commitUnit(ledger: Ledger, head: RunHead, { ticket, claims, known }: Grounds, segment: string, unit: CommitUnit): CommitVerdict {
  const before = known.get(unit.unit) ?? null;
  if (before !== null && before.segment === segment) return "accepted";
  if (before !== null && !before.owed) return "duplicate";
  if (head.phase === "settled" || head.phase === "finalising") return "closed";
  // Of a unit that is divided the claim is nobody's to score it.
  const held = claims.some((claim) => claim.epoch === ticket?.epoch && unit.unit >= claim.lo && unit.unit < claim.hi) && !ledger.spans.byUnit().has(unit.unit);
  if (!held) return "stale";
  const replaced = before === null ? null : ledger.done(unit.unit);
  if (replaced !== null) {
    head.totals = removeUnit(head.totals, present(replaced.rollouts));
    addRowBytes(head, -replaced.length);
  }
  head.done++;
  return "accepted";
}

/**
 * Takes over the rows of a segment, unit by unit; one event for all that were accepted. Renews the lease as a beat would; between the end of the
 * lease and that of the grant rows are taken still.
 */
export function commit(ledger: Ledger, head: RunHead, request: CommitRequest, context: RunContext): CommitAnswer {
  const ticket = liveTicket(ledger, request);
  const grounds = groundsOf(ledger, ticket, request.units);
  const fresh: CommitUnit[] = [];
  const verdicts = request.units.map((unit) => {
    const doneBefore = head.done;
    const verdict = commitUnit(ledger, head, grounds, request.segment, unit);
    if (head.done > doneBefore) fresh.push(unit);
    return verdict;
  });
  const living = ticket === null ? null : renewed(ledger, head, ticket, request, context);
  const left = living ?? (ticket === null ? null : withoutRest(ticket, request));
  if (left !== null && left !== ticket) ledger.putTicket(left);
  if (fresh.length > 0 && left !== null) recordCommit(ledger, head, left, request.segment, fresh, context);
  if (ticket !== null) keepPieces(ledger, head, ticket, request.segment, request.pieces ?? []);
  if (ticket !== null && request.pieces !== undefined) endKeptSpans(ledger, head, ticket, new Set(request.pieces.map(({ unit }) => unit)));
  return { kind: "committed", verdicts, ...wordFor(ledger, head, left, request, context), ...(living === null ? {} : { renewed: true }) };
}

/** Names of state keys that are remembered: those of one reward function, as a rule. They come from an environment's code. */
const MOST_KEYS = 8;
const MOST_CHARACTERS = 64;

function noteUnscored(head: RunHead, { rollouts, state }: Unscored): void {
  const known = head.unscored ?? { rollouts: 0, state: [] };
  const keys = new Set([...known.state, ...state.map((key) => key.slice(0, MOST_CHARACTERS))]);
  head.unscored = { rollouts: known.rollouts + rollouts, state: [...keys].slice(0, MOST_KEYS) };
}

/** Stores the units accepted for the first time. Totals change by these and by nothing else. */
function recordCommit(ledger: Ledger, head: RunHead, ticket: Ticket, segment: string, units: readonly CommitUnit[], context: RunContext): void {
  const rollouts = units.flatMap((unit) => unit.rollouts);
  head.totals = addUnit(head.totals, rollouts);
  addRowBytes(head, lengthOf(units));
  for (const { unscored } of units) if (unscored !== undefined) noteUnscored(head, unscored);
  const anew = units.filter(({ scored_anew }) => scored_anew === true).length;
  if (anew > 0) head.scored_anew = (head.scored_anew ?? 0) + anew;
  const changed = units.filter(({ scores_changed }) => scores_changed === true).length;
  if (changed > 0) head.rescored = { source: head.rescored?.source ?? null, changed: (head.rescored?.changed ?? 0) + changed };
  ledger.putDones(units.map(({ unit, offset, length, rollouts: own }) => ({ unit, segment, offset, length, rollouts: own, owed: false })));
  ledger.trimClaims(
    ticket.id,
    units.map(({ unit }) => unit),
  );
  const committed = new Set(units.map(({ unit }) => unit));
  ledger.dropPieces([...committed]);
  for (const range of runsOf([...committed])) {
    for (const { unit } of ledger.suspectsIn(range)) if (committed.has(unit)) ledger.deleteSuspect(unit);
  }
  head.seq++;
  ledger.putEvent({
    seq: head.seq,
    time: context.now,
    type: "commit",
    level: "DEBUG",
    message: `${units.length} units, ${rollouts.length} rollouts committed`,
    rollouts: rollouts.length,
    units: units.map((unit) => unit.unit),
    segment,
  });
  debugEvent(ledger, head, context, () => `Committed segment ${segment}: ${units.length} units, ${rollouts.length} rollouts`);
  // What the source's rollouts met says nothing of an endpoint now.
  if (ledger.config().rescored_from !== undefined) return;
  const dead = observeHealth(ledger, head, ticket, rollouts, context.now);
  if (dead !== null && head.phase === "open") endRun(ledger, head, context, "FAILED", "abort", dead);
}
