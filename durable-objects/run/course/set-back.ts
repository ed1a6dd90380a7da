/**
 * The machine's clock may have been set back since the Run last wrote, and its runtime begun anew. What is due moves with it, so that nothing waits
 * for the difference; what has happened keeps the time at which it did.
 */
import { isLive } from "../batching/job.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";

/** Machines of a deployment differ by less. */
const LEAST_MS = 10_000;

function moveBatches(ledger: Ledger, head: RunHead, moved: (at: number) => number): void {
  const { batching } = head;
  if (batching === undefined) return;
  const { closing, write_at } = batching;
  head.batching = {
    ...batching,
    ...(write_at === undefined ? {} : { write_at: moved(write_at) }),
    ...(closing === undefined ? {} : { closing: { ...closing, until: moved(closing.until) } }),
  };
  for (const job of ledger.batching.jobs()) if (isLive(job) && job.due_at > 0) ledger.batching.put({ ...job, due_at: moved(job.due_at) });
}

/** Moves every time that is waited for or counted from, where the newest that is stored lies ahead. */
export function moveWithClock(ledger: Ledger, head: RunHead, { now }: RunContext): void {
  const by = now - head.updated_at;
  if (by > -LEAST_MS) return;
  const moved = (at: number): number => at + by;
  head.updated_at = now;
  head.offer = { ...head.offer, retry_at: moved(head.offer.retry_at) };
  head.projection = { ...head.projection, retry_at: moved(head.projection.retry_at) };
  if (head.deadline_at !== null) head.deadline_at = moved(head.deadline_at);
  if (head.paused !== undefined) head.paused = { at: moved(head.paused.at) };
  const { backoff_until, refused_since } = head.health;
  head.health = {
    ...head.health,
    backoff_until: backoff_until === 0 ? 0 : moved(backoff_until),
    ...(refused_since === undefined ? {} : { refused_since: moved(refused_since) }),
  };
  if (head.code_wait) {
    const { since, retry_at } = head.code_wait;
    head.code_wait = { ...head.code_wait, since: since === null ? null : moved(since), retry_at: retry_at === 0 ? 0 : moved(retry_at) };
  }
  if (head.loading !== undefined && head.loading.retry_at > 0) head.loading = { ...head.loading, retry_at: moved(head.loading.retry_at) };
  if (head.pulse !== undefined) {
    const { progressed_at, next_at, look_at } = head.pulse;
    head.pulse = {
      ...head.pulse,
      progressed_at: moved(progressed_at),
      next_at: moved(next_at),
      look_at: typeof look_at === "number" ? moved(look_at) : look_at,
    };
  }
  if (head.batching !== undefined) moveBatches(ledger, head, moved);
  if (head.last_scores !== undefined) head.last_scores = { ...head.last_scores, until: moved(head.last_scores.until) };
  if (head.alerts !== undefined) head.alerts = { ...head.alerts, retry_at: moved(head.alerts.retry_at) };
  if (head.hub_push !== undefined) head.hub_push = { ...head.hub_push, retry_at: moved(head.hub_push.retry_at) };
  if (head.silence !== undefined) head.silence = { ...head.silence, at: moved(head.silence.at) };
  if (head.runtime_deaths !== undefined) head.runtime_deaths = head.runtime_deaths.map((death) => ({ ...death, at: moved(death.at) }));
  for (const ticket of ledger.tickets()) {
    const { progressed_at } = ticket;
    ledger.putTicket({ ...ticket, lease_until: moved(ticket.lease_until), ...(progressed_at === undefined ? {} : { progressed_at: moved(progressed_at) }) });
  }
}
