import type { RunContext, RunTiming } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";

/** Orphan segments are swept this long after `settled`. */
export const SWEEP_AFTER_MS = 24 * 3_600_000;

/** Wait before work on storage that failed so many times before is tried again: nobody waits for it, and it is never given up. */
export const cleanUpDelay = (failures: number): number => Math.min(3_600_000, 1_000 * 2 ** Math.min(failures, 12));

/** What became of a slice of the removal of a deleted run: there is more, all of its objects are gone, or storage did not do it. */
export type RemovalOutcome = "more" | "gone" | "failed";

/** Wait before the next slice of a removal, `failures` being those before; null = none is left, and what the run itself has stored goes too. */
export function removalWait(outcome: RemovalOutcome, failures: number): number | null {
  if (outcome === "gone") return null;
  return outcome === "failed" ? cleanUpDelay(failures) : 0;
}

/** When segments of the run are to be swept, in Unix milliseconds; null = not at all. */
export function sweepDue({ phase, swept, settled_at, sweep_retry }: RunHead, { sweep = SWEEP_AFTER_MS }: Pick<RunTiming, "sweep">): number | null {
  if (phase !== "settled" || swept || settled_at === null) return null;
  return sweep_retry?.at ?? settled_at + sweep;
}

/** What became of a sweep that began when `epoch` was the run's last one. */
export interface SweepOutcome {
  readonly epoch: number;
  readonly failed: boolean;
}

/** A run that was resumed meanwhile is swept again when it has settled for a day. */
export function swept(head: RunHead, { epoch, failed }: SweepOutcome, context: RunContext): null {
  if (head.phase !== "settled" || head.epoch !== epoch) return null;
  const failures = head.sweep_retry?.failures ?? 0;
  delete head.sweep_retry;
  if (failed) head.sweep_retry = { failures: failures + 1, at: context.now + cleanUpDelay(failures) };
  else head.swept = true;
  return null;
}
