import { addUnit } from "../../src/metrics/totals.ts";
import { codeFound } from "./code-wait.ts";
import type { RunContext } from "./context.ts";
import { logEvent } from "./events.ts";
import type { RunHead } from "./head.ts";
import type { Done, Ledger, Ticket } from "./ledger.ts";
import { endRun, openRun } from "./lifecycle.ts";
import type { Ack, AdoptRequest, PreparedRequest, TicketId } from "./protocol.ts";
import type { RolloutSummary } from "../../src/metrics/rollout-summary.ts";
import { isOwing, owedOf, termsOf } from "./repair.ts";
import { liveTicket } from "./tickets.ts";

/** The live prepare ticket named by a request, while the run is preparing. */
function preparing(ledger: Ledger, head: RunHead, request: TicketId): Ticket | null {
  const ticket = liveTicket(ledger, request);
  return ticket !== null && ticket.task.kind === "prepare" && head.phase === "preparing" ? ticket : null;
}

/** Pins the inputs in one transaction: the list of units, and what they were read from, never changes afterwards but at its end. */
export function prepared(ledger: Ledger, head: RunHead, request: PreparedRequest, context: RunContext): Ack {
  const ticket = preparing(ledger, head, request);
  if (ticket === null) return { kind: "lost" };
  if (ticket.task.kind === "prepare" && ticket.task.attempt !== request.attempt) return { kind: "lost" };
  if (head.n !== null && request.count < head.n) {
    endRun(ledger, head, context, "FAILED", "abort", {
      code: "dataset_changed",
      message: `The data set has ${request.count} rows now and had at least ${head.n} before.`,
      hint: "Use the same data, or start a new run.",
    });
    return { kind: "ok" };
  }
  delete head.lost_preparations;
  const added = request.count - (head.n ?? 0);
  ledger.putChunks(request.chunks);
  head.input_bytes += request.chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
  head.n = request.count;
  head.pinned_for = ledger.config().num_examples;
  head.pending += added;
  head.dataset_digest = request.digest;
  // What is pinned was compared before the data was read.
  head.env_digest ??= request.env_digest;
  codeFound(ledger, head, context);
  head.dataset_name = request.dataset_name ?? null;
  head.pass_threshold = request.pass_threshold;
  if (request.reward_range !== undefined) head.reward_range = request.reward_range;
  if (request.reward_weights !== undefined) head.reward_weights = request.reward_weights;
  head.env_sampling_args = request.env_sampling_args;
  head.concurrency = request.concurrency ?? null;
  head.tools = request.tools ?? null;
  logEvent(ledger, head, context, "INFO", `${request.count} examples x ${ledger.config().rollouts_per_example} rollouts pinned`);
  if (request.open) openRun(ledger, head, context, ticket.id);
  return { kind: "ok" };
}

/** Takes over rows of a result folder as done units, before the run opens. Repeats and units known already change nothing. */
export function adopt(ledger: Ledger, head: RunHead, request: AdoptRequest, context: RunContext): Ack {
  if (preparing(ledger, head, request) === null || head.n === null) return { kind: "lost" };
  if (request.through !== undefined && Number.isSafeInteger(request.through)) head.import_through = request.through;
  const taken: Done[] = [];
  let rollouts = 0;
  for (const unit of request.units) {
    if (unit.unit >= head.n || ledger.done(unit.unit) !== null) continue;
    const known = unit.rollouts.filter((rollout): rollout is RolloutSummary => rollout !== null);
    head.totals = addUnit(head.totals, known);
    taken.push({ unit: unit.unit, segment: request.segment, offset: unit.offset, length: unit.length, rollouts: unit.rollouts, owed: false });
    rollouts += known.length;
  }
  if (taken.length === 0) return { kind: "ok" };
  ledger.putDones(taken);
  delete head.lost_preparations;
  head.seq++;
  const message = `${taken.length} units, ${rollouts} rollouts taken over from a result folder`;
  ledger.putEvent({
    seq: head.seq,
    time: context.now,
    type: "commit",
    level: "INFO",
    message,
    rollouts,
    units: taken.map(({ unit }) => unit),
    segment: request.segment,
  });
  return { kind: "ok" };
}

/** Ends the adoption: what the folder did not have, or has as an infrastructure error, becomes pending. */
export function opened(ledger: Ledger, head: RunHead, request: TicketId, context: RunContext): Ack {
  const ticket = preparing(ledger, head, request);
  if (ticket === null || head.n === null) return { kind: "lost" };
  head.cursor = head.n;
  head.pending = 0;
  head.done = 0;
  const terms = termsOf(head);
  let missing = 0;
  for (const done of ledger.doneFrom(0)) {
    const owed = isOwing(owedOf(done, terms));
    if (owed) ledger.putDone({ ...done, owed: true });
    else head.done++;
    const hi = owed ? done.unit + 1 : done.unit;
    if (hi > missing) ledger.putReturned({ lo: missing, hi });
    missing = done.unit + 1;
  }
  if (missing < head.n) ledger.putReturned({ lo: missing, hi: head.n });
  head.pending = head.n - head.done;
  openRun(ledger, head, context, ticket.id);
  return { kind: "ok" };
}
