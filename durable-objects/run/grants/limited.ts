import { boundText, reasonOf } from "../../../src/endpoint-limits/bound-text.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { Vitals } from "../vitals.ts";

/** Reasons that the log of a run has: an endpoint has five limits, and some are told with other numbers now and then. */
const REASONS = 16;

/** Writes down why requests of the run wait, once for each reason, however many executors and generations meet it. */
export function noteLimited(ledger: Ledger, head: RunHead, vitals: Pick<Vitals, "limited"> | undefined, context: RunContext): void {
  const limited = vitals?.limited;
  if (limited === undefined) return;
  const reason = reasonOf(limited);
  const { limits_told: told = [] } = head;
  if (told.includes(reason) || told.length >= REASONS) return;
  head.limits_told = [...told, reason];
  logEvent(ledger, head, context, "INFO", `Waiting for ${boundText(limited)}: requests begin as that allows`);
}
