import { fail, ok, type Result } from "../../../src/errors/result.ts";
import { isSame } from "../../../src/pushed/sample-mark.ts";
import { changedFacts, type PushedChanges } from "../../../src/pushed/pushed-facts.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import { freshFinalise, type RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { markChanged } from "../course/lifecycle.ts";
import type { PushedHead } from "./pushed-head.ts";
import type { BatchAnswer, BatchRequest, ClosingRequest } from "./pushed-protocol.ts";

/** What whoever pushes an evaluation may do to it. In whatever state it is: one that has settled is opened again by what is new. */

const NOT_PUSHED = fail("illegal_transition", "The rollouts of this evaluation are made here: nothing is pushed to it.", "Create an evaluation of its own.");
const BUSY = fail("run_busy", "The evaluation is writing its results.", "Try again in a moment.");

const isWriting = ({ phase }: RunHead): boolean => phase === "draining" || phase === "finalising";

/** Takes a batch that is stored; its samples are read by an executor afterwards. */
export function pushBatch(ledger: Ledger, head: RunHead, request: BatchRequest, context: RunContext): Result<BatchAnswer> {
  const { pushed } = head;
  if (pushed === undefined) return NOT_PUSHED;
  if (ledger.pushed.batchWith(request.digest) !== null) return ok({ kind: "known" });
  let known = 0;
  const within = new Map<string, string>();
  for (const [position, id, digest] of request.ids) {
    const before = ledger.pushed.digestOfId(id);
    if (!isSame(before ?? within.get(id) ?? digest, digest)) return ok({ kind: "conflict", position, id });
    within.set(id, digest);
    if (before !== null) known++;
  }
  if (request.samples > 0 && known === request.samples) return ok({ kind: "known" });
  const { object } = request;
  if (object === null) return ok({ kind: request.samples === 0 ? "known" : "unknown" });
  if (isWriting(head)) return BUSY;
  if (request.samples === 0) return ok({ kind: "known" });
  ledger.pushed.addBatch({ ...request, object });
  open(head, context);
  head.pushed = {
    ...pushed,
    batches: pushed.batches + 1,
    unread: pushed.unread + 1,
    bytes: pushed.bytes + request.bytes,
    closing: null,
    placing: null,
    changed: true,
  };
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", `Batch ${pushed.batches + 1}: ${request.samples} samples, ${request.bytes} bytes`);
  return ok({ kind: "added" });
}

/** What is known of the evaluation changes; its files say so once it is closed again. */
export function describePushed(ledger: Ledger, head: RunHead, changes: PushedChanges, context: RunContext): Result<null> {
  if (head.pushed === undefined) return NOT_PUSHED;
  const before = ledger.pushed.facts();
  const facts = changedFacts(before, changes);
  if (JSON.stringify(facts) === JSON.stringify(before)) return ok(null);
  ledger.pushed.putFacts(facts);
  head.pushed = { ...head.pushed, changed: true };
  markChanged(head, context);
  return ok(null);
}

/** All is there: rows are put into their order, averages made, files written. Where nothing is new since they were, nothing happens. */
export function closePushed(ledger: Ledger, head: RunHead, { status, message }: ClosingRequest, context: RunContext): Result<null> {
  const { pushed } = head;
  if (pushed === undefined) return NOT_PUSHED;
  if (isWriting(head)) return head.status === status && !pushed.changed ? ok(null) : BUSY;
  if (head.phase === "settled") {
    if (head.status !== status && status !== "COMPLETED") return fail("illegal_transition", `The evaluation has already ended: ${head.status}.`);
    if (!pushed.changed && head.unwritten !== true && head.status === status) return ok(null);
    return writeAgain(ledger, head, pushed, status, context);
  }
  head.pushed = { ...pushed, closing: status, ...(message === null ? {} : { message }) };
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", `Closed as ${status}: ${pushed.batches} batches`);
  return ok(null);
}

/** Rows are in their places: only what is said of them is new. */
function writeAgain(ledger: Ledger, head: RunHead, pushed: PushedHead, status: RunHead["status"], context: RunContext): Result<null> {
  beginAnew(head, context);
  head.status = status;
  head.failure = null;
  head.phase = "finalising";
  head.ended_at ??= context.now;
  head.pushed = { ...pushed, changed: false };
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", "What is known of the evaluation has changed: its files are written again");
  return ok(null);
}

/** Of a settled evaluation, so that what was made of its files is not taken for that of the next ones. */
function beginAnew(head: RunHead, context: RunContext): void {
  head.generation++;
  head.generation_started_at = context.now;
  head.finalise = freshFinalise();
  head.settled_at = null;
  delete head.unwritten;
  delete head.lost_preparations;
}

/** More comes. */
function open(head: RunHead, context: RunContext): void {
  if (head.phase !== "settled") return;
  beginAnew(head, context);
  head.phase = "open";
  head.status = "RUNNING";
  head.failure = null;
  head.ended_at = null;
}
