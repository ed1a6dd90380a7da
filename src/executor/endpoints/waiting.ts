import type { Vitals } from "../../../durable-objects/run/vitals.ts";
import type { EndpointPause } from "../../clients/endpoint-pause.ts";
import type { HeldPermits } from "../limiting/limiter-links.ts";

/** A place of a grant, and the grant's permits there. */
export interface HeldPlace {
  readonly pause: Pick<EndpointPause, "waiting" | "until">;
  readonly held: HeldPermits;
}

/** Whether calls wait at places of a grant that no budget will pay for, and nothing is under way (`inFlight`) or waits for anything else. */
export const isUnpaid = (held: readonly HeldPermits[], inFlight: number): boolean =>
  inFlight === 0 && held.some(({ unpaid = 0 }) => unpaid > 0) && held.every(({ waiting }) => waiting === 0);

/** How many requests of a grant wait for its endpoints, and what for. `judges`: what its environment calls. */
export function waitingOf(places: readonly HeldPlace[], judges: readonly HeldPermits[]): Pick<Vitals, "waiting" | "paused_until" | "limited"> {
  const all = [...places.map(({ held }) => held), ...judges];
  const by = all.find(({ bound }) => bound !== null);
  const bound = by?.bound ?? null;
  // It goes on for as long as it has a place that may be called.
  const pauses = places.map(({ pause, held }) => Math.max(pause.until ?? 0, held.pausedUntil ?? 0));
  const paused = pauses.length === 0 ? 0 : Math.min(...pauses);
  return {
    waiting: [...places.map(({ pause }) => pause), ...all].reduce((sum, { waiting }) => sum + waiting, 0),
    paused_until: paused === 0 ? null : paused,
    ...(by === undefined || bound === null ? {} : { limited: { bound, base_url: by.base_url, ...(judges.includes(by) ? { judges: true as const } : {}) } }),
  };
}
