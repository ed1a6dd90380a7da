import type { RolloutInput } from "../../rollouts/types.ts";
import type { PlayedUnit, PlayOptions } from "../unit/play-unit.ts";
import type { ScoreStoredOptions } from "../unit/score-stored.ts";
import type { KeptRollout, Stored } from "../unit/stored-rollout.ts";
import type { EnvironmentTraits } from "./traits.ts";

/**
 * A loaded environment as an executor works with it, wherever its code runs: in the executor's own isolate (in-process.ts), or behind a wall, in an isolate
 * or a process of its own. Client, gates, retries of calls, storage and rows are the executor's; rollouts and their scores are the environment's.
 *
 * Judges: the clients that an environment is given for other models are made by the host's `LoadContext.client` in every case, and count what they take by
 * the state that a request names (rollouts/state/judge-usage.ts). Where the environment is not in the executor's isolate, the request that reaches that client
 * is made on the executor's side, with a state of its own for the rollout it is for; what was counted for that is given to the state that comes back by
 * `keepJudgeUsage(state, judgeUsageOf(standIn))`, and what such a text says itself of judges is nobody's word.
 */
export interface HostedEnvironment {
  readonly traits: EnvironmentTraits;
  /** The first `count` examples that an evaluation runs (below 1 = all), read as they are asked for. Throws `dataset_unreadable`, or what the environment threw. */
  examples(count: number): AsyncIterable<RolloutInput>;
  /** Tasks that the data set has in all, once the last of `examples` was read; null where who reads it has not counted. */
  datasetSize(): Promise<number | null>;
  /**
   * Plays the rollouts `indices` of one example side by side and scores them, those among them that are generated already, and those of which there are rows
   * (`options.stored`). Whatever goes wrong in a rollout is in its state; rejects only for a fault of the engine. `onRollout` has been told of a rollout
   * before it is in `states`; `onScoring`, before its scores are.
   */
  play(input: RolloutInput, indices: readonly number[], options: PlayOptions): Promise<PlayedUnit>;
  /** Scores rollouts of one example from their rows, in their order; null where that was cut off. Rejects for a fault of the engine, and for rows that are none. */
  scoreStored(input: RolloutInput, rows: readonly KeptRollout[], options: ScoreStoredOptions): Promise<readonly Stored[] | null>;
  /** Lets go of what rubric and environment hold. Whoever loaded the environment calls it, once. Rejects with what the environment threw. */
  teardown(): Promise<void>;
}
