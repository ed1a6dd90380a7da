import type { Grant } from "../../../durable-objects/run/protocol.ts";
import type { SessionTiming } from "../session/session-events.ts";
import type { TicketHost } from "./ticket-host.ts";

/** Least wait between two looks for pending units; else a share of a beat, so that it scales with the deployment. */
const IDLE_MS = 250;

/** The terms of a session under `grant`, by what its executor has and knows. */
export function timingOf(
  { budget, slice, saved, times, seat, room, isUnpaid }: TicketHost,
  grant: Grant,
  open: NonNullable<SessionTiming["open"]>,
): SessionTiming {
  const { no_interleave_scoring, rollouts_per_example: r } = grant.config;
  const { wall } = slice;
  return {
    margin: budget.margin,
    idle: Math.max(IDLE_MS, grant.beat_ms / 4),
    times,
    seat,
    room,
    open,
    isUnpaid,
    ...(wall === null ? {} : { wall }),
    ...(no_interleave_scoring === true ? { hold: Math.max(grant.lanes, Math.floor(budget.held / r)) } : {}),
    ...(saved.isEmpty ? {} : { saved: (unit: number) => saved.has(unit) }),
  };
}
