import type { Sleep } from "../../clients/client.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import type { Failure } from "../../errors/result.ts";
import type { RewardRange } from "../../metrics/interval.ts";
import type { Parser } from "../../parsers/parser.ts";
import type { Rubric } from "../../rubrics/rubric.ts";
import type { Access } from "../definition/access.ts";
import type { KeptTurn } from "../../rollouts/kept/kept-state.ts";
import type { Client, RolloutInput, State, Tool } from "../../rollouts/types.ts";

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
  /** Where a rollout stood that somebody else began, and is gone on with on its opened state; absent = it begins. */
  readonly from?: KeptTurn;
  /**
   * Told after each answered turn that is not the last, and again before the next call, where the rollout can be gone on from. `leave` has it
   * stop there and reject with `RolloutLeft`. Absent = nobody keeps it.
   */
  readonly onTurn?: (state: State, turn: KeptTurn) => "go-on" | "leave";
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
  /** What the data set is called that its loader was given; null where it was given none, or an upload. */
  readonly datasetName: string | null;
  /** Tasks that the data set has in all, where who reads it has counted them by the time of its last example; null = nobody counted. */
  readonly datasetSize: number | null;
  readonly parser: Parser;
  readonly rubric: Rubric;
  readonly passThreshold: number;
  readonly rewardRange: RewardRange;
  readonly scoreRollouts: boolean;
  readonly hasGroupRewards: boolean;
  /** Whether a rollout can be gone on with from its state, by another instance elsewhere. */
  readonly resumable: boolean;
  readonly toolDefs: readonly Tool[];
  readonly samplingArgs: JsonObject;
  /** Examples open at once in a whole run; null = as many as its requests need. */
  readonly concurrency: number | null;
  /** What it asks for beyond models and data. */
  readonly access: readonly Access[];
  /** The tools that every rollout has, as rows show them; null where there are none or they differ. */
  sharedTools(): JsonObject[] | null;
  metricNames(): string[];
  scoringProblem(independent: boolean): Failure | null;
  batchProblem(): Failure | null;
  mergeSamplingArgs(run: JsonObject): JsonObject;
  examples(count: number): AsyncIterable<RolloutInput>;
  initState(input: RolloutInput, request: StateRequest): State;
  rollout(state: State, context: RolloutContext): Promise<State>;
  teardown(): Promise<void>;
}
