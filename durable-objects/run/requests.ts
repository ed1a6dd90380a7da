import { fail, ok, type Result } from "../../src/errors/result.ts";
import type { RunContext } from "./context.ts";
import { logEvent } from "./events.ts";
import type { RunHead } from "./head.ts";
import type { Ledger } from "./ledger.ts";
import { endRun, markChanged, TERMINAL } from "./lifecycle.ts";
import { isSuspended } from "./offers.ts";
import type { Ack, FailRequest, NoteRequest } from "./protocol.ts";
import { liveTicket } from "./tickets.ts";

/** Cancel: no new units from now on, open ones finish. A suspended run has none and ends at once. */
export function cancel(ledger: Ledger, head: RunHead, context: RunContext): Result<null> {
  if (head.status === "CANCELLED") return ok(null);
  if (TERMINAL.includes(head.status)) return fail("illegal_transition", `The run has already ended: ${head.status}.`);
  endRun(ledger, head, context, "CANCELLED", "drain", null);
  return ok(null);
}

/** Ctrl-C: open units are given up, everything committed stays, and the run waits for a resume. */
export function interrupt(ledger: Ledger, head: RunHead, context: RunContext): Result<null> {
  if (head.phase !== "preparing" && head.phase !== "open") return fail("illegal_transition", `The run is not working any more: ${head.status}.`);
  if (isSuspended(ledger.config(), head, context)) return ok(null);
  head.interrupted = true;
  markChanged(head, context);
  logEvent(ledger, head, context, "WARNING", "Run interrupted; it waits for a resume");
  return ok(null);
}

/** A fatal answer seen by an executor ends the whole run: every further call would be refused in the same way. */
export function failRun(ledger: Ledger, head: RunHead, request: FailRequest, context: RunContext): Ack {
  if (liveTicket(ledger, request) === null) return { kind: "lost" };
  if (head.phase === "preparing" || head.phase === "open") endRun(ledger, head, context, "FAILED", "abort", request.failure);
  return { kind: "ok" };
}

export function note(ledger: Ledger, head: RunHead, request: NoteRequest, context: RunContext): Ack {
  if (liveTicket(ledger, request) === null) return { kind: "lost" };
  logEvent(ledger, head, context, request.level, request.message);
  return { kind: "ok" };
}
