import { INPUT_CACHE_BYTES } from "../../../src/limits.ts";
import { codeFound } from "./code-wait.ts";
import { loaded } from "./load-wait.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger, Span, Ticket } from "../state/ledger.ts";
import { isPinning, isSuspended } from "./offers.ts";
import { takeUnits } from "./pending.ts";
import type { Block, ClaimAnswer, ClaimDecision, ClaimRequest, TicketId, UnitRange } from "../protocol.ts";
import { takeLast } from "../course/last-scores.ts";
import { answersFor } from "../batching/known-answers.ts";
import { redosOf } from "./redos.ts";
import { claimSpan, type SpanChoice } from "./spans.ts";
import { isPoisoned, isWary } from "./suspects.ts";
import { liveTicket, renewed, wordFor } from "./tickets.ts";

/** Keep the stored answer of a claim, redo list included, well under the size of a row (MAX_ROW_BYTES). */
const MAX_BLOCK_UNITS = 4_096;
const MAX_BLOCK_ROLLOUTS = 200_000;

/**
 * Units of the next block: what the executor has room for now and soon, but of the latter at most an even share of what is pending, and half
 * of it for one that is alone, so that near the end nobody hoards; and no more inputs than an executor may hold.
 */
export function blockSize(request: { free: number; soon: number }, pending: number, tickets: number, unit: { bytes: number; rollouts: number }): number {
  const fairShare = Math.floor(pending / Math.max(2, tickets));
  const ahead = Math.min(request.free + request.soon, Math.max(request.free, fairShare));
  const carried = Math.max(1, Math.floor(INPUT_CACHE_BYTES / Math.max(1, unit.bytes)));
  const named = Math.max(1, Math.floor(MAX_BLOCK_ROLLOUTS / unit.rollouts));
  return Math.max(0, Math.min(ahead, pending, carried, named, MAX_BLOCK_UNITS));
}

function claimBlock(ledger: Ledger, head: RunHead, ticket: TicketId, range: UnitRange, kind: { alone: boolean; poisoned: boolean }): Block {
  ledger.putClaim({ ...range, ticket: ticket.ticket, epoch: ticket.epoch });
  const pieces = ledger.piecesIn(range);
  const jobs = head.batching === undefined ? [] : answersFor(ledger, head, [range]);
  return {
    kind: "block",
    ...range,
    ...kind,
    wary: isWary(head, range),
    redo: redosOf(ledger, head, range),
    ...(pieces.length === 0 ? {} : { pieces }),
    chunks: ledger.chunksIn(range),
    ...(jobs.length === 0 ? {} : { jobs }),
  };
}

const NOTHING: SpanChoice = { span: null, mostUnits: 0 };

/** A span with what is kept of it: rollouts that are not to be generated, and where others are gone on with. */
function spanBlock(ledger: Ledger, head: RunHead, { unit, lo, hi }: Span): Block {
  const range = { lo: unit, hi: unit + 1 };
  const inside = (rollouts: readonly number[]): number[] => rollouts.filter((rollout) => rollout >= lo && rollout < hi);
  const pieces = ledger
    .piecesIn(range)
    .map(({ rollouts, begun = [], unscored: _, ...place }) => ({ ...place, rollouts: inside(rollouts), begun: inside(begun) }))
    .filter(({ rollouts, begun }) => rollouts.length + begun.length > 0);
  return {
    kind: "block",
    ...range,
    span: { lo, hi },
    alone: false,
    poisoned: false,
    wary: isWary(head, range),
    redo: [],
    ...(pieces.length === 0 ? {} : { pieces }),
    chunks: ledger.chunksIn(range),
  };
}

/** A poisoned unit goes to anyone (it is not run); a suspect one only to a ticket that has nothing else open. */
function claimSuspect(ledger: Ledger, head: RunHead, ticket: TicketId, open: number): Block | null {
  const waiting = ledger.waitingSuspects();
  const chosen = waiting.find(isPoisoned) ?? (open === 0 ? waiting[0] : undefined);
  if (chosen === undefined) return null;
  ledger.putSuspect({ ...chosen, waiting: false });
  head.pending--;
  const poisoned = isPoisoned(chosen);
  return claimBlock(ledger, head, ticket, { lo: chosen.unit, hi: chosen.unit + 1 }, { alone: !poisoned, poisoned });
}

/** Nothing is generated any more: units that are generated are scored. */
function lastAnswer(ledger: Ledger, head: RunHead, request: ClaimRequest): ClaimDecision {
  const range = takeLast(ledger, head, request.free);
  return range === null ? { kind: "empty", pending: 0 } : claimBlock(ledger, head, request, range, { alone: false, poisoned: false });
}

/** `alone`: it holds a suspect unit, and nothing else until that is done. */
function nextAnswer(ledger: Ledger, head: RunHead, ticket: Ticket, alone: boolean, request: ClaimRequest, context: RunContext): ClaimDecision {
  if (head.last_scores !== undefined) return lastAnswer(ledger, head, request);
  if (head.phase !== "open" || ticket.task.kind !== "units") return { kind: "closed" };
  if (head.paused !== undefined || isSuspended(ledger.config(), head, context) || context.now < head.health.backoff_until)
    return { kind: "empty", pending: head.pending };
  const { span, mostUnits, waits } = alone ? NOTHING : claimSpan(ledger, head, ticket, request, context);
  if (span !== null) return spanBlock(ledger, head, span);
  // Units that are about to be pinned are worth waiting for.
  if (alone || head.pending === 0)
    return { kind: "empty", pending: head.pending + (isPinning(ledger.tickets()) ? 1 : 0), ...(waits === true ? { divided: true } : {}) };
  const poisonedFirst = ledger.waitingSuspects().some(isPoisoned) ? claimSuspect(ledger, head, request, request.open) : null;
  if (poisonedFirst !== null) return poisonedFirst;
  const bytes = head.n === null || head.n === 0 ? 0 : head.input_bytes / head.n;
  const whole = blockSize(request, head.pending, ledger.tickets().filter(({ task }) => task.kind === "units").length, {
    bytes,
    rollouts: ledger.config().rollouts_per_example,
  });
  const range = whole > 0 ? takeUnits(ledger, head, Math.min(whole, mostUnits)) : null;
  if (range !== null) return claimBlock(ledger, head, request, range, { alone: false, poisoned: false });
  return (request.free > 0 ? claimSuspect(ledger, head, request, request.open) : null) ?? { kind: "empty", pending: head.pending };
}

/**
 * Hands out a block, and renews the lease as a beat would. The same `seq` gets the same block; an older one is a straggler of the network and
 * gets nothing.
 */
export function claim(ledger: Ledger, head: RunHead, request: ClaimRequest, context: RunContext): ClaimAnswer {
  const known = liveTicket(ledger, request);
  if (known === null || request.seq < known.seq) return { kind: "lost" };
  const ticket = renewed(ledger, head, known, request, context);
  if (ticket === null) return { kind: "lost" };
  const last = request.seq === ticket.seq ? ledger.lastAnswer(ticket.id) : null;
  if (last !== null) ledger.putTicket(ticket);
  return { ...(last ?? decided(ledger, head, ticket, request, context)), renewed: true, ...wordFor(ledger, head, ticket, request, context) };
}

function decided(ledger: Ledger, head: RunHead, ticket: Ticket, request: ClaimRequest, context: RunContext): ClaimDecision {
  if (ticket.seq === 0) {
    codeFound(ledger, head, context);
    loaded(ledger, head, context);
  }
  const open = request.open > 0;
  const alone = ticket.alone && open;
  const answer = nextAnswer(ledger, head, ticket, alone, request, context);
  const holdsSuspect = answer.kind === "block" ? answer.alone : alone;
  ledger.putAnswered({ ...ticket, seq: request.seq, alone: holdsSuspect }, answer);
  return answer;
}
