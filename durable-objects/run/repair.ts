import { isInfrastructureError } from "../../src/errors/codes.ts";
import type { RunHead } from "./head.ts";
import type { Done, Ledger } from "./ledger.ts";
import type { RolloutSummary } from "../../src/metrics/rollout-summary.ts";

/** Whether a rollout is to be run again by a repair: an adopted folder lacks it, or it ended in an infrastructure error that is not to be kept. */
export function isOwed(rollout: RolloutSummary | null, keepErrors: boolean): boolean {
  return rollout === null || (!keepErrors && rollout.error !== null && isInfrastructureError(rollout.error));
}

/** Rollouts of a done unit that a repair owes. */
export const owedRollouts = (done: Pick<Done, "rollouts">, keepErrors: boolean): number =>
  done.rollouts.filter((rollout) => isOwed(rollout, keepErrors)).length;

/**
 * Marks every done unit with owed rollouts as pending again. Its rows and its share of the totals stay until the repaired
 * unit is committed, so that a repair which is cancelled loses nothing. Returns the rollouts owed.
 */
export function oweRepairs(ledger: Ledger, head: RunHead, keepErrors: boolean): number {
  const units: number[] = [];
  let rollouts = 0;
  for (const done of ledger.doneFrom(0)) {
    const owed = owedRollouts(done, keepErrors);
    if (owed === 0 || done.owed) {
      if (done.owed) rollouts += owed;
      continue;
    }
    rollouts += owed;
    units.push(done.unit);
  }
  let lo: number | null = null;
  let last = -1;
  for (const unit of units) {
    const done = ledger.done(unit);
    if (done !== null) ledger.putDone({ ...done, owed: true });
    head.done--;
    head.pending++;
    ledger.deleteSuspect(unit);
    if (lo !== null && unit !== last + 1) {
      ledger.putReturned({ lo, hi: last + 1 });
      lo = null;
    }
    lo ??= unit;
    last = unit;
  }
  if (lo !== null) ledger.putReturned({ lo, hi: last + 1 });
  return rollouts;
}
