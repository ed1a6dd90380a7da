import type { RunContext } from "./context.ts";
import { type EnvironmentLine, markedLine } from "../../../src/logging/environment-line.ts";
import type { StoredEvent } from "../../../src/logging/stored-event.ts";
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

/** Lines of its environment that a run keeps, over all executors and resumes. */
const ENVIRONMENT_LINES = 5_000;

/** Stores what the environment printed, as far as the run has room for it. */
export function logEnvironment(ledger: Ledger, head: RunHead, context: RunContext, lines: readonly EnvironmentLine[]): void {
  const before = head.environment_lines ?? 0;
  const kept = lines.slice(0, Math.max(0, ENVIRONMENT_LINES - before));
  for (const { level, message } of kept) logEvent(ledger, head, context, level, markedLine(message));
  head.environment_lines = before + kept.length;
  if (kept.length === lines.length || before > ENVIRONMENT_LINES) return;
  head.environment_lines = ENVIRONMENT_LINES + 1;
  logEvent(ledger, head, context, "WARNING", markedLine(`further lines are left out: a run keeps ${ENVIRONMENT_LINES}`));
}
