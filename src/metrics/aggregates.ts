import { addCacheUsage, type CacheUsage } from "./cache-usage.ts";
import type { JudgeUsage, RolloutSummary } from "./rollout-summary.ts";
import { type RewardRange, type RewardUncertainty, USUAL_RANGE } from "./interval.ts";
import { NO_PASS_RATES, type PassIntervalsOfRun, type PassRatesOfRun, PassTally } from "./pass-at-k.ts";
import { type ErrorBounds, errorBounds } from "./one-run/error-bounds.ts";
import { ClusterGroups } from "./one-run/cluster-groups.ts";
import type { Estimate } from "./one-run/estimate.ts";
import { type CorpusNumbers, CorpusTally, withoutIntervals } from "./one-run/corpus.ts";
import { SpreadOfRun } from "./one-run/spread-of-run.ts";
import { reportsUsage } from "./row-summary.ts";
import { addNano } from "../prices/nano-cost.ts";
import { addCost, addJudges, type PricedRollouts } from "./totals.ts";

/** Mean tokens per rollout that reported them. */
export interface TokenMeans {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly final_input_tokens?: number;
  readonly final_output_tokens?: number;
}

export interface Aggregates extends RewardUncertainty, PassRatesOfRun, PassIntervalsOfRun {
  readonly rollouts: number;
  /** Over all rows, errored ones included; 0 without rows. */
  readonly avg_reward: number;
  /** Per name over the rows that have it, names in first-seen order. */
  readonly avg_metrics: Readonly<Record<string, number>>;
  /** Share of rows with an error. */
  readonly avg_error: number;
  /** Per metric, over the examples that have it: mean of their means and how sure it is; empty where attempts are not grouped. */
  readonly metric_estimates: Readonly<Record<string, Estimate>>;
  /** Of a run that scored texts: all of them as one corpus; null otherwise, and where attempts are not grouped without the intervals. */
  readonly corpus: CorpusNumbers | null;
  /** The mean reward if rollouts that ended in an error had scored lowest, and highest; null without rows. */
  readonly error_bounds: ErrorBounds | null;
  /** Null when no row reported usage. */
  readonly usage: TokenMeans | null;
  readonly errored_rollouts: number;
  /** Rollouts whose answer was cut off: at the token limit, or at the end of the model's context. */
  readonly truncated_rollouts: number;
  /** Rollouts by error code, in first-seen order. */
  readonly errors: Readonly<Record<string, number>>;
  /** Mean reward over rows without an error; null when there is none, and no interval then. */
  readonly reward_without_errors: number | null;
  readonly tokens_total: { readonly input_tokens: number; readonly output_tokens: number };
  /** What the model's answers cost, of the rollouts of which that is known; null where it is of none. */
  readonly costs: PricedRollouts | null;
  /** What judges were asked and answered in all, apart from the model's; null where none was asked. */
  readonly judges_total: JudgeUsage | null;
  /** How calls were answered in all; null where the cache was not read. Tokens of cached answers are among `tokens_total` and `judges_total` too. */
  readonly cache_total: CacheUsage | null;
  /** Rollouts with another prompt than the first of their example: with any of them there is neither pass@k nor an interval. */
  readonly other_prompts: number;
}

class Mean {
  sum = 0;
  count = 0;
  add(value: number): void {
    this.sum += value;
    this.count += 1;
  }
  merge(other: Mean): void {
    this.sum += other.sum;
    this.count += other.count;
  }
  get value(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }
}

export interface AggregatorOptions {
  readonly rolloutsPerExample: number;
  /** Reward from which an attempt counts as passed (environment setting, default 0.5). */
  readonly passThreshold: number;
  /** What rewards can be, as far as the environment says; default 0 to 1. */
  readonly rewardRange?: RewardRange | undefined;
  /** False where it is known that rows of an example are not attempts at one thing: then there is neither pass@k nor an interval. */
  readonly grouped?: boolean;
  /** Whether units say what they share with others: then the groups are the observations. */
  readonly clustered?: boolean;
}

/**
 * The final numbers of a run as a stream over its done units in unit order: sums are plain additions in row order, so that anyone
 * who averages the rows of `results.jsonl` gets the same digits. Constant memory apart from names, and where units are clustered their groups. Rewards and metrics must
 * be finite numbers, as the ledger guarantees.
 */
export class Aggregator {
  readonly #reward = new Mean();
  readonly #rewardWithoutErrors = new Mean();
  readonly #metrics = new Map<string, Mean>();
  readonly #errors = new Map<string, number>();
  #truncated = 0;
  readonly #input = new Mean();
  readonly #output = new Mean();
  readonly #finalInput = new Mean();
  readonly #finalOutput = new Mean();
  readonly #grouped: boolean;
  #costs: PricedRollouts | undefined;
  #judges: JudgeUsage | undefined;
  #cache: CacheUsage | undefined;
  #others = 0;
  readonly #spread: SpreadOfRun;
  readonly #pass: PassTally;
  readonly #corpus: CorpusTally;
  readonly #range: RewardRange;

  constructor({ rolloutsPerExample, passThreshold, rewardRange = USUAL_RANGE, grouped = true, clustered = false }: AggregatorOptions) {
    this.#grouped = grouped;
    this.#range = rewardRange;
    const groups = clustered ? new ClusterGroups() : null;
    this.#pass = new PassTally(rolloutsPerExample, passThreshold, groups);
    this.#spread = new SpreadOfRun(rewardRange, groups);
    this.#corpus = new CorpusTally(groups);
  }

  /** All rollouts of one example. `cluster`: what it shares with others, where the options say that they are clustered; else what the first of them says. */
  addUnit(rollouts: readonly RolloutSummary[], cluster = rollouts[0]?.cluster): void {
    for (const rollout of rollouts) this.#addRollout(rollout);
    this.#spread.addExample(rollouts, cluster);
    this.#corpus.addExample(rollouts, cluster);
    this.#pass.addExample(
      rollouts.map(({ reward }) => reward),
      cluster,
    );
  }

  /**
   * Takes in what another has seen of other units: the same numbers as one that saw all of them, but for the rounding of sums. Throws a
   * `RangeError` for one with other options.
   */
  merge(other: Aggregator): void {
    this.#pass.merge(other.#pass);
    this.#spread.merge(other.#spread);
    this.#corpus.merge(other.#corpus);
    this.#others += other.#others;
    if (other.#costs !== undefined) this.#costs = { rollouts: (this.#costs?.rollouts ?? 0) + other.#costs.rollouts, ...addNano(this.#costs, other.#costs) };
    if (other.#judges !== undefined) this.#judges = addJudges(this.#judges, other.#judges);
    if (other.#cache !== undefined) this.#cache = addCacheUsage(this.#cache, other.#cache);
    this.#reward.merge(other.#reward);
    this.#rewardWithoutErrors.merge(other.#rewardWithoutErrors);
    this.#input.merge(other.#input);
    this.#output.merge(other.#output);
    this.#finalInput.merge(other.#finalInput);
    this.#finalOutput.merge(other.#finalOutput);
    this.#truncated += other.#truncated;
    for (const [name, mean] of other.#metrics) this.#metricOf(name).merge(mean);
    for (const [code, count] of other.#errors) this.#errors.set(code, (this.#errors.get(code) ?? 0) + count);
  }

  /** May be asked at any time; adding may go on afterwards. */
  result(): Aggregates {
    const errored = this.#reward.count - this.#rewardWithoutErrors.count;
    const grouped = this.#grouped && this.#others === 0;
    // Of nothing but errors there is no score that could be sure or unsure; rates of it stay, as in verifiers' files.
    const scored = this.#reward.count === 0 || errored < this.#reward.count;
    const spread = this.#spread.reward();
    const corpus = this.#corpus.result();
    return {
      rollouts: this.#reward.count,
      avg_reward: this.#reward.value,
      avg_metrics: Object.fromEntries([...this.#metrics].map(([name, mean]) => [name, mean.value])),
      avg_error: this.#reward.count === 0 ? 0 : errored / this.#reward.count,
      metric_estimates: grouped ? this.#spread.metrics() : {},
      corpus: grouped ? corpus : withoutIntervals(corpus),
      error_bounds: errorBounds({ rollouts: this.#reward.count, errored, sum: this.#rewardWithoutErrors.sum }, this.#range),
      ...(grouped ? { ...NO_PASS_RATES, ...this.#pass.result(), ...(scored ? this.#pass.intervals() : {}) } : NO_PASS_RATES),
      usage: this.#usage(),
      n_clusters: spread.n,
      reward_stderr: grouped && scored ? spread.stderr : null,
      reward_ci95: grouped && scored ? spread.ci95 : null,
      errored_rollouts: errored,
      truncated_rollouts: this.#truncated,
      errors: Object.fromEntries(this.#errors),
      reward_without_errors: this.#rewardWithoutErrors.count === 0 ? null : this.#rewardWithoutErrors.value,
      tokens_total: { input_tokens: this.#input.sum, output_tokens: this.#output.sum },
      costs: this.#costs ?? null,
      judges_total: this.#judges ?? null,
      cache_total: this.#cache ?? null,
      other_prompts: this.#others,
    };
  }

  #addRollout(rollout: RolloutSummary): void {
    this.#reward.add(rollout.reward);
    if (rollout.error === null) this.#rewardWithoutErrors.add(rollout.reward);
    else this.#errors.set(rollout.error, (this.#errors.get(rollout.error) ?? 0) + 1);
    if (rollout.truncated) this.#truncated += 1;
    for (const [name, value] of Object.entries(rollout.metrics)) this.#metricOf(name).add(value);
    if (rollout.other_prompt === true) this.#others += 1;
    if (rollout.cost !== undefined) this.#costs = addCost(this.#costs, rollout.cost);
    if (rollout.judges !== undefined) this.#judges = addJudges(this.#judges, rollout.judges);
    if (rollout.cache !== undefined) this.#cache = addCacheUsage(this.#cache, rollout.cache);
    if (!reportsUsage(rollout)) return;
    this.#input.add(rollout.input_tokens);
    this.#output.add(rollout.output_tokens);
    if (rollout.final_input_tokens !== undefined) this.#finalInput.add(rollout.final_input_tokens);
    if (rollout.final_output_tokens !== undefined) this.#finalOutput.add(rollout.final_output_tokens);
  }

  #metricOf(name: string): Mean {
    const known = this.#metrics.get(name);
    if (known !== undefined) return known;
    const mean = new Mean();
    this.#metrics.set(name, mean);
    return mean;
  }

  #usage(): TokenMeans | null {
    if (this.#input.count === 0) return null;
    return {
      input_tokens: this.#input.value,
      output_tokens: this.#output.value,
      ...(this.#finalInput.count > 0 ? { final_input_tokens: this.#finalInput.value } : {}),
      ...(this.#finalOutput.count > 0 ? { final_output_tokens: this.#finalOutput.value } : {}),
    };
  }
}
