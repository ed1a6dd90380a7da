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

/** Of a run that scores another's rollouts again: what those ended in stays, whatever it was. */
export const withoutRepairs = (errors: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(errors).filter(([code]) => !isInfrastructureError(code)));

/** How many of a run's rollouts infrastructure ended, and in what, before the command that resumes it; null where there are none. */
export function owedText(errors: Readonly<Record<string, number>>, rollouts: number): string | null {
  const codes = Object.entries(errors).filter(([code]) => isInfrastructureError(code));
  if (codes.length === 0) return null;
  const count = codes.reduce((sum, [, each]) => sum + each, 0);
  const named = codes.sort(([, a], [, b]) => b - a).map(([code, each]) => `${code} ${each}`);
  const [what, them] = count === 1 ? ["an error", "it"] : ["errors", "them"];
  return `${count} of ${rolloutsText(rollouts)} ended in ${what} of the infrastructure (${named.join(", ")}); this makes ${them} again`;
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

/** What is known of a run that decides what a resume would do. */
export interface RestingRun {
  readonly status: string;
  readonly settled: boolean;
  /** Rows that it has. */
  readonly rows: number;
  /** Rollouts of units that are not done. */
  readonly missing: number;
  /** Rollouts by error code. */
  readonly errors: Readonly<Record<string, number>>;
  /** What ended it, where its status does not say. */
  readonly endedBy?: "budget" | undefined;
}

/** Whether a run ended before it had anything: its data set, its environment or its endpoint is to blame, and a new run loses nothing. */
export const endedBeforeRows = ({ status, settled, rows }: Pick<RestingRun, "status" | "settled" | "rows">): boolean =>
  settled && status === "FAILED" && rows === 0;

/** Failures of which the same data and code would be the cause again. */
const OF_LOADING: readonly string[] = [
  "dataset_unreadable",
  "dataset_changed",
  "metric_name_reserved",
  "cluster_key_unknown",
  "environment_failed",
  "environment_not_found",
  "access_not_allowed",
];

/** Whether a resume with nothing mended could only fail as before: the data set or the environment never loaded. */
export const isDead = (run: Pick<RestingRun, "status" | "settled" | "rows">, failureCode: string | null): boolean =>
  endedBeforeRows(run) && failureCode !== null && OF_LOADING.includes(failureCode);

/** What a resume of a run that rests would do: rollouts that run (for the first time or again), and those that are only scored again. */
export interface Prospects {
  readonly rollouts: number;
  readonly scores: number;
}

/** `codeChanged`: the environment's code is another than the run's, so that scorer errors may be mended. */
export function prospectsOf({ missing, errors }: Pick<RestingRun, "missing" | "errors">, codeChanged: boolean): Prospects {
  const { repairable, unscored } = leftoversOf(errors);
  // Of a repair that was broken off the errors are among what is missing.
  return { rollouts: missing > 0 ? Math.max(missing, repairable) : repairable, scores: codeChanged ? unscored : 0 };
}

/** How a run goes on, in words before a command: on what condition, and what the command then does; null = there is nothing to go on with. */
export function nextStep(run: RestingRun, unscoredState: readonly string[] = []): { readonly when: string | null; readonly what: string | null } | null {
  if (!run.settled) return { when: null, what: null };
  if (endedBeforeRows(run)) return { when: "once that is mended", what: null };
  const { rollouts } = prospectsOf(run, false);
  if (rollouts > 0) {
    const again = run.missing > 0 ? "to do" : `that infrastructure ended ${rollouts === 1 ? "runs" : "run"} again`;
    return { when: run.endedBy === "budget" ? "once the budget allows more" : null, what: `${rolloutsText(rollouts)} ${again}` };
  }
  const { unscored } = leftoversOf(run.errors);
  if (unscored === 0 || unscoredState.length > 0) return null;
  return { when: "once the reward function is mended", what: `${rolloutsText(unscored)} ${unscored === 1 ? "is" : "are"} scored again, none is generated` };
}
