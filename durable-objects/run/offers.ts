import type { RunConfig } from "../../src/config/run-config.ts";
import type { RunContext } from "./context.ts";
import type { RunHead } from "./head.ts";
import type { Ledger, Ticket } from "./ledger.ts";

/** An unattended run works under any boot; an attended one only under the boot that created or resumed it. */
export function isSuspended(config: RunConfig, head: RunHead, context: RunContext): boolean {
  if (head.phase !== "preparing" && head.phase !== "open") return false;
  return head.interrupted || (config.attended && head.boot !== context.boot);
}

/** Units open at once that keep `requests` busy. One lane more than they need when r > 1: it fills in while a group runs out. */
export function lanesFor(requests: number, rolloutsPerExample: number): number {
  if (requests <= 0) return 0;
  return Math.ceil(requests / rolloutsPerExample) + (rolloutsPerExample > 1 ? 1 : 0);
}

/** Requests of judges not granted to any live ticket; Infinity when the run has no limit (`max_concurrent_scoring`). */
export function freeScoring({ max_concurrent_scoring: limit = 0 }: RunConfig, tickets: readonly Ticket[]): number {
  if (limit <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, limit - tickets.reduce((granted, ticket) => granted + (ticket.scoring ?? 0), 0));
}

/** Requests not granted to any live ticket; Infinity when the run has no limit. None without a judge left to score them. */
export function freeRequests(config: RunConfig, tickets: readonly Ticket[]): number {
  if (freeScoring(config, tickets) < 1) return 0;
  if (config.max_concurrent <= 0) return Number.POSITIVE_INFINITY;
  let granted = 0;
  for (const ticket of tickets) granted += ticket.requests;
  return Math.max(0, config.max_concurrent - granted);
}

/** Lanes the run wants now: absolute, so that a repeated or late offer does no harm. */
export function wanted(ledger: Ledger, head: RunHead, context: RunContext): number {
  const config = ledger.config();
  if (isSuspended(config, head, context)) return 0;
  const tickets = ledger.tickets();
  if (head.phase === "preparing" || head.phase === "finalising") return tickets.length === 0 ? 1 : 0;
  if (head.phase !== "open" || context.now < head.health.backoff_until) return 0;
  const lanes = lanesFor(Math.min(freeRequests(config, tickets), Number.MAX_SAFE_INTEGER), config.rollouts_per_example);
  return Math.min(lanes, head.pending);
}

/** Marks the offer due when what is wanted has changed. `again`: announce even an unchanged one (the Dispatcher may have forgotten). */
export function refreshOffer(ledger: Ledger, head: RunHead, context: RunContext, again = false): void {
  const want = wanted(ledger, head, context);
  if (want === head.offer.want && !(again && want > 0)) return;
  head.offer = { want, seq: head.offer.seq + 1, due: true, retry_at: context.now, tries: 0 };
}
