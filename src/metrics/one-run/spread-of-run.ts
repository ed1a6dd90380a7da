import { isCount } from "../count-metrics.ts";
import { type RewardRange, RewardSpread } from "../interval.ts";
import type { RolloutSummary } from "../rollout-summary.ts";
import type { ClusterGroups } from "./cluster-groups.ts";
import { ClusteredMean } from "./clustered-mean.ts";
import type { Estimate } from "./estimate.ts";

/** Metrics that have intervals; as many names are told apart of what an environment makes up. */
const MOST_METRICS = 256;

type Mean = RewardSpread | ClusteredMean;

/**
 * How sure the mean reward and the mean of each metric are, all by the same rule: the mean of each example first, then the interval over examples, or over
 * groups of them. Mergeable; memory has a bound for a number of metrics, and a small one where examples are not clustered.
 */
export class SpreadOfRun {
  readonly #groups: ClusterGroups | null;
  readonly #reward: Mean;
  readonly #metrics = new Map<string, Mean>();

  /** `groups`: of the examples; null = each is one of its own. */
  constructor(range: RewardRange, groups: ClusterGroups | null) {
    this.#groups = groups;
    this.#reward = this.#meanWithin(range);
  }

  /** All rollouts of one example. */
  addExample(rollouts: readonly RolloutSummary[], cluster?: string): void {
    this.#reward.addExample(
      rollouts.map(({ reward }) => reward),
      cluster,
    );
    for (const name of namesIn(rollouts)) {
      const values = rollouts.flatMap(({ metrics }) => metrics[name] ?? []);
      this.#metricOf(name)?.addExample(values, cluster);
    }
  }

  /** Throws a `RangeError` for one of another range. */
  merge(other: SpreadOfRun): void {
    mergeInto(this.#reward, other.#reward);
    for (const [name, mean] of other.#metrics) {
      const own = this.#metricOf(name);
      if (own !== undefined) mergeInto(own, mean);
    }
  }

  reward(): Estimate {
    return this.#reward.estimate();
  }

  metrics(): Readonly<Record<string, Estimate>> {
    return Object.fromEntries([...this.#metrics].map(([name, mean]) => [name, mean.estimate()]));
  }

  #metricOf(name: string): Mean | undefined {
    const known = this.#metrics.get(name);
    if (known !== undefined || this.#metrics.size >= MOST_METRICS) return known;
    const mean = this.#meanWithin(null, isCount(name));
    this.#metrics.set(name, mean);
    return mean;
  }

  #meanWithin(range: RewardRange | null, counts = false): Mean {
    return this.#groups === null ? new RewardSpread(range, counts) : new ClusteredMean(range, counts, this.#groups);
  }
}

/** Names in any of the rollouts; most often those of the first. */
function namesIn(rollouts: readonly RolloutSummary[]): Iterable<string> {
  const [first, ...others] = rollouts;
  if (first === undefined) return [];
  const names = new Set(Object.keys(first.metrics));
  for (const { metrics } of others) for (const name in metrics) names.add(name);
  return names;
}

function mergeInto(own: Mean, other: Mean): void {
  if (own instanceof RewardSpread && other instanceof RewardSpread) own.merge(other);
  else if (own instanceof ClusteredMean && other instanceof ClusteredMean) own.merge(other);
  else throw new RangeError("only means of the same kind can be merged");
}
