import { lacksState, mendHint } from "../../../src/errors/leftovers.ts";
import type { Failure } from "../../../src/errors/result.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import { isHeld } from "../batching/job.ts";
import { withoutClosing } from "../batching/batching-head.ts";
import { scoreTheRest } from "./last-scores.ts";
import { FINALISINGS_TO_FAIL } from "./finalise-attempts.ts";
import { freshFinalise, headVersion, type RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { wantHubPush } from "../sending/hub-push.ts";
import type { RunStatus } from "../../../src/config/run-status.ts";

/** Preparations in a row that may be lost: the same rows are read by each, and what kills or freezes one kills the next. */
export const PREPARATIONS_TO_FAIL = 3;

export const TERMINAL: readonly RunStatus[] = ["COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"];

/**
 * Makes the public status terminal, at once; the run drains until no ticket lives. `abort` also ends tickets' open units.
 */
export function endRun(ledger: Ledger, head: RunHead, context: RunContext, status: RunStatus, drain: "drain" | "abort", failure: Failure | null): void {
  head.status = status;
  head.phase = "draining";
  head.drain = drain;
  head.failure = failure;
  head.ended_at = context.now;
  head.interrupted = false;
  delete head.paused;
  delete head.scores_rest;
  delete head.last_scores;
  if (head.batching?.closing !== undefined) head.batching = withoutClosing(head.batching);
  // What it did not get to stays as it ended; the next resume counts it anew, and reads on.
  delete head.repair;
  endPinning(head);
  markChanged(head, context);
  const text = failure === null ? `Run ${status}` : `Run ${status}: ${failure.message}`;
  logEvent(ledger, head, context, failure === null ? "INFO" : "ERROR", text);
}

/** No further inputs are being pinned: there are all, or a resume reads on. */
export function endPinning(head: RunHead): void {
  delete head.pinning;
  head.version = headVersion(head);
}

/**
 * A limit of the run is reached, of its time or of what it may spend: nothing more is generated, and nothing is generated again. What is generated is kept, and
 * scored where its example is complete.
 */
export function endByLimit(ledger: Ledger, head: RunHead, context: RunContext, status: RunStatus, failure: Failure): void {
  endRun(ledger, head, context, status, "abort", failure);
  head.scores_rest = true;
}

/** A change that lists and viewers show soon. */
export function markChanged(head: RunHead, context: RunContext): void {
  head.projection = { ...head.projection, version: head.projection.version + 1, due: true, retry_at: context.now, tries: 0, done: head.done };
}

/** Lists show units done since they were last told; once in a while is enough. */
export function showProgress(head: RunHead, context: RunContext): void {
  if (head.phase !== "settled" && !head.projection.due && head.done !== (head.projection.done ?? 0)) markChanged(head, context);
}

function complete(ledger: Ledger, head: RunHead, context: RunContext): void {
  if (head.unscored !== undefined) logEvent(ledger, head, context, "WARNING", lacksState(head.unscored.rollouts, head.unscored.state));
  const failed = Object.values(head.totals.errors).reduce((sum, count) => sum + count, 0);
  if (head.totals.rollouts > 0 && failed === head.totals.rollouts) {
    const codes = Object.entries(head.totals.errors).map(([code, count]) => `${code} (${count})`);
    endRun(ledger, head, context, "FAILED", "drain", {
      code: "all_rollouts_failed",
      message: `Every rollout ended in an error: ${codes.join(", ")}.`,
      hint: mendHint(head.totals.errors, head.unscored?.state),
    });
  } else endRun(ledger, head, context, "COMPLETED", "drain", null);
}

/** Whether its time is over, and it does not end already (batching/closing.ts). */
export function isOverdue({ phase, paused, deadline_at, batching }: RunHead, { now }: RunContext): boolean {
  const working = phase === "preparing" || phase === "open";
  return working && paused === undefined && deadline_at !== null && now >= deadline_at && batching?.closing === undefined;
}

export const timeLimit = (ledger: Ledger): Failure => ({
  code: "timeout",
  message: `The run reached its time limit of ${ledger.config().timeout_minutes} minutes; results so far are kept.`,
  hint: "Resume it, with a larger timeout_minutes if needed.",
});

/**
 * Moves the run on as far as what is stored allows; called after every transition. Order matters: a time-out wins over a
 * completion that has not been recorded yet.
 */
export function advance(ledger: Ledger, head: RunHead, context: RunContext): void {
  if (isOverdue(head, context)) endByLimit(ledger, head, context, "TIMEOUT", timeLimit(ledger));
  const adopts = head.phase === "open" && head.import !== null;
  if ((head.phase === "preparing" || head.pinning === true || adopts) && (head.lost_preparations ?? 0) >= PREPARATIONS_TO_FAIL) {
    endRun(ledger, head, context, "FAILED", "abort", {
      code: "preparation_failed",
      message: `Reading the ${adopts ? "rows of the result folder" : "examples"} was begun ${head.lost_preparations} times, and each time whoever read them fell silent.`,
      hint: "The data set or the environment takes more memory or time than there is: ask for fewer or smaller examples, then resume the run.",
    });
  }
  if (
    head.phase === "open" &&
    head.pushed === undefined &&
    head.import === null &&
    head.n !== null &&
    head.done === head.n &&
    head.repair === undefined &&
    head.pinning !== true &&
    isCollected(ledger, head)
  )
    complete(ledger, head, context);
  if (head.phase === "draining") scoreTheRest(ledger, head, context);
  if (head.phase === "draining" && head.last_scores === undefined && ledger.tickets().length === 0) {
    head.phase = "finalising";
    head.drain = null;
    delete head.scores_rest;
    head.finalise = freshFinalise();
  }
  if (head.phase === "finalising" && (head.finalise.failed?.count ?? 0) >= FINALISINGS_TO_FAIL && ledger.tickets().length === 0)
    giveUpFinalising(ledger, head, context);
}

/** Whether nothing is left to be done about its batches. */
const isCollected = (ledger: Ledger, { batching }: RunHead): boolean =>
  batching === undefined || (batching.closing === undefined && !ledger.batching.jobs().some(isHeld));

/** Inputs are there; the run opens, or ends when nothing is pending. */
export function openRun(head: RunHead, context: RunContext): void {
  head.phase = "open";
  head.status = "RUNNING";
  markChanged(head, context);
}

/** The final files cannot be written: the run rests without them, `FAILED` whatever it was, for its first failure if it has one. */
export function restUnwritten(ledger: Ledger, head: RunHead, failure: Failure, context: RunContext): void {
  head.status = "FAILED";
  head.failure ??= failure;
  head.unwritten = true;
  rest(head, context);
  logEvent(ledger, head, context, "ERROR", `Run FAILED: the results cannot be written: ${failure.message}`);
}

function giveUpFinalising(ledger: Ledger, head: RunHead, context: RunContext): void {
  const { count = 0, failure = null } = head.finalise.failed ?? {};
  const reason = failure?.message ?? "whoever wrote them fell silent";
  restUnwritten(
    ledger,
    head,
    {
      code: failure?.code ?? "storage_unavailable",
      message: `Writing the results failed ${count} times in a row: ${reason}`,
      hint: "Nothing that was paid for is lost. See to what is in the way, then resume the run: it writes them.",
    },
    context,
  );
}

/** Nothing happens to the run from here on unless somebody asks. */
export function rest(head: RunHead, context: RunContext): void {
  head.phase = "settled";
  head.settled_at = context.now;
  head.swept = false;
  delete head.sweep_retry;
  markChanged(head, context);
}

/** The final files are written: the run may be resumed or deleted from here on. */
export function settle(ledger: Ledger, head: RunHead, context: RunContext): void {
  rest(head, context);
  wantHubPush(head, ledger.config(), context);
  logEvent(ledger, head, context, "INFO", "Results written");
}
