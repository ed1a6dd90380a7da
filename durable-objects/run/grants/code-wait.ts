import { coversCode, shortDigest, TO_GO_ON } from "../../../src/config/env-digest.ts";
import { pinCode } from "./code.ts";
import type { RunContext } from "../state/context.ts";
import { debugEvent, logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { endRun, markChanged } from "../course/lifecycle.ts";
import { isSuspended } from "./offers.ts";
import type { Ack, OtherCodeRequest } from "../protocol.ts";
import { endTicket, liveTicket } from "./tickets.ts";
import { retryDelay } from "../sending/wake.ts";

/**
 * An executor has other code than the run: its grant ends before any model call, and the run waits a while before it asks for another.
 * A run whose digest says nothing of its code is pinned to this one (`ok`: go on, with marked rows).
 */
export function otherCode(ledger: Ledger, head: RunHead, request: OtherCodeRequest, context: RunContext): Ack {
  const ticket = liveTicket(ledger, request);
  if (ticket === null) return { kind: "lost" };
  const { env_digest: found } = request;
  if (head.env_digest === null || head.env_digest === found) return { kind: "ok" };
  if (found !== null && !coversCode(head.env_digest)) {
    pinCode(ledger, head, found, context);
    return { kind: "ok" };
  }
  endTicket(ledger, head, ticket);
  // What the end of a run still scores is not waited for so.
  if (head.phase === "draining") return { kind: "lost" };
  refusedBy(ledger, head, ticket.executor, found, context);
  return { kind: "lost" };
}

function refusedBy(ledger: Ledger, head: RunHead, executor: string, found: string | null, context: RunContext): void {
  const before = head.code_wait ?? null;
  const tries = (before?.tries ?? 0) + 1;
  // Who claims has compared the digests.
  const others = ledger.tickets().some(({ seq }) => seq > 0);
  const since = before?.since ?? (others ? null : context.now);
  head.code_wait = { found, since, retry_at: context.now + retryDelay(tries), tries };
  debugEvent(ledger, head, context, () => `Executor ${executor} has ${named(found)}, not the run's`);
  if (since === null || typeof before?.since === "number") return;
  markChanged(head, context);
  const until = new Date(since + context.timing.code).toISOString().slice(11, 16);
  logEvent(
    ledger,
    head,
    context,
    "WARNING",
    `Waiting for an executor with the code of this run, ${shortDigest(head.env_digest ?? "")}: who asked has ${named(found)}. Without one the run ends at ${until} UTC (code_changed); ${TO_GO_ON}`,
  );
}

const named = (found: string | null): string => (found === null ? "no environment of that name" : shortDigest(found));

/** An executor that compared the digests works: nobody is waited for any more. */
export function codeFound(ledger: Ledger, head: RunHead, context: RunContext): void {
  const wait = head.code_wait ?? null;
  if (wait === null) return;
  head.code_wait = null;
  if (wait.since === null) return;
  markChanged(head, context);
  logEvent(ledger, head, context, "INFO", "An executor with the code of this run is there; the run goes on");
}

/** Frame of every transition: a wait that is over must not keep the alarm in the past, and one that took too long ends the run. */
export function keepWaiting(ledger: Ledger, head: RunHead, context: RunContext): void {
  const wait = head.code_wait ?? null;
  if (wait === null) return;
  if ((head.phase !== "preparing" && head.phase !== "open") || head.paused !== undefined || isSuspended(ledger.config(), head, context)) {
    head.code_wait = null;
    return;
  }
  if (wait.retry_at > 0 && context.now >= wait.retry_at) head.code_wait = { ...wait, retry_at: 0 };
  if (wait.since === null || context.now < wait.since + context.timing.code) return;
  const minutes = Math.round((context.timing.code / 60_000) * 10) / 10;
  head.code_wait = null;
  endRun(ledger, head, context, "FAILED", "abort", {
    code: "code_changed",
    message: `No executor had the code of this run for ${minutes} min: it was made with ${shortDigest(head.env_digest ?? "")}, who asked has ${named(wait.found)}.`,
    hint: "Bring the code back as it was and resume; or resume with --accept-code-change (accept_code_change over HTTP): new rows are marked.",
  });
}
