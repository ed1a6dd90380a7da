/**
 * A unit that is divided: several grants have some of its rollouts each, a _span_, generate those and have them kept. Nobody scores it meanwhile. With
 * the last span it is pending again, as a whole and with all that is kept of it, and whoever claims it then scores it.
 *
 * Its claim is that of one of those who have a span, and passes on to another when that one's ends: so it is in one place like any other unit, and
 * goes back as a whole where code that does not know spans ends the grant.
 */
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { ClaimRequest, UnitRange } from "../protocol.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Claim, Ledger, Span, Ticket } from "../state/ledger.ts";
import { nextUnit, returnUnits, takeUnits } from "./pending.ts";
import { isSuspect } from "./suspects.ts";

/** A span has no fewer rollouts: it is a segment, a commit and some rows. */
export const SPAN_ROLLOUTS = 8;

const leastOf = ({ span = SPAN_ROLLOUTS }: RunContext): number => span;

/** Whether units of the run may be divided at all. Where the environment says how many are open at once, each has its lane for itself; answers of batches are there at once. */
export const mayDivide = ({ rollouts_per_example: r }: RunConfig, { undivided, concurrency, batching }: RunHead, context: RunContext): boolean =>
  r >= 2 * leastOf(context) && undivided !== true && typeof concurrency !== "number" && batching === undefined;

const requestsOf = ({ requests, generation = requests }: Ticket): number => Math.max(1, Math.min(requests, generation));

const isWorker = ({ task }: Ticket): boolean => task.kind === "units";

/** Executors among which the run's rollouts are shared out: those that there are, or as many as its requests need where those may come. */
function executorsOf({ max_concurrent, num_workers }: RunConfig, tickets: readonly Ticket[], { executors = Number.POSITIVE_INFINITY }: RunContext): number {
  const workers = tickets.filter(isWorker);
  const requests = Math.max(...workers.map(requestsOf), 1);
  const needed = max_concurrent > 0 && workers.length > 0 ? Math.ceil(max_concurrent / requests) : 0;
  return Math.max(workers.length, Math.min(needed, num_workers ?? Number.POSITIVE_INFINITY, executors));
}

const keptOf = (ledger: Ledger, unit: number): Set<number> => new Set(ledger.piecesIn({ lo: unit, hi: unit + 1 }).flatMap(({ rollouts }) => rollouts));

/** Rollouts of a unit that are not kept and that nobody has, ascending. */
function freeIn(ledger: Ledger, unit: number, spans: readonly Span[]): number[] {
  const kept = keptOf(ledger, unit);
  const all = Array.from({ length: ledger.config().rollouts_per_example }, (_, rollout) => rollout);
  return all.filter((rollout) => !kept.has(rollout) && !spans.some(({ lo, hi }) => lo <= rollout && rollout < hi));
}

/** Units that are divided, but for those that are to be run alone once they are whole again. */
function dividedUnits(ledger: Ledger): (readonly [unit: number, spans: readonly Span[]])[] {
  const divided = [...ledger.spans.byUnit()].sort(([a], [b]) => a - b);
  const [first, last] = [divided[0]?.[0], divided.at(-1)?.[0]];
  if (first === undefined || last === undefined) return [];
  const suspects = new Set(ledger.suspectsIn({ lo: first, hi: last + 1 }).flatMap((suspect) => (isSuspect(suspect) ? [suspect.unit] : [])));
  return divided.filter(([unit]) => !suspects.has(unit));
}

/** Rollouts of divided units that nobody has. */
export function freeRollouts(ledger: Ledger, head: RunHead, context: RunContext): number {
  if (!mayDivide(ledger.config(), head, context)) return 0;
  return dividedUnits(ledger).reduce((sum, [unit, spans]) => sum + freeIn(ledger, unit, spans).length, 0);
}

/** Rollouts that further executors could have, as many as there are requests for: with units that may be divided lanes say little. */
export function dividedWant(ledger: Ledger, head: RunHead, freeRequests: number, context: RunContext): number {
  const config = ledger.config();
  const tickets = ledger.tickets();
  if (!mayDivide(config, head, context) || !tickets.some(isWorker)) return 0;
  const whole = head.pinning === true || executorsOf(config, tickets, context) < 2 ? 0 : head.pending * config.rollouts_per_example;
  return Math.min(freeRequests, whole + freeRollouts(ledger, head, context));
}

/** Up to `size` of the free rollouts, from the first one on, with nothing between them that another has. */
function spanOf(free: readonly number[], spans: readonly Span[], size: number): UnitRange | null {
  const [lo] = free;
  if (lo === undefined) return null;
  const end = Math.min(...spans.flatMap((span) => (span.lo > lo ? [span.lo] : [])), Number.POSITIVE_INFINITY);
  const taken = free.filter((rollout) => rollout < end).slice(0, size);
  return { lo, hi: (taken.at(-1) ?? lo) + 1 };
}

/** What there is for an executor beside whole units: a span, or at most so many of those. */
export interface SpanChoice {
  readonly span: Span | null;
  readonly mostUnits: number;
  /** There are rollouts of a unit of which the grant has a span already. */
  readonly waits?: boolean;
}

const WHOLE: SpanChoice = { span: null, mostUnits: Number.POSITIVE_INFINITY };
const ONE_UNIT: SpanChoice = { span: null, mostUnits: 1 };

/**
 * What a claim gets where units may be divided. A unit goes out whole while each executor that there may be gets at least one more; after that in spans
 * of half an even share of what is left, at least as many rollouts as the executor has requests. A unit that only waits to be scored goes first.
 */
export function claimSpan(ledger: Ledger, head: RunHead, ticket: Ticket, request: ClaimRequest, context: RunContext): SpanChoice {
  const config = ledger.config();
  if (request.spans !== true || request.free <= 0 || !mayDivide(config, head, context)) return WHOLE;
  const r = config.rollouts_per_example;
  const unit = head.pending > 0 ? nextUnit(ledger, head) : null;
  const kept = unit === null ? 0 : keptOf(ledger, unit).size;
  if (unit !== null && kept === r) return ONE_UNIT;
  const divided = dividedUnits(ledger).map(([each, spans]) => ({ unit: each, spans, free: freeIn(ledger, each, spans) }));
  const executors = executorsOf(config, ledger.tickets(), context);
  const left = head.pending * r + divided.reduce((sum, { free }) => sum + free.length, 0);
  const size = Math.max(leastOf(context), requestsOf(ticket), Math.ceil(left / (2 * executors)));
  // What an executor has of a unit goes by the unit: it has one span of it at a time.
  const begun = divided.find(({ spans, free }) => free.length > 0 && !spans.some((span) => span.ticket === ticket.id));
  if (begun !== undefined) return { ...WHOLE, span: give(ledger, ticket, begun.unit, spanOf(begun.free, begun.spans, evenly(begun.free.length, size))) };
  if (unit === null) return { ...WHOLE, waits: divided.some(({ free }) => free.length > 0) };
  // While more units are to come nobody knows what is left.
  if (head.pinning === true || executors < 2 || 2 * size > r) return WHOLE;
  if (r - kept < 2 * size || ledger.done(unit) !== null) return ONE_UNIT;
  takeUnits(ledger, head, 1);
  ledger.putClaim({ lo: unit, hi: unit + 1, ticket: ticket.id, epoch: ticket.epoch });
  return { ...WHOLE, span: give(ledger, ticket, unit, spanOf(freeIn(ledger, unit, []), [], evenly(r - kept, size))) };
}

/** Spans of one unit are of a size, and none is a small rest. */
const evenly = (rollouts: number, size: number): number => Math.ceil(rollouts / Math.max(1, Math.floor(rollouts / size)));

function give(ledger: Ledger, { id, epoch }: Ticket, unit: number, range: UnitRange | null): Span | null {
  if (range === null) return null;
  const span = { unit, ...range, ticket: id, epoch };
  ledger.spans.put(span);
  return span;
}

const spansOf = (ledger: Ledger, { id, epoch }: Pick<Ticket, "id" | "epoch">): Span[] =>
  [...ledger.spans.byUnit().values()].flat().filter((span) => span.ticket === id && span.epoch === epoch);

/** Rollouts of these units were kept: the spans of the grant of which all are have ended. */
export function endKeptSpans(ledger: Ledger, head: RunHead, ticket: Ticket, units: ReadonlySet<number>): void {
  for (const span of spansOf(ledger, ticket)) {
    if (!units.has(span.unit)) continue;
    const kept = keptOf(ledger, span.unit);
    if (Array.from({ length: span.hi - span.lo }, (_, at) => span.lo + at).some((rollout) => !kept.has(rollout))) continue;
    ledger.spans.delete(span);
    const claim = { lo: span.unit, hi: span.unit + 1, ticket: ticket.id, epoch: ticket.epoch };
    if (!ledger.deleteClaim(claim)) continue;
    if (!passOn(ledger, claim)) returnUnits(ledger, head, claim);
  }
}

/** The grant ends, and its spans with it. */
export function endSpansOf(ledger: Ledger, ticket: Ticket): void {
  for (const span of spansOf(ledger, ticket)) ledger.spans.delete(span);
}

/** Who still has a span of the unit has the claim from now on; false when nobody has. */
export function passOn(ledger: Ledger, { lo, hi }: Claim): boolean {
  const [next] = ledger.spans.byUnit().get(lo) ?? [];
  if (next === undefined) return false;
  ledger.putClaim({ lo, hi, ticket: next.ticket, epoch: next.epoch });
  return true;
}
