/** What a transition may know of its surroundings; everything else it reads from the ledger. */
export interface RunContext {
  /** Unix milliseconds, the Run's clock. */
  readonly now: number;
  /** Boot of the local stack; constant when deployed. */
  readonly boot: string;
  /** Life of the process this object is in, of which a boot may see several; constant when deployed. */
  readonly runtime: string;
  readonly timing: RunTiming;
  /** Executors that this service can have at once; absent = as many as are asked for. */
  readonly executors?: number;
  /** Rollouts that one turn may look at where a whole run is to be looked through; absent = `ROLLOUTS_A_TURN`. */
  readonly slice?: number;
  /** Rollouts that a span has at least; absent = as many as grants/spans.ts has. */
  readonly span?: number;
  /** Events after which small segments are looked for; absent = as many as merge-need.ts has. */
  readonly merge_after?: number;
}

/** From `[vars]`; milliseconds. */
export interface RunTiming {
  readonly lease: number;
  /** After a lease has ended, before its units are granted again: time for the executor's own fence and for clock drift. */
  readonly grace: number;
  readonly beat: number;
  /** How long a run waits for an executor that has its code (code.ts). */
  readonly code: number;
  /** Interval of heartbeats by the clock (heartbeat.ts). */
  readonly heartbeat: number;
  /** Refusals that every further call would meet end a run that had answers only after so long without one (health.ts). */
  readonly refusals: number;
  /** First look at a batch of requests after it was submitted; the next ones come ever later (batching/told.ts). */
  readonly look: number;
  /** How long after its end orphan segments of a run are swept; absent = as long as sweep.ts has. */
  readonly sweep?: number;
}
