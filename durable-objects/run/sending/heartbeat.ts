import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { isAtWork } from "../batching/job.ts";
import { isSuspended } from "../grants/offers.ts";
import { freshPulse, type Pulse } from "../state/pulse.ts";

/** Minutes without progress after which a run counts as stalled, unless its config says otherwise. */
export const STALL_MINUTES = 15;

/** Why a heartbeat is sent: a unit was committed, time has passed, the run is `COMPLETED`. */
export type Heartbeat = "unit" | "timer" | "last";

export interface HeartbeatOutcome {
  readonly heartbeat: Heartbeat;
  /** Why it was not taken; null when it was. Never holds the URL. */
  readonly problem: string | null;
}

/** The head before a transition, as far as progress shows in it. */
export type Before = Readonly<Pick<RunHead, "status" | "phase" | "done">>;

/**
 * Last thing that is logged in a transition: notes progress and its absence, and says which heartbeat is to be sent, if any. At most one
 * goes out at a time; the sender skips the others (heartbeat-sender.ts).
 */
export function keepPulse(ledger: Ledger, head: RunHead, before: Before, context: RunContext): Heartbeat | null {
  const config = ledger.config();
  const working = (head.phase === "preparing" || head.phase === "open") && !isSuspended(config, head, context);
  const completed = head.status === "COMPLETED" && before.status !== "COMPLETED";
  if (!working && !completed && head.pulse?.last_due !== true && typeof head.pulse?.look_at !== "number") return null;
  const pulse = { ...(head.pulse ?? freshPulse(context.now)) };
  const { heartbeat_url, stall_minutes = STALL_MINUTES } = config;
  if (head.phase !== before.phase || head.done > before.done) pulse.progressed_at = context.now;
  const stallAt = lastProgress(ledger, pulse) + stall_minutes * 60_000;
  const wasStalled = pulse.stalled;
  // Nothing is to progress of a run that somebody has paused, and it is as alive as they want it.
  pulse.stalled = working && head.paused === undefined && context.now >= stallAt;
  if (pulse.stalled !== wasStalled && working && head.paused === undefined) logStall(ledger, head, context, pulse.stalled, stall_minutes);
  if (completed && heartbeat_url !== undefined) Object.assign(pulse, { last_due: true, next_at: context.now });

  const watched = heartbeat_url !== undefined;
  const heartbeat = watched ? dueHeartbeat(ledger, head, pulse, { before, working, context }) : null;
  if (heartbeat !== null || (watched && working && context.now >= pulse.next_at)) pulse.next_at = context.now + context.timing.heartbeat;

  const due: number[] = [];
  if (working && !pulse.stalled && head.paused === undefined) due.push(stallAt);
  if (watched && ((working && !pulse.stalled) || pulse.last_due)) due.push(pulse.next_at);
  const wake = due.length === 0 ? null : Math.min(...due);
  if (wake === null || pulse.look_at === null || wake < pulse.look_at || context.now >= pulse.look_at) pulse.look_at = wake;
  head.pulse = pulse;
  return heartbeat;
}

interface Moment {
  readonly before: Before;
  readonly working: boolean;
  readonly context: RunContext;
}

function dueHeartbeat(ledger: Ledger, head: RunHead, pulse: Pulse, { before, working, context }: Moment): Heartbeat | null {
  if (pulse.last_due) return context.now >= pulse.next_at ? "last" : null;
  if (!working) return null;
  if (before.phase === "open" && head.done > before.done) return "unit";
  // By the clock only while somebody works, and gets on.
  return context.now >= pulse.next_at && !pulse.stalled && (ledger.tickets().length > 0 || head.paused !== undefined || isAnswered(ledger, head))
    ? "timer"
    : null;
}

/** Whether a provider works on batches of the run, which nobody here has to. */
const isAnswered = (ledger: Ledger, { batching }: RunHead): boolean => batching !== undefined && ledger.batching.jobs().some(isAtWork);

const lastProgress = (ledger: Ledger, pulse: Pulse): number => Math.max(pulse.progressed_at, ...ledger.tickets().map((ticket) => ticket.progressed_at ?? 0));

function logStall(ledger: Ledger, head: RunHead, context: RunContext, stalled: boolean, minutes: number): void {
  const beats = ledger.config().heartbeat_url === undefined ? "" : "; heartbeats stop until something does";
  if (stalled) logEvent(ledger, head, context, "WARNING", `Nothing has progressed for ${minutes} min: no request was answered and no unit finished${beats}`);
  else logEvent(ledger, head, context, "INFO", "The run progresses again");
}

/** What a ticket saw of progress outlives it. */
export function keepProgress(head: RunHead, progressedAt: number | undefined): void {
  if (head.pulse !== undefined && progressedAt !== undefined && progressedAt > head.pulse.progressed_at) {
    head.pulse = { ...head.pulse, progressed_at: progressedAt };
  }
}

/** What became of a heartbeat. Only the first of several that fail is logged, and the first that is taken after them. */
export function heartbeatSent(ledger: Ledger, head: RunHead, { heartbeat, problem }: HeartbeatOutcome, context: RunContext): null {
  if (head.pulse === undefined) return null;
  const failing = problem !== null;
  if (failing && !head.pulse.failing) logEvent(ledger, head, context, "WARNING", `Heartbeat not taken: ${problem}`);
  if (!failing && head.pulse.failing) logEvent(ledger, head, context, "INFO", "Heartbeats are taken again");
  head.pulse = { ...head.pulse, failing, ...(heartbeat === "last" ? { last_due: false } : {}) };
  return null;
}

/** Whether the outcome changes anything that is stored. */
export const isNews = (head: RunHead, { heartbeat, problem }: HeartbeatOutcome): boolean =>
  heartbeat === "last" || (problem !== null) !== (head.pulse?.failing ?? false);
