import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { RunContext } from "../state/context.ts";
import { wantsMerger } from "../course/merge-need.ts";
import { mayFinalise } from "../course/finalise-attempts.ts";
import { isLoadingHeldUp } from "./loading.ts";
import { hasIntake } from "../pushed/pushed-head.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger, Ticket } from "../state/ledger.ts";
import { dividedWant } from "./spans.ts";

/** Whether a grant is for work beside the units, which takes no requests and no place of an executor for them. */
export const isBeside = ({ task }: Ticket): boolean =>
  task.kind === "adopt" || task.kind === "merge" || task.kind === "prepare" || task.kind === "intake" || task.kind === "batch";

/** An unattended run works under any boot; an attended one only under the boot that created or resumed it. A pushed one waits for who pushes it. */
export function isSuspended(config: RunConfig, head: RunHead, context: RunContext): boolean {
  if (head.phase !== "preparing" && head.phase !== "open") return false;
  if (head.pushed !== undefined) return !hasIntake(head.pushed);
  return head.interrupted || (config.attended && head.boot !== context.boot);
}

/** Units open at once that keep `requests` busy. One lane more than they need when r > 1: it fills in while a group runs out. */
export function lanesFor(requests: number, rolloutsPerExample: number): number {
  if (requests <= 0) return 0;
  return Math.ceil(requests / rolloutsPerExample) + (rolloutsPerExample > 1 ? 1 : 0);
}

/** What a run's limit leaves to tickets yet to come; Infinity without one (0, below). */
function left(limit: number, tickets: readonly Ticket[], held: (ticket: Ticket) => number): number {
  if (limit <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, limit - tickets.reduce((granted, ticket) => granted + held(ticket), 0));
}

/** Requests of judges not granted to any live ticket: a run allows as many as of the model itself, unless it says otherwise. */
export const freeScoring = ({ max_concurrent_scoring, max_concurrent }: RunConfig, tickets: readonly Ticket[]): number =>
  left(max_concurrent_scoring ?? max_concurrent, tickets, ({ scoring = 0 }) => scoring);

/** Requests of the model that a limit below `max_concurrent` leaves; Infinity where there is none. */
export const freeGeneration = ({ max_concurrent_generation = 0 }: RunConfig, tickets: readonly Ticket[]): number =>
  left(max_concurrent_generation, tickets, ({ generation = 0 }) => generation);

/** Executors that may still join; Infinity when the run does not say how many it wants (`num_workers`). */
export function freeWorkers({ num_workers }: RunConfig, tickets: readonly Ticket[], { executors = Number.POSITIVE_INFINITY }: RunContext): number {
  return num_workers === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(0, Math.min(num_workers, executors) - tickets.filter((ticket) => !isBeside(ticket)).length);
}

/** Lanes not granted to any live ticket, where the environment says how many there are in all; else Infinity. */
export const freeLanes = ({ concurrency }: RunHead, tickets: readonly Ticket[]): number => left(concurrency ?? 0, tickets, ({ lanes }) => lanes);

/** Requests not granted to any live ticket; Infinity when the run has no limit. None where anything else that a ticket needs is used up. */
export function freeRequests(config: RunConfig, head: RunHead, tickets: readonly Ticket[], context: RunContext): number {
  const others = [freeScoring(config, tickets), freeGeneration(config, tickets), freeLanes(head, tickets), freeWorkers(config, tickets, context)];
  return Math.min(...others) < 1 ? 0 : left(config.max_concurrent, tickets, ({ requests }) => requests);
}

/** Lanes the run wants now: absolute, so that a repeated or late offer does no harm. */
export function wanted(ledger: Ledger, head: RunHead, context: RunContext): number {
  const config = ledger.config();
  if (isSuspended(config, head, context)) return 0;
  if (context.now < (head.code_wait?.retry_at ?? 0)) return 0;
  if (isLoadingHeldUp(ledger, head, context)) return wantsAdopter(head, ledger.tickets()) ? 1 : 0;
  const tickets = ledger.tickets();
  if (head.phase === "finalising" && !mayFinalise(head, context)) return 0;
  if (head.phase === "preparing" || head.phase === "finalising") return tickets.length === 0 ? 1 : 0;
  if (head.phase === "draining") return Math.min(lanesFor(freeRequests(config, head, tickets, context), config.rollouts_per_example), lastUnits(head));
  if (head.phase !== "open" || context.now < head.health.backoff_until) return 0;
  if (head.pushed !== undefined) return wantsIntake(head, tickets) ? 1 : 0;
  const free = head.paused === undefined ? Math.min(freeRequests(config, head, tickets, context), Number.MAX_SAFE_INTEGER) : 0;
  const lanes = free > 0 && typeof head.concurrency === "number" ? freeLanes(head, tickets) : lanesFor(free, config.rollouts_per_example);
  const work = Math.max(Math.min(lanes, head.pending), dividedWant(ledger, head, free, context));
  // One executor is enough to see whether anybody has the run's code by now.
  const units = Math.min(work, typeof head.code_wait?.since === "number" ? 1 : Number.POSITIVE_INFINITY);
  const beside = wantsPreparer(head, tickets) || wantsAdopter(head, tickets) || wantsBatcher(head, tickets, context) || wantsMerger(head, tickets, context);
  return Math.max(units, beside ? 1 : 0);
}

/** Whether the run wants lanes and has none at all: executors that are full make room for it. */
export const isIdle = (ledger: Ledger, want: number): boolean => want > 0 && ledger.tickets().every(isBeside);

/** Whether further inputs are to be pinned beside the units, and nobody does it. */
export const wantsPreparer = (head: RunHead, tickets: readonly Ticket[]): boolean => head.phase === "open" && head.pinning === true && !isPinning(tickets);

/** Whether somebody reads the data set. */
export const isPinning = (tickets: readonly Ticket[]): boolean => tickets.some(({ task }) => task.kind === "prepare");

/** Whether rows of a folder are to be taken over beside the units, and nobody does it. */
export const wantsAdopter = (head: RunHead, tickets: readonly Ticket[]): boolean =>
  head.phase === "open" && head.import !== null && !tickets.some(({ task }) => task.kind === "adopt");

/** Whether a step of the run's batches is due, and nobody does it. */
export const wantsBatcher = (head: RunHead, tickets: readonly Ticket[], { now }: RunContext): boolean =>
  head.phase === "open" && typeof head.batching?.next_at === "number" && head.batching.next_at <= now && !tickets.some(({ task }) => task.kind === "batch");

/** Units that the end of the run wants scored, and nobody has. */
export const lastUnits = ({ last_scores }: RunHead): number => last_scores?.units.length ?? 0;

/** Whether pushed samples are to be taken in, and nobody does it. */
export const wantsIntake = (head: RunHead, tickets: readonly Ticket[]): boolean =>
  head.phase === "open" && head.pushed !== undefined && hasIntake(head.pushed) && !tickets.some(({ task }) => task.kind === "intake");

/** Marks the offer due when what is wanted has changed. */
export function refreshOffer(ledger: Ledger, head: RunHead, context: RunContext): void {
  const want = wanted(ledger, head, context);
  const idle = isIdle(ledger, want);
  if (want === head.offer.want && idle === (head.offer.idle ?? false)) return;
  const executors = freeWorkers(ledger.config(), ledger.tickets(), context);
  const named = { ...(Number.isFinite(executors) ? { executors } : {}), ...(idle ? { idle } : {}) };
  head.offer = { want, ...named, seq: head.offer.seq + 1, due: true, retry_at: context.now, tries: 0 };
}
