/**
 * How alive the run is, and what whoever watches it from outside was told (`heartbeat_url`). Progress is an answered request or a
 * committed unit, and what begins anew: a grant, a phase. Times are Unix milliseconds.
 */
export interface Pulse {
  /** Last progress, but for that of live tickets, which say it themselves. */
  progressed_at: number;
  /** Nothing has progressed for so long that it was logged; over with the next progress. */
  stalled: boolean;
  /** Next heartbeat by the clock. */
  next_at: number;
  /** The heartbeat of the completion is not known to be sent. */
  last_due: boolean;
  /** The newest heartbeat was not taken. */
  failing: boolean;
  /** When to look again; never later than something is due, often earlier, since progress does not move it. Null = never. */
  look_at: number | null;
}

export const freshPulse = (now: number): Pulse => ({
  progressed_at: now,
  stalled: false,
  next_at: now,
  last_due: false,
  failing: false,
  look_at: null,
});
