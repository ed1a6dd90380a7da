import { isScorerError } from "../errors/codes.ts";
import type { RolloutSummary } from "../metrics/rollout-summary.ts";
import { type Aggregates, Aggregator, type AggregatorOptions } from "../metrics/aggregates.ts";
import { summaryOfRow } from "../metrics/row-summary.ts";
import { corpusLines } from "./statistics/corpus-lines.ts";
import { besideOrBelow, Distribution } from "./statistics/distribution.ts";
import { Breakdown, type Slice } from "../metrics/one-run/breakdown.ts";
import { valueUnder } from "../metrics/one-run/row-key.ts";
import { leadsWithRange } from "../metrics/one-run/error-bounds.ts";
import { dollarsOf } from "../prices/nano-cost.ts";
import { costText } from "./text/cost-text.ts";
import { fixed, formatSeconds } from "./text/format.ts";
import { printable, singleLine } from "./text/printable.ts";
import { Series } from "./statistics/series.ts";
import { boundsText } from "./statistics/uncertainty.ts";

/** In place of a score. */
export const NOTHING_SCORED = "none (every rollout ended in an error)";

/** Distinct names a counter keeps; the rest is counted together. */
const NAMES = 64;
const TIMES = ["generation", "scoring", "total"] as const;

/** Counts by name in first-seen order, bounded. */
class Shares {
  readonly #counts = new Map<string, number>();
  #total = 0;

  add(name: string): void {
    const key = this.#counts.has(name) || this.#counts.size < NAMES ? name : "(others)";
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#total += 1;
  }

  entries(): string[] {
    return [...this.#counts].map(([name, count]) => `${singleLine(name)}: ${fixed(count / this.#total, 3)}`);
  }
}

class Range {
  #count = 0;
  #sum = 0;
  #low = Number.POSITIVE_INFINITY;
  #high = Number.NEGATIVE_INFINITY;

  add(value: number): void {
    this.#count += 1;
    this.#sum += value;
    this.#low = Math.min(this.#low, value);
    this.#high = Math.max(this.#high, value);
  }

  text(): string | null {
    if (this.#count === 0) return null;
    return `min - ${formatSeconds(this.#low)}, mean - ${formatSeconds(this.#sum / this.#count)}, max - ${formatSeconds(this.#high)}`;
  }
}

export interface BlockOptions extends AggregatorOptions {
  /** Values attempt by attempt also where they are all the same, or those of the reward. */
  readonly everyList: boolean;
  /** The key under which examples share something, so that the groups are the observations. */
  readonly clusterBy?: string | undefined;
  /** The key by which the reward is broken down. */
  readonly by?: string | undefined;
}

/**
 * Rewards, Info, Timing and Usage over the rows of one task or of all, as a stream. Rows of an
 * example follow each other, as in `results.jsonl`. Where the reference breaks (a metric that some rows lack, no timing, an
 * incomplete example) the value is left out and the columns stay aligned.
 */
export class ReportBlock {
  readonly #aggregator: Aggregator;
  readonly #unitSize: number;
  readonly #everyList: boolean;
  readonly #reward = new Series();
  readonly #rewards = new Distribution();
  readonly #exampleRewards = new Distribution();
  readonly #metrics = new Map<string, Series>();
  /** Metrics that differed from the reward of their row at least once. */
  readonly #ownMetrics = new Set<string>();
  readonly #truncated = new Series();
  readonly #errored = new Series();
  readonly #stops = new Shares();
  readonly #chains = new Shares();
  readonly #times = new Map(TIMES.map((name) => [name, new Range()] as const));
  #unit: RolloutSummary[] = [];
  readonly #clusterBy: string | undefined;
  readonly #breakdown: { readonly key: string; readonly slices: Breakdown } | null;
  readonly #grouped: boolean;
  #slice = "";
  #exampleId: unknown;
  #examples = 0;
  #overlong = 0;
  #rollouts = 0;

  constructor(options: BlockOptions) {
    this.#aggregator = new Aggregator({ ...options, clustered: options.clusterBy !== undefined });
    this.#clusterBy = options.clusterBy;
    this.#grouped = options.grouped !== false;
    this.#breakdown = options.by === undefined ? null : { key: options.by, slices: new Breakdown(options.rewardRange, options.clusterBy !== undefined) };
    this.#everyList = options.everyList;
    this.#unitSize = Math.max(1, options.rolloutsPerExample);
  }

  add(row: Readonly<Record<string, unknown>>): void {
    const summary = summaryOfRow(row, this.#clusterBy);
    if (this.#unit.length > 0 && (row.example_id !== this.#exampleId || this.#unit.length === this.#unitSize)) this.#closeExample();
    if (this.#unit.length === 0 && this.#breakdown !== null) this.#slice = valueUnder(row, this.#breakdown.key);
    const index = row.rollout_index;
    const rollout = typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? index : this.#unit.length;
    const position = { example: this.#examples, rollout };
    this.#exampleId = row.example_id;
    this.#unit.push(summary);
    this.#rollouts = Math.max(this.#rollouts, rollout + 1);

    this.#reward.add(summary.reward, position);
    this.#rewards.add(summary.reward);
    for (const [name, value] of Object.entries(summary.metrics)) {
      this.#metricOf(name).add(value, position);
      if (value !== summary.reward) this.#ownMetrics.add(name);
    }
    this.#truncated.add(summary.truncated ? 1 : 0, position);
    this.#errored.add(summary.error === null ? 0 : 1, position);
    if (row.stop_condition === "prompt_too_long") this.#overlong += 1;
    this.#stops.add(typeof row.stop_condition === "string" ? row.stop_condition : "None");
    if (summary.error !== null) this.#chains.add(chainOf(row.error));
    // Rows up to 0.1.9 have the times among their own fields.
    const timing = (row.timing ?? row) as Readonly<Record<string, unknown>>;
    for (const [name, range] of this.#times) {
      const seconds = secondsOf(timing, name);
      if (seconds !== null) range.add(seconds);
    }
  }

  /** Closes the last example; to be asked once all rows are in. */
  result(): Aggregates {
    if (this.#unit.length > 0) this.#closeExample();
    return this.#aggregator.result();
  }

  /** Rollouts that ended because the model takes no prompt of their length; they count as cut off. */
  get overlong(): number {
    return this.#overlong;
  }

  lines(): string[] {
    const result = this.result();
    return [...corpusLines(result.corpus), ...this.#rewardLines(result), ...this.#infoLines(result), ...this.#timingLines(), ...usageLines(result)];
  }

  /** How the rewards of all rollouts spread, and beside it those of the examples where an example has several. */
  distributionLines(width: number): string[] {
    if (this.result().reward_without_errors === null) return [];
    const rollouts = this.#rewards.lines("reward distribution");
    return this.#unitSize === 1 ? rollouts : besideOrBelow(rollouts, this.#exampleRewards.lines("of the examples' means"), width);
  }

  /** The largest first; empty where none was asked for. */
  slices(): readonly Slice[] {
    if (this.#unit.length > 0) this.#closeExample();
    const slices = this.#breakdown?.slices.slices() ?? [];
    // Over what are no examples, an interval would look right and not be.
    return this.#grouped ? slices : slices.map((slice) => ({ ...slice, reward: { ...slice.reward, stderr: null, ci95: null } }));
  }

  #closeExample(): void {
    this.#aggregator.addUnit(this.#unit);
    this.#breakdown?.slices.addExample(this.#slice, this.#unit);
    this.#exampleRewards.add(this.#unit.reduce((sum, { reward }) => sum + reward, 0) / this.#unit.length);
    this.#unit = [];
    this.#examples += 1;
  }

  #metricOf(name: string): Series {
    const known = this.#metrics.get(name);
    if (known !== undefined) return known;
    const series = new Series();
    this.#metrics.set(name, series);
    return series;
  }

  #rewardLines(result: Aggregates): string[] {
    const rates = ([label, values]: readonly [string, Readonly<Record<string, number>>]): string[] => {
      const parts = Object.entries(values).map(([k, value]) => `${k}=${fixed(value, 3)}`);
      return parts.length === 0 ? [] : [`${label}: ${parts.join(", ")}`];
    };
    const named = (name: string, series: Series, own: boolean): string[] => {
      const listed = this.#everyList || (own && !series.constant);
      return [`${printable(name)}: ${series.spread()}`, ...(listed ? series.lines(this.#examples, this.#rollouts) : [])];
    };
    const metrics = [...this.#metrics].flatMap(([name, series]) => named(name, series, this.#ownMetrics.has(name)));
    if (result.reward_without_errors === null) {
      // Of rollouts that one reward function failed on, the others' scores are there.
      const partly = Object.keys(result.errors).some(isScorerError);
      return ["Rewards:", `reward: ${NOTHING_SCORED}`, ...(partly ? metrics : [])];
    }
    // With so many unknown, a mean that counts them as 0 is no headline.
    const range = leadsWithRange(result.error_bounds) ? [`reward: ${boundsText(result.error_bounds)}`] : [];
    return [
      "Rewards:",
      ...range,
      ...named("reward", this.#reward, true),
      ...rates(["pass@k", result.pass_at_k]),
      ...rates(["pass^k", result.pass_all_k]),
      ...metrics,
    ];
  }

  #infoLines(result: Aggregates): string[] {
    const errors = result.errored_rollouts === 0 ? [] : [`errors: ${this.#errored.spread()}`, ...this.#chains.entries().map((entry) => ` - ${entry}`)];
    return ["Info:", `is_truncated: ${this.#truncated.spread()}`, `stop_conditions: ${this.#stops.entries().join(", ")}`, ...errors];
  }

  #timingLines(): string[] {
    const lines = [...this.#times].flatMap(([name, range]) => {
      const text = range.text();
      return text === null ? [] : [`${name}: ${text}`];
    });
    return lines.length === 0 ? [] : ["Timing:", ...lines];
  }
}

/** From flat milliseconds, or from the nested seconds of newer folders of the Python library. */
function secondsOf(timing: Readonly<Record<string, unknown>>, name: (typeof TIMES)[number]): number | null {
  const ms = timing[`${name}_ms`];
  if (typeof ms === "number") return ms / 1000;
  const own = timing[name];
  const seconds = typeof own === "object" && own !== null && "duration" in own ? own.duration : own;
  return typeof seconds === "number" ? seconds : null;
}

function chainOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  const { error_chain_str: chain, error: name } = error as { readonly error_chain_str?: unknown; readonly error?: unknown };
  return String(chain ?? name ?? "Error");
}

function usageLines({ usage, rollouts, costs, judges_total: judges }: Aggregates): string[] {
  if (usage === null) return [];
  const keys = ["input_tokens", "output_tokens", "final_input_tokens", "final_output_tokens"] as const;
  const priced = judges?.priced;
  return [
    "Usage:",
    ...keys.flatMap((key) => (usage[key] === undefined ? [] : [`${key} (avg): ${fixed(usage[key], 3)}`])),
    ...(costs === null ? [] : [`cost (all): ${costText(dollarsOf(costs).total_usd, costs.rollouts, rollouts, "rollouts")}`]),
    ...(priced === undefined ? [] : [`judges' cost (all): ${costText(dollarsOf(priced).total_usd, priced.requests, judges?.requests ?? 0, "requests")}`]),
  ];
}
