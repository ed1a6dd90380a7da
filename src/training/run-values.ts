import { METRICS } from "../metrics/named/metric-registry.ts";
import type { TaskRewards } from "../metrics/named/first-k.ts";
import type { CorpusNumbers } from "../metrics/one-run/corpus.ts";
import type { Estimate } from "../metrics/one-run/estimate.ts";
import type { PassIntervals, PassRates } from "../metrics/pass-at-k.ts";
import { erroredRollouts, type Totals } from "../metrics/totals.ts";
import type { Value } from "./state.ts";

/** What a run says of itself that numbers are taken from, as its object and its `metadata.json` have it. */
export interface RunNumbers {
  readonly totals: Totals;
  readonly scores?: {
    readonly reward_ci95: readonly [number, number] | null;
    readonly pass_at_k: PassRates;
    readonly pass_all_k?: PassRates;
    readonly pass_at_k_ci95?: PassIntervals;
    readonly pass_all_k_ci95?: PassIntervals;
    readonly metric_estimates?: Readonly<Record<string, Estimate>>;
    readonly corpus?: CorpusNumbers;
  };
}

type Values = Readonly<Record<string, Value>>;
type Source = (run: RunNumbers, name: string) => Value | undefined;

const known = (value: number | null | undefined, interval?: readonly [number, number] | null): Value | undefined =>
  value === null || value === undefined || !Number.isFinite(value)
    ? undefined
    : { value, ...(interval === null || interval === undefined ? {} : { ci95: interval }) };

/** Names of the mean reward, whose interval a run has as well. */
const REWARD = ["mean_reward", "avg"];

/** Metrics by name, which are computed from the rewards of attempts in their order. */
export const isNamed = (name: string): boolean => METRICS.names.includes(name);
/** Whether any of them is computed from rewards, so that rows have to be read. */
export const needRewards = (names: readonly string[]): boolean => names.some(isNamed);

/** Looks like a metric over the first k attempts, and is none that there is. */
export const isUnknownPass = (name: string): boolean => /^pass[@^]/.test(name) && !isNamed(name);
export const UNKNOWN_PASS = `is no metric: there are ${METRICS.names.join(", ")} over the first attempts, and pass_at_<k> and pass_all_<k>, unbiased, of the run's report`;

/**
 * What metrics by name say of these tasks, as `BenchmarkEvaluator` has them; other names are left out. `tasks`: at least one has an attempt. `independent`: false
 * where tasks are no independent observations, or their number was found by looking at them: then there are no intervals.
 */
export function valuesOfRewards(names: readonly string[], tasks: TaskRewards, independent: boolean): Record<string, Value> {
  const asked = names.filter(isNamed);
  // None asked for would be the usual ones.
  if (asked.length === 0) return {};
  return Object.fromEntries(
    [...METRICS.compute(asked, tasks).estimates].map(([name, { value, ci95 }]) => [name, known(value, independent ? ci95 : null) ?? { value }]),
  );
}

/** Of the run's report: any k of all attempts, which pass from the run's threshold on. */
function ofReport({ scores }: RunNumbers, name: string): Value | undefined {
  const [, kind, k = ""] = /^pass_(at|all)_(\d+)$/.exec(name) ?? [];
  if (kind === "at") return known(scores?.pass_at_k[k], scores?.pass_at_k_ci95?.[k]);
  return kind === "all" ? known(scores?.pass_all_k?.[k], scores?.pass_all_k_ci95?.[k]) : undefined;
}

/** Of a run that scored texts: all of them as one. */
const CORPUS: Readonly<Record<string, (corpus: CorpusNumbers) => Value | undefined>> = {
  perplexity: ({ perplexity, perplexity_ci95 }) => known(perplexity, perplexity_ci95),
  bits_per_byte: ({ bits_per_byte, bits_per_byte_ci95 }) => known(bits_per_byte, bits_per_byte_ci95),
};

const ofCorpus: Source = ({ scores }, name) => (scores?.corpus !== undefined && Object.hasOwn(CORPUS, name) ? CORPUS[name]?.(scores.corpus) : undefined);

/** The mean over rollouts of what the environment calls so. */
const ofEnvironment: Source = ({ totals, scores }, name) => {
  const told = Object.hasOwn(totals.metrics, name) ? totals.metrics[name] : undefined;
  return told === undefined || told.count === 0 ? undefined : known(told.sum / told.count, scores?.metric_estimates?.[name]?.ci95);
};

/**
 * The numbers of a settled run that were asked for, each with its interval where there is one; a name that it has not is left out. `named`: what its rewards say
 * (`valuesOfRewards`).
 */
export function valuesOfRun(run: RunNumbers, names: readonly string[], named: Values): Record<string, Value> {
  const found = names.map(
    (name) => [name, isNamed(name) ? ofRewards(run, name, named) : (ofReport(run, name) ?? ofCorpus(run, name) ?? ofEnvironment(run, name))] as const,
  );
  return Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Where every rollout has a score the run's mean reward is the same number, and its interval knows of groups and of stopping early. */
function ofRewards({ totals, scores }: RunNumbers, name: string, named: Values): Value | undefined {
  const value = Object.hasOwn(named, name) ? named[name] : undefined;
  const interval = REWARD.includes(name) && erroredRollouts(totals) === 0 ? (scores?.reward_ci95 ?? value?.ci95) : value?.ci95;
  return known(value?.value, interval);
}
