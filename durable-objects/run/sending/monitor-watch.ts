/** What the run's monitor (`monitor` of its config) has been told. Times are Unix milliseconds. */
export interface MonitorWatch {
  /** It was told that the run goes on, and not yet that it does not. */
  readonly alive: boolean;
  /** Next word by the clock. */
  readonly next_at: number;
  /** How it ended, which the monitor is not known to have heard. */
  readonly owed: { readonly kind: "done" | "failed"; readonly tries: number; readonly retry_at: number } | null;
  /** The monitor is deleted: nobody is told any more. */
  readonly gone?: true;
}

interface Watched {
  readonly watch?: MonitorWatch;
  readonly phase: string;
  readonly pulse?: { readonly stalled: boolean };
}

/** When the monitor is to be told something by itself; null = never. */
export function reportDue({ watch, phase, pulse }: Watched): number | null {
  if (watch === undefined || watch.gone === true) return null;
  if (watch.owed !== null) return watch.owed.retry_at;
  return watch.alive && (phase === "preparing" || phase === "open") && pulse?.stalled !== true ? watch.next_at : null;
}
