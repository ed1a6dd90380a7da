import type { JudgeUsage } from "../metrics/rollout-summary.ts";
import type { Aggregates } from "../metrics/aggregates.ts";
import { OTHER_INTERVAL, type StoppedEarly, stoppedText } from "../metrics/sequential/stopped-early.ts";
import type { RewardRange } from "../metrics/interval.ts";
import { leadsWithRange } from "../metrics/one-run/error-bounds.ts";
import { type Example, exampleOf, exampleTable } from "./statistics/example-table.ts";
import { dollarsOf } from "../prices/nano-cost.ts";
import { costText } from "./text/cost-text.ts";
import { cacheText } from "./text/cache-text.ts";
import { fixed, formatSeconds, thousands } from "./text/format.ts";
import type { Slice } from "../metrics/one-run/breakdown.ts";
import { RowKeys, type UnknownKey } from "../metrics/one-run/row-keys.ts";
import { breakdownLines } from "./statistics/breakdown-lines.ts";
import { boundsText, intervalText, metricLines, observedText, ratesText } from "./statistics/uncertainty.ts";
import { singleLine } from "./text/printable.ts";
import { NOTHING_SCORED, ReportBlock } from "./report-block.ts";

export interface ReportHeader {
  readonly env_id: string;
  readonly model: string;
  readonly base_url: string;
  readonly num_examples: number;
  readonly rollouts_per_example: number;
  readonly pass_threshold: number;
  /** What rewards can be; absent = 0 to 1. */
  readonly reward_range?: RewardRange | undefined;
  /** Why rows of an example are not attempts at one thing: then there is neither pass@k nor an interval. */
  readonly grouping_problem?: string | undefined;
  /** What the run was asked for beyond the above, in words; none = nothing is said. */
  readonly settings?: readonly string[];
  /** Of a run whose rule to stop by was met: its interval is the one that holds at any time. */
  readonly stopped_early?: StoppedEarly | null | undefined;
  /** From the start of this generation of the run to its end; none = it is not known. */
  readonly seconds?: number | null;
  /** Values attempt by attempt also where they say nothing beyond their mean. */
  readonly verbose?: boolean;
  /** The key under which examples share something: intervals are over its groups. */
  readonly cluster_by?: string | undefined;
  /** The key by which the reward is broken down. */
  readonly by?: string | undefined;
}

/** Options of a report that name a key of rows. */
export type GroupingOption = "cluster_by" | "by";

/** Tasks that get blocks of their own; rows of further ones are counted. */
export const SHOWN_TASKS = 20;

/** The member of a group that a row belongs to: its `task`, in verifiers from 0.1.14 on its `info.env_id`, the way through groups in groups. */
function taskOf({ task, info }: Readonly<Record<string, unknown>>): string {
  if (typeof task === "string") return task;
  const route = typeof info === "object" && info !== null && "env_id" in info ? info.env_id : null;
  if (typeof route === "string") return route;
  return Array.isArray(route) && route.length > 0 ? route.join("/") : "default";
}

/**
 * The report at the end of a run (as `verifiers` prints it, up to its `Performance:`) and a summary of what verifiers does not say, as a pure
 * stream over the rows of `results.jsonl`: rows of one example follow each other, memory stays bounded whatever their number.
 * Point 8 (event-loop lag) has no counterpart here. Does not name the folder; the command line adds that.
 */
export class PlainReport {
  readonly #header: ReportHeader;
  readonly #all: ReportBlock;
  readonly #tasks = new Map<string, ReportBlock>();
  readonly #keys: { readonly [Name in GroupingOption]: RowKeys | null };
  #rows = 0;
  #rowsOfOtherTasks = 0;
  #example: Example | null = null;

  constructor(header: ReportHeader) {
    this.#header = header;
    this.#all = this.#block(header.by);
    const keys = (key: string | undefined): RowKeys | null => (key === undefined ? null : new RowKeys(key));
    this.#keys = { cluster_by: keys(header.cluster_by), by: keys(header.by) };
  }

  /** A parsed row; ours, or one that the Python library wrote. */
  addRow(row: Readonly<Record<string, unknown>>): void {
    this.#rows += 1;
    this.#keys.cluster_by?.add(row);
    this.#keys.by?.add(row);
    this.#example ??= exampleOf(row, typeof row.reward === "number" ? row.reward : 0);
    this.#all.add(row);
    const task = taskOf(row);
    let block = this.#tasks.get(task);
    if (block === undefined && this.#tasks.size >= SHOWN_TASKS) {
      this.#rowsOfOtherTasks += 1;
      return;
    }
    block ??= this.#block();
    this.#tasks.set(task, block);
    block.add(row);
  }

  /** The lines, without line ends, once all rows are in. `width`: columns of the terminal. `abbreviated`: without the example. */
  lines(width = 80, abbreviated = false): string[] {
    const { env_id, model, base_url, num_examples, rollouts_per_example, settings = [], seconds = null } = this.#header;
    const head = [
      "--- Evaluation ---",
      `Environment: ${singleLine(env_id)}`,
      `Model: ${singleLine(model)}`,
      `Provider: ${singleLine(base_url)}`,
      `Examples: ${num_examples}`,
      `Rollouts per example: ${rollouts_per_example}`,
    ];
    if (this.#example === null) return [...head, "No rollout has finished."];
    return [
      ...head,
      ...(abbreviated ? [] : ["--- Example ---", ...exampleTable(this.#example, width)]),
      "--- All ---",
      ...this.#all.lines(),
      ...this.#taskLines(),
      "Summary:",
      ...settings.map(singleLine),
      ...(seconds === null ? [] : [`time: ${formatSeconds(seconds)}`]),
      ...summaryLines(this.#all.result(), this.#all.overlong, num_examples * rollouts_per_example, this.#header),
      ...this.#breakdownLines(width),
      ...this.#all.distributionLines(width),
    ];
  }

  /** Of all rows; to be asked once they are in. */
  result(): Aggregates {
    return this.#all.result();
  }

  /** Why there are neither rates nor intervals. */
  get groupingProblem(): string | undefined {
    return this.#header.grouping_problem;
  }

  /** Of the keys that were asked for those that no row has: what is grouped by one of them says nothing. */
  unknownKeys(): readonly (readonly [GroupingOption, UnknownKey])[] {
    return (["cluster_by", "by"] as const).flatMap((name) => {
      const unknown = this.#keys[name]?.unknown() ?? null;
      return unknown === null ? [] : [[name, unknown] as const];
    });
  }

  /** By the key that was asked for, the largest first. */
  slices(): readonly Slice[] {
    return this.#all.slices();
  }

  /** `by`: of the block over all rows only. */
  #block(by?: string): ReportBlock {
    const { cluster_by: clusterBy, rollouts_per_example, pass_threshold, reward_range, grouping_problem, verbose = false } = this.#header;
    return new ReportBlock({
      rolloutsPerExample: rollouts_per_example,
      passThreshold: pass_threshold,
      rewardRange: reward_range,
      grouped: grouping_problem === undefined,
      everyList: verbose,
      clusterBy,
      by,
    });
  }

  #breakdownLines(width: number): readonly string[] {
    const { by } = this.#header;
    return by === undefined ? [] : [`reward by ${singleLine(by)}:`, ...breakdownLines(by, this.#all.slices(), width)];
  }

  #taskLines(): string[] {
    if (this.#tasks.size < 2) return [];
    const lines = [...this.#tasks].flatMap(([task, block]) => ["", `--- ${singleLine(task)} ---`, ...block.lines()]);
    return this.#rowsOfOtherTasks === 0 ? [...lines, ""] : [...lines, "", `… (${this.#rowsOfOtherTasks} of ${this.#rows} rows belong to further tasks)`, ""];
  }
}

/** What the averages above hide: how much failed and why, how sure the reward is, what was spent. */
function summaryLines(result: Aggregates, overlong: number, wanted: number, { grouping_problem, cluster_by, stopped_early: stopped }: ReportHeader): string[] {
  const share = (count: number): string => `${fixed(count / result.rollouts, 3)} (${count} of ${result.rollouts})`;
  const cutOff = result.truncated_rollouts - overlong;
  // Beyond one half the numbers say more about a limit than about the model.
  const isMost = (count: number): boolean => 2 * count > result.rollouts;
  const metrics = metricLines(result.metric_estimates, result.reward_ci95);
  const codes = Object.entries(result.errors).sort(([, a], [, b]) => b - a);
  return [
    ...(stopped ? [singleLine(stoppedText(stopped))] : []),
    `rollouts: ${result.rollouts}${wanted > result.rollouts ? ` of ${wanted}` : ""}`,
    `errored rollouts: ${share(result.errored_rollouts)}`,
    ...codes.map(([code, count]) => ` - ${singleLine(code)}: ${share(count)}`),
    ...(isMost(cutOff) ? [`cut off at the token limit or the end of the context: ${share(cutOff)}; the reward is mostly that of answers without an end`] : []),
    ...(isMost(overlong) ? [`prompts too long for the model: ${share(overlong)}; these rollouts ended there`] : []),
    ...(result.reward_without_errors === null
      ? [`reward: ${NOTHING_SCORED}`]
      : [
          `reward without errored rollouts: ${fixed(result.reward_without_errors, 3)}`,
          ...(result.error_bounds === null || result.errored_rollouts === 0 || leadsWithRange(result.error_bounds)
            ? []
            : [`reward if they had one: ${boundsText(result.error_bounds)}`]),
          `reward 95% interval: ${grouping_problem === undefined ? intervalsText(result, cluster_by, stopped ?? null) : `none (${grouping_problem})`}`,
          ...rateLines(result),
          ...(metrics.length === 0 ? [] : [`metrics with 95% intervals${stopped ? ` (${OTHER_INTERVAL})` : ""}:`, ...metrics]),
        ]),
    `tokens: ${thousands(result.tokens_total.input_tokens)} input, ${thousands(result.tokens_total.output_tokens)} output`,
    ...(result.judges_total === null ? [] : [`judges: ${judgesText(result.judges_total)}`]),
    ...(result.cache_total === null ? [] : [`cached: ${cacheText(result.cache_total)}`]),
  ];
}

/** Beside the model's tokens, which these are not among. */
export function judgesText({ requests, input_tokens, output_tokens, priced }: JudgeUsage): string {
  const took = `${thousands(requests)} ${requests === 1 ? "request" : "requests"}, ${thousands(input_tokens)} tokens input, ${thousands(output_tokens)} output`;
  return priced === undefined ? took : `${took}, ${costText(dollarsOf(priced).total_usd, priced.requests, requests, "requests")}`;
}

function rateLines({ pass_at_k_ci95, pass_all_k_ci95 }: Aggregates): readonly string[] {
  return (
    [
      ["pass@k", pass_at_k_ci95],
      ["pass^k", pass_all_k_ci95],
    ] as const
  ).flatMap(([name, intervals]) => {
    const text = ratesText(intervals);
    return text === null ? [] : [`${name} 95% intervals: ${text}`];
  });
}

/** Of a run that stopped early what holds at any time, of all that it was to have; its rows grouped otherwise have no such interval. */
function intervalsText(result: Aggregates, key: string | undefined, stopped: StoppedEarly | null): string {
  if (stopped === null) return rewardIntervalText(result, key);
  if (key !== undefined) return `${rewardIntervalText(result, key)}; ${OTHER_INTERVAL}`;
  return `${intervalText(stopped.reward_ci95)} (at any time; of all ${stopped.of} examples, from ${stopped.examples} of them)`;
}

function rewardIntervalText({ reward_ci95, reward_stderr, n_clusters }: Aggregates, key: string | undefined): string {
  const observed = key === undefined ? "examples" : `values of ${singleLine(key)}`;
  if (reward_ci95 === null) return n_clusters < 2 ? `unknown (fewer than two ${observed})` : `unknown (all ${observed} have the same mean reward)`;
  const stderr = reward_stderr === null ? "" : `, standard error ${fixed(reward_stderr, 3)}`;
  return `${intervalText(reward_ci95)} (over ${observedText(n_clusters, key)}${stderr})`;
}
