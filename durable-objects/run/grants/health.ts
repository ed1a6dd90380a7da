import { isUnreachable, ROLLOUT_ERRORS, type RolloutErrorCode } from "../../../src/errors/codes.ts";
import type { Failure } from "../../../src/errors/result.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger, Ticket } from "../state/ledger.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";

/** First pause after a streak, doubling with each further one; after this many in a row the endpoint counts as dead. */
export const BACKOFF_MS = 5_000;
export const STRIKES_TO_FAIL = 3;

/** The endpoint has answered: what it refused before is over. */
export function noteAnswer(head: RunHead): void {
  const { refused_since, refusals, ...health } = head.health;
  head.health = { ...health, answered: true };
}

/**
 * Watches for a dead endpoint: `3 x lanes` rollouts in a row that did not reach the model, with no success between, stop the claiming
 * for a while; when every rollout of the probes that follow fails too, the run is to end `endpoint_unavailable`: the failure is
 * returned. Without a connection there are no probes where nothing was ever answered in this generation and nobody is at work who has
 * not met the same: each of those rollouts has asked for a while, and the address is likely wrong.
 */
export function observeHealth(ledger: Ledger, head: RunHead, ticket: Ticket, rollouts: readonly RolloutSummary[], now: number): Failure | null {
  const { base_url } = ledger.config();
  for (const { error } of rollouts) {
    if (error === null) noteAnswer(head);
    const { health } = head;
    if (error === null || !isUnreachable(error)) {
      health.streak = 0;
      health.strikes = 0;
      continue;
    }
    health.streak++;
    if (isNeverReached(ledger, head, ticket, error)) return unavailable(error, base_url);
    if (health.streak < (health.strikes === 0 ? 3 * ticket.lanes : ticket.lanes)) continue;
    health.streak = 0;
    health.strikes++;
    if (health.strikes > STRIKES_TO_FAIL) return unavailable(error, base_url);
    health.backoff_until = now + BACKOFF_MS * 2 ** (health.strikes - 1);
  }
  return null;
}

function isNeverReached(ledger: Ledger, { health }: RunHead, ticket: Ticket, error: RolloutErrorCode): boolean {
  if (health.answered === true || ROLLOUT_ERRORS[error].category !== "network") return false;
  if (ticket.unconnected !== true) ledger.putTicket({ ...ticket, unconnected: true });
  return health.streak >= ticket.lanes && !ledger.tickets().some((each) => each.task.kind === "units" && each.unconnected !== true);
}

const UNAVAILABLE: Partial<Record<RolloutErrorCode, (url: string) => Pick<Failure, "message"> & { hint: string }>> = {
  region_refused: (url) => ({
    message: `${url} does not serve the place its requests come from: every rollout of the last attempts was refused so.`,
    hint: "Call it from elsewhere, or through a gateway that it serves, then resume the run.",
  }),
  web_page: (url) => ({
    message: `${url} answers with web pages: a firewall or a proxy stands before it, or it is no base URL of a model's API.`,
    hint: "Look at the page with curl, check the base URL (-b), then resume the run.",
  }),
};

function unavailable(error: RolloutErrorCode, url: string): Failure {
  const text = UNAVAILABLE[error]?.(url) ?? {
    message: `No connection to ${url}: every rollout of the last attempts failed to connect.`,
    hint: "Check that the model server is running and reachable, then resume the run.",
  };
  return { code: "endpoint_unavailable", ...text };
}

/** Of failures that executors tell, those that the endpoint may take back: a key, a quota, a model that it refuses. */
const isRefusal = ({ code }: Failure): boolean => (ROLLOUT_ERRORS as Record<string, { readonly fatal: boolean }>)[code]?.fatal === true;

/**
 * What a refusal that every further call would meet means for the run: the failure that ends it, or how long the executor that met
 * it is to stay away (milliseconds). One executor in a bad place, or a firewall in a mood, is not the endpoint: once anything was
 * answered in this generation, the run ends only after refusals over `timing.refusals` with no answer between, and while nobody
 * who was not refused is at work.
 */
export function observeRefusal(ledger: Ledger, head: RunHead, ticket: Ticket, failure: Failure, { now, timing }: RunContext): Failure | number {
  if (head.health.answered !== true || !isRefusal(failure)) return failure;
  ledger.putTicket({ ...ticket, refused: true });
  const since = head.health.refused_since ?? now;
  const refusals = (head.health.refusals ?? 0) + 1;
  head.health = { ...head.health, refused_since: since, refusals };
  const others = ledger.tickets().some((each) => each.task.kind === "units" && each.refused !== true);
  if (now - since < timing.refusals || others) return Math.min(timing.refusals, BACKOFF_MS * 2 ** (refusals - 1));
  const seconds = Math.round((now - since) / 1_000);
  return { ...failure, message: `${failure.message} (nothing was answered for ${seconds} s, after other requests had been)` };
}
