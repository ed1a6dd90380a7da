import type { Evaluator } from "../../api/schedule-answers.ts";

/** The step that is evaluated next, as the series has it: the next one of the least cadence behind the highest that there is, else the one behind it. */
export function nextStep({ definition: { evaluations }, records }: Pick<Evaluator, "definition" | "records">): number {
  const highest = records.reduce((most, { step }) => Math.max(most, step), 0);
  const dues = evaluations.flatMap(({ run_every }) => (run_every > 0 ? [(Math.floor(highest / run_every) + 1) * run_every] : []));
  return dues.length === 0 ? highest + 1 : Math.min(...dues);
}
