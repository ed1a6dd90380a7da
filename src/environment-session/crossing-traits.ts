import type { EnvironmentTraits } from "../environments/hosted/traits.ts";
import type { CrossedTraits } from "../environment-protocol/values.ts";

const end = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** Traits as they cross. */
export function crossingTraits(known: EnvironmentTraits): CrossedTraits {
  const [low, high] = known.rewardRange;
  return {
    id: known.id,
    version: known.version,
    args: known.args,
    dataset_name: known.datasetName,
    pass_threshold: known.passThreshold,
    reward_range: [end(low), end(high)],
    reward_weights: { ...known.rewardWeights },
    sampling_args: known.samplingArgs,
    tool_defs: [...known.toolDefs],
    shared_tools: known.sharedTools,
    concurrency: known.concurrency,
    metric_names: [...known.metricNames],
    score_rollouts: known.scoreRollouts,
    has_group_rewards: known.hasGroupRewards,
    scores_alone: known.scoresAlone,
    resumable: known.resumable,
    access: [...known.access],
    independent_problem: known.independentProblem,
    batch_problem: known.batchProblem,
  };
}
