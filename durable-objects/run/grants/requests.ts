import { isSpendingError } from "../../../src/errors/codes.ts";
import { fail, type Failure, ok, type Result } from "../../../src/errors/result.ts";
import { beginClosing, endClosing } from "../batching/closing.ts";
import type { RunContext } from "../state/context.ts";
import { logEnvironment, logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import { observeRefusal } from "./health.ts";
import { failLoading } from "./load-wait.ts";
import type { Ledger } from "../state/ledger.ts";
import { failFinalising } from "../course/finalise.ts";
import { endLastScores } from "../course/last-scores.ts";
import { endByLimit, endRun, markChanged, TERMINAL } from "../course/lifecycle.ts";
import { endedBy } from "../course/ended-by.ts";
import { isSuspended } from "./offers.ts";
import type { Ack, FailAnswer, FailRequest, NoteRequest } from "../protocol.ts";
import { withProgress, liveTicket } from "./tickets.ts";

/**
 * Cancel: no new units from now on, open ones finish, and what is generated besides is scored. A suspended run has none open. A run that has ended and only
 * scores the rest stops that.
 */
export function cancel(ledger: Ledger, head: RunHead, context: RunContext): Result<null> {
  if (head.last_scores !== undefined) {
    endLastScores(head);
    logEvent(ledger, head, context, "INFO", "Scoring of what is generated was ended; a resume scores the rest");
    return ok(null);
  }
  if (head.status === "CANCELLED") return ok(null);
  if (TERMINAL.includes(head.status)) return fail("illegal_transition", `The run has already ended: ${head.status}.`);
  // What was pushed of it stays, in its order.
  if (head.pushed !== undefined) {
    head.pushed = { ...head.pushed, closing: "CANCELLED" };
    return ok(null);
  }
  // The first time; who cancels once more waits for nothing.
  if (beginClosing(ledger, head, { why: "cancelled", failure: null }, context) || endClosing(ledger, head, context)) return ok(null);
  endRun(ledger, head, context, "CANCELLED", "drain", null);
  head.scores_rest = true;
  return ok(null);
}

/** Ctrl-C: open units are given up, everything committed stays, and the run waits for a resume. */
export function interrupt(ledger: Ledger, head: RunHead, context: RunContext): Result<null> {
  if (head.phase !== "preparing" && head.phase !== "open") return fail("illegal_transition", `The run is not working any more: ${head.status}.`);
  if (head.pushed !== undefined) return fail("illegal_transition", "The evaluation was pushed: nothing of it is made here, so nothing is interrupted.");
  if (isSuspended(ledger.config(), head, context)) return ok(null);
  head.interrupted = true;
  markChanged(head, context);
  logEvent(ledger, head, context, "WARNING", "Run interrupted; it waits for a resume");
  return ok(null);
}

/** Who has the link of this digest may read the run; null: nobody but its team. Possible in every state. */
export function share(head: RunHead, digest: string | null, context: RunContext): Result<null> {
  if (digest === null) delete head.link_digest;
  else head.link_digest = digest;
  markChanged(head, context);
  return ok(null);
}

/** What an executor cannot go on after ends the whole run, but for a refusal that may be this executor's alone (health.ts). */
export function failRun(ledger: Ledger, head: RunHead, request: FailRequest, context: RunContext): FailAnswer {
  let ticket = liveTicket(ledger, request);
  if (ticket === null) return { kind: "lost" };
  if (head.phase === "finalising" && ticket.task.kind === "finalise") {
    failFinalising(ledger, head, ticket, request, context);
    return { kind: "ok" };
  }
  if (head.last_scores !== undefined) {
    endLastScores(head);
    logEvent(ledger, head, context, "WARNING", `What is generated is not scored now: ${request.failure.message}; a resume scores it`);
  }
  if (head.phase !== "preparing" && head.phase !== "open") return { kind: "ok" };
  if (request.passing === true) {
    failLoading(ledger, head, ticket, request.failure, context);
    return { kind: "ok" };
  }
  ticket = withProgress(head, ticket, request.progress, context);
  if (isSpendingError(request.failure.code)) {
    endBySpending(ledger, head, request.failure, context);
    return { kind: "ok" };
  }
  const outcome = observeRefusal(ledger, head, ticket, request.failure, context);
  if (typeof outcome !== "number") {
    endRun(ledger, head, context, "FAILED", "abort", outcome);
    return { kind: "ok" };
  }
  if (head.health.refusals === 1) {
    const { code, message } = request.failure;
    const seconds = Math.round(context.timing.refusals / 1_000);
    logEvent(
      ledger,
      head,
      context,
      "WARNING",
      `${code}: ${message}; other requests were answered, so the run goes on until nothing but refusals comes for ${seconds} s`,
    );
  }
  return { kind: "ok", pause_ms: outcome };
}

/** Of a call that was not sent since a budget holds: nothing more will be. What is generated is kept, and scored where its scores cost nothing. */
function endBySpending(ledger: Ledger, head: RunHead, failure: Failure, context: RunContext): void {
  endByLimit(ledger, head, context, endedBy(failure) === null ? "FAILED" : "CANCELLED", failure);
}

export function note(ledger: Ledger, head: RunHead, request: NoteRequest, context: RunContext): Ack {
  if (liveTicket(ledger, request) === null) return { kind: "lost" };
  if (request.environment === undefined) logEvent(ledger, head, context, request.level, request.message);
  else logEnvironment(ledger, head, context, request.environment);
  return { kind: "ok" };
}
