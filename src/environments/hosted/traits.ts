import { mergedSampling } from "../../config/plan/merged-sampling.ts";
import type { JsonObject, ResultsShape, RunConfig } from "../../config/plan/run-config.ts";
import type { Failure } from "../../errors/result.ts";
import type { RewardRange } from "../../metrics/interval.ts";
import type { Tool } from "../../rollouts/types.ts";
import type { Access } from "../definition/access.ts";

/** What is known of a loaded environment, with its options set and its rubric chosen; plain data, taken once per load. */
export interface EnvironmentTraits {
  readonly id: string;
  readonly version: string;
  readonly args: JsonObject;
  /** What the data set is called that its loader was given; null where it was given none, or an upload. */
  readonly datasetName: string | null;
  readonly passThreshold: number;
  /** What rewards can be. */
  readonly rewardRange: RewardRange;
  /** What each metric counts for in the reward. */
  readonly rewardWeights: Readonly<Record<string, number>>;
  /** The environment's own; a run's are merged over them (`mergeSamplingArgs`). */
  readonly samplingArgs: JsonObject;
  /** What models are told of the tools. The same objects for as long as the environment is loaded: kept states name a tool by being one of them. */
  readonly toolDefs: readonly Tool[];
  /** The tools that every rollout has, as rows show them; null where there are none or they differ. */
  readonly sharedTools: JsonObject[] | null;
  /** Examples open at once in a whole run; null = as many as its requests need. */
  readonly concurrency: number | null;
  /** Every metric a row will carry, in order. */
  readonly metricNames: readonly string[];
  readonly scoreRollouts: boolean;
  /** A function judges all rollouts of an example together. */
  readonly hasGroupRewards: boolean;
  /** Nothing judges the rollouts of an example together: each can be scored as soon as it is generated. */
  readonly scoresAlone: boolean;
  /** Whether a rollout can be gone on with from its state, elsewhere. */
  readonly resumable: boolean;
  /** What it asks for beyond models and data. */
  readonly access: readonly Access[];
  /** Units are played in one piece: nothing of one is kept or scored by itself before it is over, and none is divided. */
  readonly whole: boolean;
  /** Of the rows that it gives itself; null where rows are made of its states. */
  readonly resultsShape: ResultsShape | null;
  /** Why rollouts cannot be scored by themselves (`independent_scoring`); null = they can. */
  readonly independentProblem: Failure | null;
  /** Why requests of its rollouts cannot go out in batches; null = each rollout asks the model under evaluation once. */
  readonly batchProblem: Failure | null;
}

/** The run's sampling arguments over the environment's, shallowly: a run's `extra_body` replaces the environment's. Its own `max_tokens` stands where the run's is null. */
export const mergeSamplingArgs = ({ samplingArgs }: Pick<EnvironmentTraits, "samplingArgs">, run: JsonObject): JsonObject => mergedSampling(samplingArgs, run);

/** Shape of a run's rows: the run's own, else that of the rows that the environment gives; undefined = the usual one. */
export const shapeOf = (
  { resultsShape }: Pick<EnvironmentTraits, "resultsShape">,
  { results_shape }: Pick<RunConfig, "results_shape">,
): ResultsShape | undefined => results_shape ?? resultsShape ?? undefined;

/** Why these settings cannot be scored; null when they can. */
export const scoringProblem = ({ independentProblem }: Pick<EnvironmentTraits, "independentProblem">, independent: boolean): Failure | null =>
  independent ? independentProblem : null;

/** Whether nothing judges the rollouts of an example together, so that each has its scores when it is generated. */
export const isScoredAlone = ({ scoresAlone }: Pick<EnvironmentTraits, "scoresAlone">, { independent }: { readonly independent: boolean }): boolean =>
  independent || scoresAlone;
