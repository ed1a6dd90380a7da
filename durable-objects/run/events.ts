import type { RunContext } from "./context.ts";
import type { StoredEvent } from "../../src/logging/stored-event.ts";
import type { RunHead } from "./head.ts";
import type { Ledger } from "./ledger.ts";

/** Stores a line of the log that only a run with `verbose` has. */
export function debugEvent(ledger: Ledger, head: RunHead, context: RunContext, message: () => string): void {
  if (ledger.config().verbose === true) logEvent(ledger, head, context, "DEBUG", message());
}

/** Stores a line of the run's log; viewers and `eval.log` read it by sequence number. */
export function logEvent(ledger: Ledger, head: RunHead, context: RunContext, level: StoredEvent["level"], message: string): void {
  head.seq++;
  ledger.putEvent({ seq: head.seq, time: context.now, type: "log", level, message, rollouts: 0, units: [], segment: null });
}
