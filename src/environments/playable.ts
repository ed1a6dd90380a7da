import type { Sleep } from "../clients/client.ts";
import type { JsonObject } from "../config/run-config.ts";
import type { Failure } from "../errors/result.ts";
import type { RewardRange } from "../metrics/interval.ts";
import type { Parser } from "../parsers/parser.ts";
import type { Rubric } from "../rubrics/rubric.ts";
import type { Client, RolloutInput, State, Tool } from "../rollouts/types.ts";

/** Who a rollout may call and how long it may live. */
export interface RolloutContext {
  /**
   * Ends the rollout. A reason that is an `EdgewiseError` with a rollout code (a deadline) is recorded as the rollout's error;
   * any other reason is a cancellation and rejects.
   */
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly now: () => number;
  /** Waits for time limits of a rollout; default: the runtime's timers. */
  readonly sleep?: Sleep;
}

export interface StateRequest {
  readonly client: Client | null;
  readonly model: string;
  /** The run's own arguments. */
  readonly sampling_args: JsonObject;
  readonly now: number;
}

/** What playing and scoring the rollouts of an evaluation needs of it; an `Environment` is one, and offers what plays it as its methods. */
export interface Playable {
  readonly id: string;
  readonly version: string;
  readonly args: JsonObject;
  readonly parser: Parser;
  readonly rubric: Rubric;
  readonly passThreshold: number;
  readonly rewardRange: RewardRange;
  readonly scoreRollouts: boolean;
  readonly hasGroupRewards: boolean;
  readonly toolDefs: readonly Tool[];
  metricNames(): string[];
  scoringProblem(independent: boolean): Failure | null;
  mergeSamplingArgs(run: JsonObject): JsonObject;
  examples(count: number): AsyncIterable<RolloutInput>;
  initState(input: RolloutInput, request: StateRequest): State;
  rollout(state: State, context: RolloutContext): Promise<State>;
}
