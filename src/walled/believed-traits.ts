import { notInBatches } from "../environments/hosted/not-in-batches.ts";
import type { EnvironmentTraits } from "../environments/hosted/traits.ts";
import type { Failure } from "../errors/result.ts";
import type { CrossedTraits } from "../environment-protocol/values.ts";
import { USUAL_RANGE } from "../metrics/interval.ts";

/** Traits as this side has them, of `id` and `version` whatever they say. A problem that it tells ends a run: its code is none of ours. */
export function traitsFrom(crossed: CrossedTraits, { id, version }: Pick<EnvironmentTraits, "id" | "version">): EnvironmentTraits {
  const { independent_problem, batch_problem } = crossed;
  return {
    id,
    version,
    args: crossed.args as EnvironmentTraits["args"],
    datasetName: crossed.dataset_name,
    passThreshold: crossed.pass_threshold,
    rewardRange: rangeOf(crossed.reward_range),
    rewardWeights: crossed.reward_weights,
    samplingArgs: crossed.sampling_args as EnvironmentTraits["samplingArgs"],
    toolDefs: crossed.tool_defs as unknown as EnvironmentTraits["toolDefs"],
    sharedTools: crossed.shared_tools as unknown as EnvironmentTraits["sharedTools"],
    concurrency: crossed.concurrency,
    metricNames: crossed.metric_names,
    scoreRollouts: crossed.score_rollouts,
    hasGroupRewards: crossed.has_group_rewards,
    scoresAlone: crossed.scores_alone,
    resumable: crossed.resumable,
    access: crossed.access,
    whole: crossed.whole === true,
    resultsShape: crossed.results_shape ?? null,
    independentProblem: independent_problem === null ? null : failureFrom(independent_problem),
    batchProblem: batch_problem === null ? null : batch_problem === undefined ? untold(id) : failureFrom(batch_problem),
  };
}

const failureFrom = ({ message, hint }: NonNullable<CrossedTraits["independent_problem"]>): Failure => ({
  code: "environment_failed",
  message,
  ...(hint === undefined ? {} : { hint }),
});

/** Libraries of before did not know of batches, and others send several requests as they please. */
const untold = (id: string): Failure => notInBatches(id, "does not say that its rollouts are of one turn");

/** An end that is not known, or a range that is none, is as what nothing is said of: it is widened by what is seen. */
function rangeOf([low, high]: CrossedTraits["reward_range"]): EnvironmentTraits["rewardRange"] {
  const range = [low ?? Math.min(USUAL_RANGE[0], high ?? 0), high ?? Math.max(USUAL_RANGE[1], low ?? 0)] as const;
  return range[0] <= range[1] ? range : USUAL_RANGE;
}
