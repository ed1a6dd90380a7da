/** One number, or one for each sample, out of a run that has ended. */
import { SCORED } from "../../environments/evaluations/likelihood-env.ts";
import { reduceRows, type Reduction, type ScoredRow } from "../../environments/evaluations/reduce.ts";
import { isInfrastructureError } from "../../errors/codes.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { RolloutOutput } from "../../rollouts/rows/output.ts";
import type { EvaluationResult } from "../engine/evaluation-result.ts";

/** What of a run an evaluator reads. */
export type EndedRun = Pick<EvaluationResult, "runId" | "status" | "errors" | "failure"> & { rows(): AsyncIterable<RolloutOutput> };

export interface ReducedRun {
  readonly runId: string;
  readonly score: number | number[];
  /** Of each sample: tokens, log-probabilities and mask; a list of them where a sample has several texts; of what the model wrote, all of it counts. Null where the server gave none. Empty unless asked for. */
  readonly intermediates: readonly unknown[];
  /** Rollouts without a score, by the model's own doing: they are in no number. */
  readonly unscored: number;
}

/**
 * Throws the run's failure where it has one, and `provider_error` where rollouts ended in errors of the infrastructure: a resume plays those again, and until then there is no number
 * of the evaluation.
 */
export async function reduceRun(name: string, run: EndedRun, reduce: Reduction, withIntermediates: boolean): Promise<ReducedRun> {
  if (run.failure !== null) throw run.failure;
  const owed = Object.entries(run.errors).filter(([code]) => isInfrastructureError(code));
  if (owed.length > 0) {
    const errors = owed.map(([code, count]) => `${count} in ${code}`).join(", ");
    throw new EdgewiseError("provider_error", `evaluation ${name}: of run ${run.runId} rollouts ended without a score: ${errors}`, {
      hint: "once the server answers, ask again with resume: true; only these are played again",
    });
  }
  const rows: ScoredRow[] = [];
  const intermediates: unknown[] = [];
  let unscored = 0;
  for await (const row of run.rows()) {
    if (row.error !== null && row.error !== undefined) {
      unscored += 1;
      continue;
    }
    rows.push({ reward: row.reward, metrics: row.metrics ?? {} });
    if (withIntermediates) intermediates.push(row[SCORED] ?? null);
  }
  if (rows.length === 0) throw new EdgewiseError("scorer_error", `evaluation ${name}: no rollout of run ${run.runId} has a score`);
  return { runId: run.runId, score: reduceRows(rows, reduce), intermediates, unscored };
}
