import { isInfrastructureError, isScorerError } from "../../../src/errors/codes.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Done, Ledger } from "../state/ledger.ts";
import { makeOwed, makePending } from "../grants/pending.ts";
import { runsOf } from "../state/runs-of.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";

/** What a repair does about one rollout: runs it, scores it again from its row, or nothing. */
export type Debt = "rollout" | "scores" | null;

/** What a resume is told of errors. */
export interface RepairTerms {
  /** Everything stays as it ended. */
  readonly keepErrors: boolean;
  /** Scorer errors are scored again: the environment's code is another than the one that failed, and the same code would fail again. */
  readonly scoreAgain: boolean;
  /** No rollout is run: those of the run are another's, and stay what they ended in. Absent = they may be. */
  readonly runsNone?: boolean;
}

/** Rollouts that a repair owes: to be run (an adopted folder lacks them, or infrastructure ended them), and to be scored only. */
export interface Owed {
  readonly rollouts: number;
  readonly scores: number;
}

export const termsOf = (
  { keep_errors, score_again }: Pick<RunHead, "keep_errors" | "score_again">,
  { rescored_from }: Pick<RunConfig, "rescored_from">,
): RepairTerms => ({ keepErrors: keep_errors, scoreAgain: score_again === true, runsNone: rescored_from !== undefined });

export function debtOf(rollout: RolloutSummary | null, { keepErrors, scoreAgain, runsNone = false }: RepairTerms): Debt {
  if (rollout === null) return "rollout";
  if (keepErrors || rollout.error === null) return null;
  if (isInfrastructureError(rollout.error)) return runsNone ? null : "rollout";
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

/** Some ten milliseconds of unpacking: other calls of the Run wait no longer for it. */
export const ROLLOUTS_A_TURN = 4_096;

/**
 * The next turn of a repair: marks done units with owed rollouts as pending again. Their rows and their share of the totals stay until the
 * repaired unit is committed, so that a repair which is cancelled loses nothing.
 */
export function repairSlice(ledger: Ledger, head: RunHead, { slice = ROLLOUTS_A_TURN }: Pick<RunContext, "slice">): void {
  const { repair } = head;
  if (repair === undefined) return;
  const terms: RepairTerms = { ...termsOf(head, ledger.config()), scoreAgain: repair.score_again };
  const most = Math.max(1, Math.floor(slice / ledger.config().rollouts_per_example));
  const next = repair.from + most;
  const owed = ledger.failedIn({ lo: repair.from, hi: next }).flatMap((done) => (!done.owed && isOwing(owedOf(done, terms)) ? [{ ...done, owed: true }] : []));
  ledger.putDones(owed);
  const unitsOf = (dones: readonly Done[]): number[] => dones.map(({ unit }) => unit);
  for (const range of runsOf(unitsOf(owed), 0)) for (const { unit } of ledger.suspectsIn(range)) ledger.deleteSuspect(unit);
  const [scored, played] = [owed.filter((done) => scoresOnly(owedOf(done, terms))), owed.filter((done) => !scoresOnly(owedOf(done, terms)))];
  makePending(ledger, head, unitsOf(scored));
  makeOwed(ledger, head, unitsOf(played));
  head.done -= owed.length;
  if (next >= (head.n ?? 0)) delete head.repair;
  else head.repair = { ...repair, from: next };
}
