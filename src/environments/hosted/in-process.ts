import { playUnit, scoresAlone } from "../unit/play-unit.ts";
import type { Playable } from "../unit/playable.ts";
import { scoreStored } from "../unit/score-stored.ts";
import type { HostedEnvironment } from "./hosted-environment.ts";
import type { EnvironmentTraits } from "./traits.ts";

/** An environment whose code runs where its rollouts are asked for. What is known of it is taken now. */
export function inProcess(environment: Playable): HostedEnvironment {
  return {
    traits: traitsOf(environment),
    examples: (count) => environment.examples(count),
    datasetSize: async () => environment.datasetSize,
    play: (input, indices, options) => playUnit(environment, input, indices, options),
    scoreStored: (input, rows, options) => scoreStored(environment, input, rows, options),
    teardown: () => environment.teardown(),
  };
}

/** What is known of `environment` as it is now. */
export function traitsOf(environment: Playable): EnvironmentTraits {
  const { id, version, args, datasetName, passThreshold, rewardRange, rubric, samplingArgs, toolDefs } = environment;
  const { concurrency, scoreRollouts, hasGroupRewards, resumable, access } = environment;
  return {
    ...{ id, version, args, datasetName, passThreshold, rewardRange, samplingArgs, toolDefs },
    ...{ concurrency, scoreRollouts, hasGroupRewards, resumable, access },
    rewardWeights: rubric.rewardWeights(),
    sharedTools: environment.sharedTools(),
    metricNames: environment.metricNames(),
    scoresAlone: scoresAlone(environment),
    whole: false,
    resultsShape: null,
    independentProblem: environment.scoringProblem(true),
    batchProblem: environment.batchProblem(),
  };
}
