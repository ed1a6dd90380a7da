import type { Failure } from "../../../src/errors/result.ts";
import { endRun, markChanged } from "../course/lifecycle.ts";
import { retryDelay } from "../sending/wake.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger, Ticket } from "../state/ledger.ts";
import { isLoaded } from "./loading.ts";
import { endTicket } from "./tickets.ts";

/** Attempts in a row to load the environment, or to read its examples, that may come to nothing: some ten minutes. */
export const LOADINGS_TO_FAIL = 15;
/** The same where somebody sits before the run, nothing of it is there yet, and the storage is not what failed: they want to know, and lose nothing. */
export const FIRST_LOADINGS_TO_FAIL = 2;

/**
 * An executor could not load the environment, or read its examples, by something that may pass: its grant ends, and the run asks for
 * another one after a wait that grows. Those that had begun beside it count as the same attempt, and while others work the run does not end.
 */
export function failLoading(ledger: Ledger, head: RunHead, ticket: Ticket, failure: Failure, context: RunContext): void {
  endTicket(ledger, head, ticket);
  const before = head.loading;
  if (before !== undefined && before.retry_at > 0) return;
  const count = (before?.count ?? 0) + 1;
  const reading = ticket.task.kind === "prepare";
  const isFirst = ledger.config().attended && head.n === null && failure.code !== "storage_unavailable";
  const most = isFirst ? FIRST_LOADINGS_TO_FAIL : LOADINGS_TO_FAIL;
  if (count >= most && !isLoaded(ledger)) {
    const what = reading ? "Reading the examples" : "Loading the environment";
    const hint = failure.hint ?? "See to what is in the way, then resume the run.";
    endRun(ledger, head, context, "FAILED", "abort", { ...failure, message: `${what} failed ${count} times in a row: ${failure.message}`, hint });
    return;
  }
  head.loading = { count, failure, retry_at: context.now + retryDelay(count) };
  markChanged(head, context);
  // The first attempts are told, and then ever fewer.
  const what = reading ? "Reading the examples" : "Loading the environment";
  if (Number.isInteger(Math.log2(count))) logEvent(ledger, head, context, "WARNING", `${what} failed and is tried again: ${failure.message}`);
}

/** Somebody has loaded the environment: nothing is in the way any more. */
export function loaded(ledger: Ledger, head: RunHead, context: RunContext): void {
  if (head.loading === undefined) return;
  delete head.loading;
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", "The environment is loaded; the run goes on");
}
