import { type DoneBefore, doneBefore } from "./done-before.ts";
import { holdUnits } from "./adoption.ts";
import { codeFound } from "../grants/code-wait.ts";
import { loaded } from "../grants/load-wait.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import { headVersion, type RunHead } from "../state/head.ts";
import type { Ledger, Ticket } from "../state/ledger.ts";
import { endPinning, endRun, openRun } from "./lifecycle.ts";
import type { Ack, PreparedRequest, TicketId } from "../protocol.ts";
import { endTicket, liveTicket } from "../grants/tickets.ts";

/** `before`: looked through in turns; null or absent = to be looked through now. */
export type LookedAtPrepared = PreparedRequest & { readonly before?: DoneBefore | null };

/** The live prepare ticket named by a request, while the run is preparing or open for more. */
function preparing(ledger: Ledger, head: RunHead, request: TicketId): Ticket | null {
  const ticket = liveTicket(ledger, request);
  const reads = head.phase === "preparing" || (head.phase === "open" && head.pinning === true);
  return ticket !== null && ticket.task.kind === "prepare" && reads ? ticket : null;
}

/**
 * Pins inputs, each part in one transaction: the list of units, and what they were read from, never changes afterwards but at its end. The run
 * opens with the first part; the ticket ends with the last.
 */
export function prepared(ledger: Ledger, head: RunHead, request: LookedAtPrepared, context: RunContext): Ack {
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
  const pinned = ledger.config().schedule?.dataset_digest;
  // A resume may take more of the data.
  if (pinned !== undefined && request.more !== true && head.generation === 1 && request.digest !== pinned) {
    head.dataset_digest = request.digest;
    endRun(ledger, head, context, "FAILED", "abort", {
      code: "dataset_changed",
      message: "The data set is another than that of the runs before.",
      hint: 'Bring it back as it was; or give the schedule data = "latest", or another data set.',
    });
    return { kind: "ok" };
  }
  delete head.lost_preparations;
  loaded(ledger, head, context);
  const added = request.count - (head.n ?? 0);
  ledger.putChunks(request.chunks);
  if (request.baseline !== undefined) ledger.stopping.putBaseline(head.n ?? 0, request.baseline);
  const { order_seed } = ledger.config();
  for (const part of request.permuted ?? []) if (order_seed !== undefined && part.lo >= (head.n ?? 0)) ledger.order.permute(part, order_seed);
  head.input_bytes += request.chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
  head.n = request.count;
  if (head.batching === undefined) head.pending += added;
  else head.batching = { ...head.batching, unasked: head.batching.unasked + added };
  head.dataset_digest = request.digest;
  // What is pinned was compared before the data was read.
  head.env_digest ??= request.env_digest;
  codeFound(ledger, head, context);
  head.dataset_name = request.dataset_name ?? null;
  if (request.n_not_run !== undefined) head.n_not_run = request.n_not_run;
  head.pass_threshold = request.pass_threshold;
  if (request.reward_range !== undefined) head.reward_range = request.reward_range;
  if (request.reward_weights !== undefined) head.reward_weights = request.reward_weights;
  head.env_sampling_args = request.env_sampling_args;
  head.concurrency = request.concurrency ?? null;
  if (request.whole === true) head.undivided = true;
  if (request.results_shape !== undefined) head.results_shape = request.results_shape;
  head.tools = request.tools ?? null;
  // A run that grows while rows of a folder are taken over has its new units at the end.
  if (head.import !== null && head.held === undefined) holdUnits(ledger, head, request.lacks ?? [], request.before ?? doneBefore(ledger, head));
  if (head.phase === "preparing") openRun(head, context);
  if (request.more === true) {
    head.pinning = true;
    head.version = headVersion(head);
    return { kind: "ok" };
  }
  endPinning(head);
  if (request.source !== undefined) {
    head.rescored = { source: request.source, changed: head.rescored?.changed ?? 0 };
    head.input_bytes += request.source.bytes;
  }
  head.pinned_for = ledger.config().num_examples;
  logEvent(ledger, head, context, "INFO", `${request.count} examples x ${ledger.config().rollouts_per_example} rollouts pinned`);
  endTicket(ledger, head, ticket);
  return { kind: "ok" };
}
