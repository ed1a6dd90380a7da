/** How a run goes on, as the command line says it. */
import { nextStep, type RestingRun, withoutRepairs } from "../../errors/leftovers.ts";
import type { Evaluation } from "../connection/api-types.ts";

/** What decides it, as the service tells it. */
export function restingRun({ status, total_samples, edgewise }: Evaluation): RestingRun {
  const { settled, owed_rollouts, done_rollouts, errors, rescored_from, stopped_early, ended_by } = edgewise;
  const own = rescored_from === undefined ? errors : withoutRepairs(errors);
  // What ended in an error stays as it was counted when the rule was met.
  return { status, settled, rows: total_samples ?? done_rollouts, missing: owed_rollouts, errors: stopped_early === undefined ? own : {}, endedBy: ended_by };
}

/** Null: there is nothing to go on with. */
export const nextStepOf = (evaluation: Evaluation): ReturnType<typeof nextStep> => nextStep(restingRun(evaluation), evaluation.edgewise.unscored?.state);

/** Between `Resume` and the command. */
export const stepText = ({ when, what }: { readonly when: string | null; readonly what: string | null }): string =>
  `${when === null ? "" : ` ${when}`}${what === null ? "" : ` (${what})`}`;
