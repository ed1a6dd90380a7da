import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { asksForStream } from "../../../src/config/options/sampling.ts";
import { addResponseModels, isNone, NO_RESPONSE_MODELS, type ResponseModels, responseModelsSince } from "../../../src/metrics/response-models.ts";
import { mayWork } from "./code.ts";
import type { RunContext } from "../state/context.ts";
import { debugEvent } from "../state/events.ts";
import { failAttempt, mayFinalise } from "../course/finalise-attempts.ts";
import { isSorted } from "../course/sorting.ts";
import { wantsMerger } from "../course/merge-need.ts";
import type { RunHead } from "../state/head.ts";
import { noteAnswer } from "./health.ts";
import { keepProgress } from "../sending/heartbeat.ts";
import type { Ledger, Ticket } from "../state/ledger.ts";
import {
  freeGeneration,
  freeLanes,
  freeRequests,
  freeScoring,
  freeWorkers,
  isBeside,
  isSuspended,
  lanesFor,
  lastUnits,
  wantsAdopter,
  wantsBatcher,
  wantsIntake,
  wantsPreparer,
} from "./offers.ts";
import { noteLimited } from "./limited.ts";
import { isLoadingHeldUp } from "./loading.ts";
import { returnUnits } from "./pending.ts";
import {
  type BeatAnswer,
  type BeatRequest,
  type Ending,
  type GivesBack,
  type Grant,
  type Holding,
  type JoinAnswer,
  type JoinRequest,
  type LeaveRequest,
  type Orders,
  PROTOCOL,
  type Report,
  type Steering,
  type TicketId,
  type TicketTask,
} from "../protocol.ts";
import { endedWithRuntime } from "./runtime-deaths.ts";
import { grantedSandboxes } from "./sandboxes.ts";
import { endsPaused, steeringOf } from "../steering/allowances.ts";
import { endSpansOf, freeRollouts, passOn } from "./spans.ts";
import { becomeWary, blameLapse } from "./suspects.ts";

/** The live ticket that `id` names; null when the grant has ended or the epoch is of another grant. */
export function liveTicket(ledger: Ledger, id: TicketId): Ticket | null {
  if (id.protocol !== PROTOCOL) return null;
  const ticket = ledger.ticket(id.ticket);
  if (ticket?.epoch !== id.epoch) return null;
  return ticket;
}

/** The grant as the call of its executor says it is: without what that has nothing under way of any more, which others may have. The same where nothing changes. */
export function withoutRest(ticket: Ticket, { holds: said, beside }: GivesBack): Ticket {
  const { lanes, requests, generation, scoring, beside: before, ...rest } = ticket;
  // What is said of an older allowance says nothing of the newest.
  const holds = said !== undefined && (said.size ?? 0) === (ticket.allows?.size ?? 0) ? said : undefined;
  const left = {
    lanes: Math.min(lanes, holds?.lanes ?? lanes),
    requests: Math.min(requests, holds?.requests ?? requests),
    ...(generation === undefined ? {} : { generation: Math.min(generation, holds?.generation ?? generation) }),
    ...(scoring === undefined ? {} : { scoring: Math.min(scoring, holds?.scoring ?? scoring) }),
  };
  const fell = left.lanes < lanes || left.requests < requests || left.generation !== generation || left.scoring !== scoring;
  return fell || before !== beside ? { ...rest, ...left, ...(beside === undefined ? {} : { beside }) } : ticket;
}

const nameOf = ({ id, epoch, executor }: Ticket): string => `${id}-${epoch} to executor ${executor}`;

/** Ends a grant and gives back what it still holds, in the transaction of the caller. */
export function endTicket(ledger: Ledger, head: RunHead, ticket: Ticket): void {
  const claims = ledger.claimsOf(ticket.id);
  endSpansOf(ledger, ticket);
  ledger.deleteClaimsOf(ticket.id);
  ledger.deleteTicket(ticket.id);
  keepProgress(head, ticket.progressed_at);
  for (const claim of claims) if (!passOn(ledger, claim)) returnUnits(ledger, head, claim);
}

/**
 * Ends every grant whose lease and grace are over, and at once those whose process is known to be dead: of an older boot, since a restart of the
 * whole stack is nobody's fault, and of a runtime that ended by itself, which one of its units may have done. Returns how many ended.
 */
export function lapseTickets(ledger: Ledger, head: RunHead, context: RunContext): number {
  let lapsed = 0;
  for (const ticket of ledger.tickets()) {
    const foreign = ticket.boot !== context.boot;
    const died = !foreign && endedWithRuntime(ticket, head, context);
    if (!foreign && !died && context.now < ticket.lease_until + context.timing.grace) continue;
    if (!foreign) {
      blameLapse(ledger, head, ticket, context);
      becomeWary(ledger, head, ticket);
      head.lapses++;
    }
    // Of a process that died it cannot be told whether the rows killed it; of three it can.
    if (READERS.includes(ticket.task.kind)) head.lost_preparations = (head.lost_preparations ?? 0) + 1;
    if (ticket.task.kind === "finalise" && !foreign) failAttempt(head, null, context);
    endTicket(ledger, head, ticket);
    debugEvent(
      ledger,
      head,
      context,
      () => `Grant ${nameOf(ticket)} ended: ${foreign ? "its service was started again" : died ? "its runtime ended" : "its executor fell silent"}`,
    );
    lapsed++;
  }
  return lapsed;
}

/** Of tasks that read what others have written: what kills one kills the next. */
const READERS: readonly TicketTask["kind"][] = ["prepare", "adopt", "intake", "batch"];

/** Final files are written, rows taken over and segments merged without the environment; what goes into batches is its prompts. */
const needsCode = ({ task }: Ticket): boolean => task.kind === "units" || task.kind === "prepare" || task.kind === "batch";

function grantOf(ledger: Ledger, head: RunHead, ticket: Ticket, context: RunContext): Grant {
  return {
    kind: "grant",
    protocol: PROTOCOL,
    ticket: ticket.id,
    epoch: ticket.epoch,
    task: ticket.task,
    config: ledger.config(),
    ...grantedTo(ticket),
    ...(head.health.answered === true ? { answered: true } : {}),
    lease_ms: context.timing.lease,
    beat_ms: context.timing.beat,
    ...(head.env_digest === null || !needsCode(ticket) ? {} : { env_digest: head.env_digest }),
    ...(head.env_digests === undefined ? {} : { marked: true }),
    ...(head.last_scores === undefined ? {} : { scores_only: true }),
    ...grantedSandboxes(ledger, head, ticket),
    tries_again: true,
  };
}

/** With the number of the allowance, where it is one: nothing has begun under a grant that is repeated. */
function grantedTo({ lanes, requests, generation, scoring, allows }: Ticket): Holding & Pick<Grant, "size"> {
  if (allows !== undefined) return allows;
  return { lanes, requests, ...(generation === undefined ? {} : { generation }), ...(scoring === undefined ? {} : { scoring }) };
}

function smallestFreeId(tickets: readonly Ticket[]): number {
  let id = 1;
  // They come by id.
  for (const ticket of tickets) if (ticket.id === id) id++;
  return id;
}

/** What is done beside the units. */
type BesideKind = "prepare" | "adopt" | "merge" | "intake" | "batch";

function taskFor(head: RunHead, { stop_when }: RunConfig, beside: BesideKind | null): TicketTask {
  if (beside === "merge" || beside === "intake" || beside === "batch") return { kind: beside };
  const { import: source, import_part: part = 0, import_through: through } = head;
  const folder =
    source === null
      ? null
      : { results: source.results, ...(source.in_parts === true ? { in_parts: true as const } : {}), dataset_digest: source.dataset_digest };
  if (beside === "adopt" && folder !== null) return { kind: "adopt", source: folder, part, ...(through === undefined ? {} : { through }) };
  if (head.phase === "preparing" || beside === "prepare") {
    const pinned = head.n === null || head.dataset_digest === null ? null : { count: head.n, digest: head.dataset_digest };
    const examples = source?.num_examples;
    const adopt = folder === null ? null : { ...folder, ...(examples === undefined ? {} : { num_examples: examples }) };
    // Whether a folder's rows are of these examples is known when all of them are read.
    return {
      kind: "prepare",
      attempt: head.attempt,
      pinned,
      adopt,
      // A rule to stop by is for all examples of the run together, in one order.
      ...(adopt === null && stop_when === undefined ? { in_parts: true } : {}),
      ...(stop_when === undefined ? {} : { whole_order: true }),
      ...(beside === "prepare" ? { beside: true } : {}),
    };
  }
  return head.phase === "finalising" ? { kind: "finalise", attempt: head.attempt, generation: head.generation } : { kind: "units" };
}

/** A ticket's part of what is left of a limit, as large as its part of the requests and at least one, so that what it runs gets on; nothing without a limit. */
function shareOf(left: number, requests: number, freeRequests: number): number | undefined {
  if (!Number.isFinite(left)) return undefined;
  const part = Number.isFinite(freeRequests) ? (left * requests) / freeRequests : left / 2;
  return Math.min(left, Math.max(1, Math.round(part)));
}

/** As many as its requests need, or its part of those that the environment allows in all. */
function lanesOf(head: RunHead, tickets: readonly Ticket[], requests: number, { max_concurrent, rollouts_per_example }: RunConfig): number {
  const { concurrency = null } = head;
  const needed = lanesFor(requests, rollouts_per_example);
  if (concurrency === null) return needed;
  return Math.min(freeLanes(head, tickets), max_concurrent > 0 ? Math.ceil((concurrency * requests) / max_concurrent) : needed);
}

/** Requests of the run that an executor can carry. */
const roomOf = ({ sampling_args }: RunConfig, { free, streams = 1 }: Pick<JoinRequest, "free" | "streams">): number =>
  free * (asksForStream(sampling_args) ? streams : 1);

/** Lanes and requests a new ticket may have; null when there is nothing to grant. */
function allowance(ledger: Ledger, head: RunHead, request: JoinRequest, context: RunContext): Holding | null {
  const tickets = ledger.tickets();
  if (head.phase === "finalising" && !(mayFinalise(head, context) && (request.sorts === true || !isSorted(ledger, head)))) return null;
  if (isLoadingHeldUp(ledger, head, context)) return null;
  if (head.phase !== "open" && head.phase !== "draining") return tickets.length === 0 ? { lanes: 1, requests: 0 } : null;
  const hasWork = head.phase === "draining" ? lastUnits(head) > 0 : head.pending > 0 || freeRollouts(ledger, head, context) > 0;
  if (!hasWork || head.paused !== undefined || (head.phase === "open" && context.now < head.health.backoff_until)) return null;
  const config = ledger.config();
  // A run without a limit leaves half of the executor to others.
  const share = config.max_concurrent > 0 ? request.free : Math.ceil(request.free / 2);
  const room = roomOf(config, { ...request, free: share });
  const free = freeRequests(config, head, tickets, context);
  // As many executors as the run wants share its requests evenly.
  const workers = freeWorkers(config, tickets, context);
  const even = Number.isFinite(workers) ? Math.ceil(free / Math.max(1, workers)) : free;
  const requests = Math.min(room, even);
  if (requests <= 0) return null;
  const generation = shareOf(freeGeneration(config, tickets), requests, free);
  const scoring = shareOf(freeScoring(config, tickets), requests, free);
  return {
    lanes: lanesOf(head, tickets, requests, config),
    requests,
    ...(generation === undefined ? {} : { generation }),
    ...(scoring === undefined ? {} : { scoring }),
  };
}

/** Work beside the units that the run wants done, of what the executor does. */
function besideFor(ledger: Ledger, head: RunHead, { adopts, merges, intakes, batches }: JoinRequest, context: RunContext): BesideKind | null {
  if (head.pushed !== undefined) return intakes === true && wantsIntake(head, ledger.tickets()) ? "intake" : null;
  if (wantsPreparer(head, ledger.tickets()) && !isLoadingHeldUp(ledger, head, context)) return "prepare";
  if (adopts === true && wantsAdopter(head, ledger.tickets())) return "adopt";
  if (batches === true && wantsBatcher(head, ledger.tickets(), context)) return "batch";
  return merges === true && wantsMerger(head, ledger.tickets(), context) ? "merge" : null;
}

/** A request of a process that has ended may still be on its way. */
const isOfThisLife = ({ boot, runtime }: JoinRequest, context: RunContext): boolean =>
  boot === context.boot && (runtime === undefined || runtime === context.runtime);

/**
 * Grants lanes to an executor, or repeats the grant it already has (its first answer may have been lost).
 * The executor counts its lease from the join that was answered, so a repeated grant renews it like a beat would.
 */
export function join(ledger: Ledger, head: RunHead, request: JoinRequest, context: RunContext): JoinAnswer {
  if (head.phase === "settled" || (head.phase === "draining" && (lastUnits(head) === 0 || request.scores_only !== true))) return { kind: "closed" };
  if (isSuspended(ledger.config(), head, context) || !isOfThisLife(request, context) || request.protocol !== PROTOCOL) return { kind: "none" };
  if (!mayWork(head, request) || (ledger.config().rescored_from !== undefined && request.rescores !== true)) return { kind: "none" };
  if (head.batching !== undefined && request.batches !== true) return { kind: "none" };
  const own = ledger.tickets().filter((ticket) => ticket.executor === request.executor);
  const newest = own.reduce<Ticket | null>((last, ticket) => (last === null || ticket.joined > last.joined ? ticket : last), null);
  if (newest !== null && request.seq <= newest.joined) {
    const repeated = request.seq === newest.joined && context.now < newest.lease_until && (head.drain === null || head.last_scores !== undefined);
    if (!repeated) return { kind: "none" };
    const renewed = { ...newest, lease_until: context.now + context.timing.lease };
    ledger.putTicket(renewed);
    return grantOf(ledger, head, renewed, context);
  }
  // It asks anew: its earlier session is over, only the leave was lost. What is done beside the units goes on.
  for (const ticket of own) if (!isBeside(ticket) || head.phase === "preparing") endTicket(ledger, head, ticket);
  const beside = besideFor(ledger, head, request, context);
  const allowed = beside !== null ? { lanes: 0, requests: 0 } : allowance(ledger, head, request, context);
  if (allowed === null) return { kind: "none" };
  head.epoch++;
  if ((head.phase !== "open" && head.phase !== "draining") || beside === "prepare") head.attempt++;
  const ticket: Ticket = {
    id: smallestFreeId(ledger.tickets()),
    epoch: head.epoch,
    executor: request.executor,
    joined: request.seq,
    boot: request.boot,
    ...(request.runtime === undefined ? {} : { runtime: request.runtime }),
    task: taskFor(head, ledger.config(), beside),
    ...allowed,
    room: roomOf(ledger.config(), request),
    ...(request.steers === true ? { steers: true } : {}),
    progressed_at: context.now,
    lease_until: context.now + context.timing.lease,
    started: [],
    alone: false,
    seq: 0,
  };
  ledger.putTicket(ticket);
  startClock(ledger, head, context);
  debugEvent(ledger, head, context, () => `Granted ${nameOf(ticket)}: ${ticket.task.kind}, lanes ${ticket.lanes}, requests ${ticket.requests}`);
  return grantOf(ledger, head, ticket, context);
}

/** The run's time limit counts from its first grant of this generation. */
function startClock(ledger: Ledger, head: RunHead, context: RunContext): void {
  const minutes = ledger.config().timeout_minutes;
  head.started_at ??= context.now;
  if (head.deadline_at === null && minutes !== null) head.deadline_at = context.now + minutes * 60_000;
}

/**
 * The grant with its lease renewed and what its executor says of it: a beat, a claim and a commit do the same. Null when the lease has ended: a
 * late call revives nothing. The caller stores it.
 */
export function renewed(ledger: Ledger, head: RunHead, ticket: Ticket, call: GivesBack & Partial<Report>, context: RunContext): Ticket | null {
  if (context.now >= ticket.lease_until) return null;
  const { started = ticket.started, vitals } = call;
  noteLimited(ledger, head, vitals, context);
  const progressed = withModels(head, withProgress(head, withoutRest(ticket, call), vitals?.progress, context), vitals?.response_models);
  return { ...progressed, lease_until: context.now + context.timing.lease, started };
}

/** Only renews the lease, where nothing else did for a while. */
export function beat(ledger: Ledger, head: RunHead, request: BeatRequest, context: RunContext): BeatAnswer {
  const known = liveTicket(ledger, request);
  const ticket = known === null ? null : renewed(ledger, head, known, request, context);
  if (ticket === null) return { kind: "lost" };
  ledger.putTicket(ticket);
  const { orders, ...rest } = wordFor(ledger, head, ticket, request, context);
  return { kind: orders, ...rest };
}

/** The grant with the requests that were answered under it so far, as its executor says. */
export function withProgress(head: RunHead, ticket: Ticket, progress: number | undefined, context: RunContext): Ticket {
  if (progress === undefined || progress <= (ticket.progress ?? 0)) return ticket;
  noteAnswer(head);
  return { ...ticket, progress, progressed_at: context.now };
}

/** The grant with what answers under it said of their model; the run counts what is new of it. */
function withModels(head: RunHead, ticket: Ticket, told: ResponseModels | undefined): Ticket {
  if (told === undefined) return ticket;
  const { response_models: before = NO_RESPONSE_MODELS } = ticket;
  const since = responseModelsSince(before, told);
  if (isNone(since)) return ticket;
  head.response_models = addResponseModels(head.response_models ?? NO_RESPONSE_MODELS, since);
  return { ...ticket, response_models: addResponseModels(before, since) };
}

/** What the answer to a call under a grant says beside its own; null for a call of a grant that has ended. */
export function wordFor(
  ledger: Ledger,
  head: RunHead,
  ticket: Ticket | null,
  call: GivesBack,
  context: RunContext,
): { readonly orders: Orders } & Ending & Steering {
  const orders = ordersFor(ledger, head, context);
  if (ticket === null) return { orders, ...endingOf(head) };
  const ends = orders === "continue" && endsPaused(ticket, head);
  return { orders: ends ? "drain" : orders, ...endingOf(head), ...steeringOf(ticket, call) };
}

/** What executors of the run are to do with what they have open. */
function ordersFor(ledger: Ledger, head: RunHead, context: RunContext): Orders {
  if (head.last_scores !== undefined) return "continue";
  if (head.drain === "abort" || isSuspended(ledger.config(), head, context)) return "abort";
  return head.drain === "drain" ? "drain" : "continue";
}

/** Beside the order to stop now: what becomes of what is open. */
function endingOf({ drain, scores_rest, last_scores }: RunHead): Ending {
  if (drain !== "abort" || last_scores !== undefined) return {};
  return { ends: scores_rest === true ? "scored" : "closed" };
}

/** The executor's own end of a grant; whatever it still holds goes back at once. Harmless when repeated or late. */
export function leave(ledger: Ledger, head: RunHead, request: LeaveRequest): void {
  const ticket = liveTicket(ledger, request);
  if (ticket === null) return;
  if (request.undivided === true) head.undivided = true;
  endTicket(ledger, head, ticket);
}
