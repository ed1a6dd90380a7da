import { isInfrastructureError, isScorerError } from "./codes.ts";

/** Rollouts of a run that ended in errors, by what can be done about them. */
export interface Leftovers {
  /** Ended by infrastructure: a resume runs them again. */
  readonly repairable: number;
  /** Not scored: a resume scores them again once the reward function is mended. */
  readonly unscored: number;
  /** The model's outcome, or the environment's: no resume draws them again. */
  readonly final: number;
}

/** `errors`: rollouts by code. */
export function leftoversOf(errors: Readonly<Record<string, number>>): Leftovers {
  const left = { repairable: 0, unscored: 0, final: 0 };
  for (const [code, count] of Object.entries(errors)) left[isInfrastructureError(code) ? "repairable" : isScorerError(code) ? "unscored" : "final"] += count;
  return left;
}

export const rolloutsText = (count: number): string => (count === 1 ? "1 rollout" : `${count} rollouts`);
const them = (count: number): string => (count === 1 ? "it is" : "they are");

/** Why rows that were to be scored again stay as they are, and what helps. `state`: what reward functions asked for that rows do not hold. */
export function lacksState(rollouts: number, state: readonly string[]): string {
  const keys = state.map((key) => `state.${key}`).join(", ");
  return `${rolloutsText(rollouts)} could not be scored again, since the reward functions read ${keys}, which stored rows do not hold; the rows stay as they were. Mend the functions to do without, or start a new run (with --state-columns ${state.join(" ")} its rows hold it).`;
}

/** What to do about a run in which every rollout ended in an error; `state`: see `lacksState`. */
export function mendHint(errors: Readonly<Record<string, number>>, state: readonly string[] = []): string {
  const { repairable, unscored, final } = leftoversOf(errors);
  const hints: string[] = [];
  if (repairable > 0) hints.push(`Mend what the errors name, then resume: ${rolloutsText(repairable)} ${repairable === 1 ? "runs" : "run"} again.`);
  if (unscored > 0 && state.length > 0) hints.push(lacksState(unscored, state));
  else if (unscored > 0)
    hints.push(`Mend the reward function, then resume: ${rolloutsText(unscored)} ${unscored === 1 ? "is" : "are"} scored again, and none is generated.`);
  if (final > 0 && hints.length === 0)
    hints.push("A resume does not draw such rollouts again: read the errors in the results, mend their cause, and start a new run.");
  else if (final > 0) hints.push(`${rolloutsText(final)} ended in errors of the model or the environment; ${them(final)} not drawn again.`);
  return hints.join(" ");
}
