import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { isInfrastructureError, isScorerError } from "../../../src/errors/codes.ts";
import type { ResumeRequest } from "../control.ts";
import type { RunHead } from "../state/head.ts";
import type { Done, Ledger } from "../state/ledger.ts";
import { type Owed, type RepairTerms, termsOf } from "./repair.ts";
import { inTurns } from "./turns.ts";

/** Whether the code that goes on is another than the run's, as far as both are known. */
export const hasOtherCode = ({ env_digest }: RunHead, request: ResumeRequest): boolean =>
  env_digest !== null && typeof request.env_digest === "string" && request.env_digest !== env_digest;

/** What this resume repairs: of units that an earlier one left owed, also what that one was told of. */
export interface ResumeTerms {
  readonly fresh: RepairTerms;
  readonly left: RepairTerms;
}

export function termsFor(head: RunHead, config: Pick<RunConfig, "rescored_from">, request: ResumeRequest): ResumeTerms {
  const before = termsOf(head, config);
  const fresh = { ...before, keepErrors: request.keep_errors, scoreAgain: hasOtherCode(head, request) };
  return { fresh, left: { ...fresh, scoreAgain: fresh.scoreAgain || before.scoreAgain } };
}

/** Rollouts of done units that a repair may owe, by what became of them. */
interface Failed {
  missing: number;
  infrastructure: number;
  scorer: number;
}

/** What a resume is decided on, of all done units. `fresh`: of units that no repair has marked; `left`: of those that an earlier one left owed. */
export interface DebtCount {
  done: number;
  readonly fresh: Failed;
  readonly left: Failed;
}

const noDebts = (): DebtCount => ({
  done: 0,
  fresh: { missing: 0, infrastructure: 0, scorer: 0 },
  left: { missing: 0, infrastructure: 0, scorer: 0 },
});

function countUnit(count: DebtCount, { rollouts, owed }: Done): void {
  count.done++;
  const failed = owed ? count.left : count.fresh;
  for (const rollout of rollouts) {
    if (rollout === null) failed.missing++;
    else if (rollout.error === null) continue;
    else if (isInfrastructureError(rollout.error)) failed.infrastructure++;
    else if (isScorerError(rollout.error)) failed.scorer++;
  }
}

export function countDebts(ledger: Ledger): DebtCount {
  const count = noDebts();
  for (const done of ledger.doneFrom(0)) countUnit(count, done);
  return count;
}

/** What the count of debts stands for: any change of the done units since changes it. */
export const debtsMark = ({ generation, seq, repair }: RunHead): string => [generation, seq, repair?.from ?? ""].join(":");

/** Debts counted before a transition, in turns (`countedInTurns`). */
export interface CountedDebts {
  readonly mark: string;
  readonly debts: DebtCount;
}

/**
 * The same count from the totals, at once, however many units there are; null where units wait for a repair, whose rows count in the totals as
 * those of all others do. Where none waits, and only then, the totals have all rollouts of the units that are done: one that lacks some
 * waits, and has others.
 */
export function debtsOfTotals({ done, totals }: Pick<RunHead, "done" | "totals">, { rollouts_per_example }: RunConfig): DebtCount | null {
  if (totals.rollouts !== done * rollouts_per_example) return null;
  const count = { ...noDebts(), done };
  for (const [code, failed] of Object.entries(totals.errors)) {
    if (isInfrastructureError(code)) count.fresh.infrastructure += failed;
    else if (isScorerError(code)) count.fresh.scorer += failed;
  }
  return count;
}

/** The same count without holding up others: `pause` is awaited after each turn, and says whether the run is still there; else null. */
export async function countedInTurns(ledger: Ledger, pause: () => Promise<boolean>): Promise<CountedDebts | null> {
  const head = ledger.head();
  if (head === null) return null;
  const known = debtsOfTotals(head, ledger.config());
  if (known !== null) return { mark: debtsMark(head), debts: known };
  const debts = noDebts();
  for await (const done of inTurns(ledger, pause)) countUnit(debts, done);
  return { mark: debtsMark(head), debts };
}

function owedOfFailed({ missing, infrastructure, scorer }: Failed, { keepErrors, scoreAgain, runsNone = false }: RepairTerms): Owed {
  return { rollouts: missing + (keepErrors || runsNone ? 0 : infrastructure), scores: keepErrors || !scoreAgain ? 0 : scorer };
}

/** Rollouts of units never done, plus what repairs owe; `fresh`: what this one would have to mark, `leftScores`: some of the rest is scores. */
export function owedInAll(
  head: RunHead,
  config: RunConfig,
  debts: DebtCount,
  terms: ResumeTerms,
): Owed & { readonly fresh: Owed; readonly leftScores: boolean } {
  const fresh = owedOfFailed(debts.fresh, terms.fresh);
  if (head.n === null) return { rollouts: Math.max(1, config.num_examples) * config.rollouts_per_example, scores: 0, fresh, leftScores: false };
  const left = owedOfFailed(debts.left, terms.left);
  return {
    // What is held by a folder is neither known to be there nor to be missing.
    rollouts: (head.n - debts.done - (head.held ?? 0)) * config.rollouts_per_example + fresh.rollouts + left.rollouts,
    scores: fresh.scores + left.scores,
    fresh,
    leftScores: left.scores > 0,
  };
}

/** Scorer errors that this resume leaves, and why. */
export function leftErrors(head: RunHead, request: ResumeRequest, owed: Owed): string[] {
  const failed = Object.entries(head.totals.errors).reduce((sum, [code, count]) => sum + (isScorerError(code) ? count : 0), 0);
  if (failed === 0 || owed.scores > 0 || request.keep_errors || typeof request.env_digest !== "string") return [];
  const rollouts = failed === 1 ? "1 rollout that ended in a scorer error stays as it is" : `${failed} rollouts that ended in scorer errors stay as they are`;
  return [`${rollouts}: the environment's code has not changed, and would fail in the same way. With a mended reward function a resume scores them again.`];
}

/** `kept`: of the rollouts, those that are generated already. */
export const described = ({ rollouts, scores }: Owed, kept: number): string =>
  [
    ...(rollouts > 0 || scores === 0 ? [`${rollouts} rollouts owed`] : []),
    ...(kept > 0 ? [`${kept} of them generated already`] : []),
    ...(scores > 0 ? [`${scores} to be scored again`] : []),
  ].join(", ");
