import { endByLimit, endPinning, endRun, isOverdue, markChanged, openRun, timeLimit } from "../course/lifecycle.ts";
import { isBeside, isSuspended } from "../grants/offers.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { Closing } from "./batching-head.ts";
import { dropJob } from "./drop-job.ts";
import { isHeld, isLive, isUnsent } from "./job.ts";
import { nextStep } from "./next-step.ts";

/**
 * The end of a run in batches: it takes no more into them, has those that are under way cancelled, and plays what they answered. What they did not answer
 * stays owed.
 */

/** How long it waits for the provider to stop, and for what was answered to be played. Milliseconds. */
export const BATCH_CLOSING_MS = 15 * 60_000;

/** Grants in a row to carry batches of which nothing was heard but that they had begun: more than of a preparation, since a day of waiting has many. */
const STEPS_TO_FAIL = 8;

const hasLiveJobs = (ledger: Ledger): boolean => ledger.batching.jobs().some((job) => isLive(job) || isHeld(job));

/** Whether anything of the run is at its provider, or was answered and is not played: without it there is nothing to close. */
function hasAnswers(ledger: Ledger, head: RunHead): boolean {
  const atProvider = ledger.batching.jobs().some((job) => isLive(job) && !isUnsent(job));
  return atProvider || head.pending > 0 || ledger.tickets().some((ticket) => ledger.claimsOf(ticket.id).length > 0);
}

/** Begins to end; false where there is nothing to close, or it is closing already: then it ends at once. */
export function beginClosing(ledger: Ledger, head: RunHead, reason: Pick<Closing, "why" | "failure">, context: RunContext): boolean {
  const { batching } = head;
  if (batching === undefined || batching.closing !== undefined || (head.phase !== "open" && head.phase !== "preparing")) return false;
  if (head.n === null || !hasAnswers(ledger, head)) return false;
  if (isSuspended(ledger.config(), head, context) && !(reason.why === "cancelled" && hasLiveJobs(ledger))) return false;
  // Somebody has to stop what is at the provider.
  head.interrupted = false;
  head.boot = context.boot;
  for (const job of ledger.batching.jobs()) if (isLive(job) && isUnsent(job)) dropJob(ledger, head, job);
  // What its growth or a repair would still add is not asked any more.
  endPinning(head);
  delete head.repair;
  if (head.phase === "preparing") openRun(head, context);
  head.batching = { ...(head.batching ?? batching), closing: { ...reason, until: context.now + BATCH_CLOSING_MS } };
  for (const job of ledger.batching.jobs()) if (isLive(job)) ledger.batching.put({ ...job, due_at: 0 });
  markChanged(head, context);
  const why = reason.failure?.message ?? "The run is cancelled.";
  logEvent(
    ledger,
    head,
    context,
    "WARNING",
    `${why} No more requests are sent, and what its batches answered is scored, for ${BATCH_CLOSING_MS / 60_000} min at most`,
  );
  return true;
}

/** Ends a run that is closing, with what it has; false where it is not. */
export function endClosing(ledger: Ledger, head: RunHead, context: RunContext): boolean {
  const { batching } = head;
  if (batching?.closing === undefined) return false;
  const { failure, why } = batching.closing;
  if (failure === null) {
    endRun(ledger, head, context, "CANCELLED", "drain", null);
    head.scores_rest = true;
  } else endByLimit(ledger, head, context, why === "timeout" ? "TIMEOUT" : "CANCELLED", failure);
  return true;
}

/** Scores of units that are played wait for money, and there is none: a run that is closing ends without them. */
export function lacksMoney(head: RunHead): void {
  const { batching } = head;
  if (batching?.closing !== undefined) head.batching = { ...batching, closing: { ...batching.closing, unpaid: true } };
}

/** Moves a run in batches on; called before and after every transition, before `advance`. Does nothing to another run. */
export function advanceBatches(ledger: Ledger, head: RunHead, context: RunContext): void {
  if (head.batching === undefined) return;
  if (isOverdue(head, context)) beginClosing(ledger, head, { why: "timeout", failure: timeLimit(ledger) }, context);
  if (head.phase !== "open") return;
  if (head.pinning !== true && head.import === null && (head.lost_preparations ?? 0) >= STEPS_TO_FAIL) {
    endRun(ledger, head, context, "FAILED", "abort", {
      code: "preparation_failed",
      message: `Bringing requests into batches, or their answers into storage, was begun ${head.lost_preparations} times, and each time whoever did it fell silent.`,
      hint: "The environment takes more memory or time than there is: ask for smaller examples, then resume the run.",
    });
    return;
  }
  const { closing } = head.batching;
  if (closing === undefined) return;
  const isAtRest = closing.unpaid === true || ledger.tickets().every((ticket) => isBeside(ticket) || ledger.claimsOf(ticket.id).length === 0);
  const isPlayed = !hasLiveJobs(ledger) && head.pending === 0 && isAtRest;
  if (isPlayed || context.now >= closing.until) endClosing(ledger, head, context);
}

/** When a step is due next, as the last thing of every transition. */
export function refreshBatching(ledger: Ledger, head: RunHead, context: RunContext): void {
  const { batching } = head;
  if (batching === undefined) return;
  const step = nextStep(ledger, head, context);
  const next_at = step === null ? null : step.kind === "wait" ? step.at : 0;
  if (next_at !== batching.next_at) head.batching = { ...batching, next_at };
}
