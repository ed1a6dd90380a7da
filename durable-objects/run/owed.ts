import type { RunConfig } from "../../src/config/run-config.ts";
import { isScorerError } from "../../src/errors/codes.ts";
import type { ResumeRequest } from "./control.ts";
import type { RunHead } from "./head.ts";
import type { Ledger } from "./ledger.ts";
import { type Owed, owedOf, type RepairTerms, termsOf } from "./repair.ts";

/** Whether the code that goes on is another than the run's, as far as both are known. */
export const hasOtherCode = ({ env_digest }: RunHead, request: ResumeRequest): boolean =>
  env_digest !== null && typeof request.env_digest === "string" && request.env_digest !== env_digest;

/** What this resume repairs: of units that an earlier one left owed, also what that one was told of. */
export interface ResumeTerms {
  readonly fresh: RepairTerms;
  readonly left: RepairTerms;
}

export function termsFor(head: RunHead, request: ResumeRequest): ResumeTerms {
  const fresh = { keepErrors: request.keep_errors, scoreAgain: hasOtherCode(head, request) };
  return { fresh, left: { ...fresh, scoreAgain: fresh.scoreAgain || termsOf(head).scoreAgain } };
}

/** Rollouts of units never done, plus what repairs owe; `leftScores`: some of that was left by an earlier repair. */
export function owedInAll(ledger: Ledger, head: RunHead, config: RunConfig, terms: ResumeTerms): Owed & { readonly leftScores: boolean } {
  if (head.n === null) return { rollouts: Math.max(1, config.num_examples) * config.rollouts_per_example, scores: 0, leftScores: false };
  let done = 0;
  let rollouts = 0;
  let scores = 0;
  let leftScores = false;
  for (const row of ledger.doneFrom(0)) {
    done++;
    const owed = owedOf(row, row.owed ? terms.left : terms.fresh);
    rollouts += owed.rollouts;
    scores += owed.scores;
    leftScores ||= row.owed && owed.scores > 0;
  }
  return { rollouts: (head.n - done) * config.rollouts_per_example + rollouts, scores, leftScores };
}

/** Scorer errors that this resume leaves, and why. */
export function leftErrors(head: RunHead, request: ResumeRequest, owed: Owed): string[] {
  const failed = Object.entries(head.totals.errors).reduce((sum, [code, count]) => sum + (isScorerError(code) ? count : 0), 0);
  if (failed === 0 || owed.scores > 0 || request.keep_errors || typeof request.env_digest !== "string") return [];
  const rollouts = failed === 1 ? "1 rollout that ended in a scorer error stays as it is" : `${failed} rollouts that ended in scorer errors stay as they are`;
  return [`${rollouts}: the environment's code has not changed, and would fail in the same way. With a mended reward function a resume scores them again.`];
}

export const described = ({ rollouts, scores }: Owed): string =>
  [...(rollouts > 0 || scores === 0 ? [`${rollouts} rollouts owed`] : []), ...(scores > 0 ? [`${scores} to be scored again`] : [])].join(", ");
