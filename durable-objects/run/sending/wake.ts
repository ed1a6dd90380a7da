import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Ticket } from "../state/ledger.ts";
import type { RunTiming } from "../state/context.ts";
import { mayWatch } from "../stopping/may-watch.ts";
import { hubPushDue } from "./hub-push.ts";
import { reportDue } from "./monitor-watch.ts";
import { sweepDue } from "../course/sweep.ts";

/** An alarm that is so late does not come any more: the platform has left some standing for days. */
export const ALARM_LOST_MS = 60_000;

/**
 * When the Run has something to do by itself, in Unix milliseconds; null = never. The one place that decides on the alarm:
 * the earliest of lease ends, the time limit, a back-off's end, the waits for the run's code and for another attempt to load it, the next turn of a repair or of a watch, the end of the last scores, the next step of its batches and their end, another attempt to write the files, an unacknowledged offer or projection, a look at the pulse, a word to the monitor, a push to the Hub, alerts that are owed, and the sweep.
 */
export function nextWake(head: RunHead, tickets: readonly Ticket[], timing: RunTiming): number | null {
  const due: number[] = tickets.map((ticket) => ticket.lease_until + timing.grace);
  const working = head.phase === "preparing" || head.phase === "open";
  const closing = head.batching?.closing;
  if (working && head.paused === undefined && head.deadline_at !== null && closing === undefined) due.push(head.deadline_at);
  if (head.phase === "open" && closing !== undefined) due.push(closing.until);
  // What is due already is offered.
  if (head.phase === "open" && head.batching !== undefined && (head.batching.next_at ?? 0) > 0) due.push(head.batching.next_at ?? 0);
  if (head.phase === "open" && head.health.backoff_until > 0) due.push(head.health.backoff_until);
  if (head.phase === "finalising" && head.finalise.failed && head.finalise.failed.retry_at > 0) due.push(head.finalise.failed.retry_at);
  if (working && head.code_wait) {
    if (head.code_wait.retry_at > 0) due.push(head.code_wait.retry_at);
    if (head.code_wait.since !== null) due.push(head.code_wait.since + timing.code);
  }
  if (working && head.loading !== undefined && head.loading.retry_at > 0) due.push(head.loading.retry_at);
  if (head.last_scores !== undefined) due.push(head.last_scores.until);
  // At once: an alarm of the past runs now.
  if (head.repair !== undefined) due.push(head.generation_started_at);
  if (head.unwatched === true && mayWatch(head)) due.push(head.generation_started_at);
  if (head.offer.due) due.push(head.offer.retry_at);
  if (head.projection.due) due.push(head.projection.retry_at);
  if (typeof head.pulse?.look_at === "number") due.push(head.pulse.look_at);
  const report = reportDue(head);
  if (report !== null) due.push(report);
  if (head.alerts !== undefined) due.push(head.alerts.retry_at);
  const push = hubPushDue(head);
  if (push !== null) due.push(push);
  const sweep = sweepDue(head, timing);
  if (sweep !== null) due.push(sweep);
  return due.length === 0 ? null : Math.min(...due);
}

/** First wait before an unacknowledged message is sent again, doubling up to a minute. */
export function retryDelay(tries: number): number {
  return Math.min(60_000, 500 * 2 ** Math.min(tries, 10));
}

/** A back-off that is over must not keep the alarm in the past. */
export function clearBackoff(head: RunHead, context: RunContext): void {
  if (head.health.backoff_until > 0 && context.now >= head.health.backoff_until) head.health.backoff_until = 0;
  const { loading } = head;
  if (loading !== undefined && loading.retry_at > 0 && context.now >= loading.retry_at) head.loading = { ...loading, retry_at: 0 };
  const { failed } = head.finalise;
  if (failed && failed.retry_at > 0 && context.now >= failed.retry_at) head.finalise = { ...head.finalise, failed: { ...failed, retry_at: 0 } };
}
