import { failureOfRollout, rolloutFailure } from "../../rollouts/failure.ts";
import type { Playable } from "./playable.ts";
import type { State } from "../../rollouts/types.ts";
import type { UnitScope } from "./unit-scope.ts";

export interface ScoringOptions {
  /** It is one rollout, and scored by itself. */
  readonly independent: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Scores within the unit's time; a rubric that breaks or does not end is the rollouts' error, not the unit's. */
export async function scoreStates(environment: Playable, states: readonly State[], options: ScoringOptions, scope: UnitScope): Promise<void> {
  if (!environment.scoreRollouts) {
    for (const state of states) Object.assign(state, { reward: 0, metrics: {} });
    return;
  }
  const { rubric } = environment;
  const [first] = states;
  try {
    await scope.scoring((signal) => {
      const scoring = { now: options.now, signal };
      return options.independent && first !== undefined ? rubric.scoreRollout(first, scoring) : rubric.scoreGroup(states, scoring);
    });
  } catch (thrown) {
    if (scope.cancelled || scope.fatal !== null) return;
    const late = scope.lateness !== null && thrown === scope.lateness;
    for (const state of states) {
      state.error ??= late
        ? rolloutFailure("timeout", `the scores of ${environment.id} were not there in time: ${scope.lateness?.message}`)
        : failureOfRollout(thrown, "scorer_error");
    }
  }
}

/** Compares rollouts of one example that were scored by themselves, as scoring them together does. */
export function creditStates(environment: Playable, states: readonly State[]): void {
  if (!environment.scoreRollouts) return;
  try {
    environment.rubric.creditGroup(states);
  } catch (thrown) {
    for (const state of states) state.error ??= failureOfRollout(thrown, "scorer_error");
  }
}
