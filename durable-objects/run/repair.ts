import { isInfrastructureError, isScorerError } from "../../src/errors/codes.ts";
import type { RunHead } from "./head.ts";
import type { Done, Ledger } from "./ledger.ts";
import type { RolloutSummary } from "../../src/metrics/rollout-summary.ts";

/** What a repair does about one rollout: runs it, scores it again from its row, or nothing. */
export type Debt = "rollout" | "scores" | null;

/** What a resume is told of errors. */
export interface RepairTerms {
  /** Everything stays as it ended. */
  readonly keepErrors: boolean;
  /** Scorer errors are scored again: the environment's code is another than the one that failed, and the same code would fail again. */
  readonly scoreAgain: boolean;
}

/** Rollouts that a repair owes: to be run (an adopted folder lacks them, or infrastructure ended them), and to be scored only. */
export interface Owed {
  readonly rollouts: number;
  readonly scores: number;
}

export const termsOf = ({ keep_errors, score_again }: Pick<RunHead, "keep_errors" | "score_again">): RepairTerms => ({
  keepErrors: keep_errors,
  scoreAgain: score_again === true,
});

export function debtOf(rollout: RolloutSummary | null, { keepErrors, scoreAgain }: RepairTerms): Debt {
  if (rollout === null) return "rollout";
  if (keepErrors || rollout.error === null) return null;
  if (isInfrastructureError(rollout.error)) return "rollout";
  return scoreAgain && isScorerError(rollout.error) ? "scores" : null;
}

/** What a repair owes of a done unit. */
export function owedOf({ rollouts }: Pick<Done, "rollouts">, terms: RepairTerms): Owed {
  const debts = rollouts.map((rollout) => debtOf(rollout, terms));
  return { rollouts: debts.filter((debt) => debt === "rollout").length, scores: debts.filter((debt) => debt === "scores").length };
}

export const isOwing = ({ rollouts, scores }: Owed): boolean => rollouts + scores > 0;

/** Whether nothing of what is owed asks the model: the answers are there, and only their worth is found anew. */
export const scoresOnly = ({ rollouts, scores }: Owed): boolean => rollouts === 0 && scores > 0;

/**
 * Marks every done unit with owed rollouts as pending again. Its rows and its share of the totals stay until the repaired
 * unit is committed, so that a repair which is cancelled loses nothing.
 */
export function oweRepairs(ledger: Ledger, head: RunHead, terms: RepairTerms): void {
  const units: number[] = [];
  for (const done of ledger.doneFrom(0)) if (!done.owed && isOwing(owedOf(done, terms))) units.push(done.unit);
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
}
