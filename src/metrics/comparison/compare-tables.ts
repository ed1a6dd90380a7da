import type { RewardRange } from "../interval.ts";
import { clusteredDifference } from "./clustered-difference.ts";
import { movesOf } from "./example-moves.ts";
import { holm } from "./holm.ts";
import { type Join, joinTables } from "./join.ts";
import { matchedPairsInterval } from "./matched-pairs.ts";
import { type Discordant, discordant, mcnemar } from "./mcnemar.ts";
import { type PairedDifference, pairedDifference } from "./paired-difference.ts";
import { detectableDifference, USUAL_ALPHA } from "./power.ts";
import { REWARD, type ScoreColumn, type ScoreTable } from "./score-table.ts";
import { sameAnswers } from "./same-answers.ts";
import { signFlipTest } from "./sign-flips.ts";
import { type Sample, unpairedDifference } from "./unpaired-difference.ts";
import { type VarianceComponents, varianceComponents } from "./variance-components.ts";

/** Up to so many pairs the signs are flipped: t takes means of few for normal. */
const FEW = 50;

/** How the p value came about. */
export type TestMethod = "mcnemar" | "sign_flips" | "t" | "welch";

export interface MetricComparison extends PairedDifference {
  readonly metric: string;
  readonly test: TestMethod;
  /** Two-sided, of `test`; null where nothing can be said. */
  readonly p: number | null;
  /** Holm's, over all metrics and runs that were compared together. */
  readonly p_holm: number | null;
  /** Groups of examples that share something, which are what was observed; absent where nobody asked for them. */
  readonly clusters?: number;
  /** Of single attempts that pass or fail. */
  readonly discordant?: Discordant;
  /** So many times the examples would have been needed without pairs. */
  readonly pairing_gain: number | null;
  /** The smallest difference that this design finds in four of five tries. */
  readonly detectable: number | null;
  /** Between and within examples, of either run. */
  readonly variances: { readonly baseline: VarianceComponents; readonly candidate: VarianceComponents };
}

/** An example of both runs, by its place in their tables and first rows; `difference` of the reward. */
export interface ExampleDifference {
  readonly example_id: number;
  readonly rows: readonly [number, number];
  readonly baseline: number;
  readonly candidate: number;
  readonly difference: number;
}

export interface TableComparison {
  readonly paired: boolean;
  readonly joined: number;
  readonly only_baseline: number;
  readonly only_candidate: number;
  readonly differing: number;
  /** Joined examples without a score in one of the runs: all of their rollouts ended in an error. */
  readonly unscored: number;
  readonly metrics: readonly MetricComparison[];
  /** Metrics of both runs that are the reward under another name, and therefore not among `metrics`. */
  readonly same_as_reward: readonly string[];
  /** Of the reward, over joined examples. */
  readonly worse: number;
  readonly better: number;
  readonly equal: number;
  /** Those that lost most first, then those that gained most; as many of each as were asked for. */
  readonly regressions: readonly ExampleDifference[];
  readonly improvements: readonly ExampleDifference[];
  readonly warnings: readonly string[];
}

export interface CompareOptions {
  /** What rewards can be. */
  readonly range: RewardRange;
  readonly unpaired: boolean;
  /** Examples of either kind that are named. */
  readonly shown: number;
  /** Each difference has an `interval` at 1 - alpha too, of the same kind as its `ci95`. */
  readonly alpha?: number | undefined;
}

/** Compares each of `candidates` with the baseline, in their order. Pure; memory is that of the joins, 8 bytes a pair and metric. */
export function compareTables(baseline: ScoreTable, candidates: readonly ScoreTable[], options: CompareOptions): readonly TableComparison[] {
  const comparisons = candidates.map((candidate) => compareOne(baseline, candidate, options));
  const adjusted = holm(comparisons.flatMap(({ metrics }) => metrics.map(({ p }) => p)));
  let at = 0;
  return comparisons.map((comparison) => ({ ...comparison, metrics: comparison.metrics.map((metric) => ({ ...metric, p_holm: adjusted[at++] ?? null })) }));
}

function compareOne(a: ScoreTable, b: ScoreTable, options: CompareOptions): TableComparison {
  const join = joinTables(a, b);
  const common = [...a.columns.keys()].filter((name) => b.columns.has(name));
  const single = a.single && b.single;
  const metrics = common.flatMap((name): MetricComparison[] => {
    const [one, two] = [a.columns.get(name), b.columns.get(name)];
    if (one === undefined || two === undefined) return [];
    return [
      options.unpaired ? unpairedMetric(name, [a, one], [b, two], options) : pairedMetric(name, one, two, join, { ...options, single, clusters: a.clusters }),
    ];
  });
  const examples = options.unpaired ? NO_EXAMPLES : differencesOf(a, b, join, options.shown);
  return {
    paired: !options.unpaired,
    joined: join.a.length,
    only_baseline: join.only_baseline,
    only_candidate: join.only_candidate,
    differing: join.differing,
    ...examples,
    ...withoutCopies(metrics),
    warnings: warningsOf(a, b, join, options.unpaired),
  };
}

/** A metric that is the reward under another name says nothing more, and would only cost it at Holm's. */
function withoutCopies(metrics: readonly MetricComparison[]): Pick<TableComparison, "metrics" | "same_as_reward"> {
  const reward = metrics.find(({ metric }) => metric === REWARD);
  const isCopy = ({ metric, n, baseline, candidate, stderr }: MetricComparison): boolean =>
    metric !== REWARD && n === reward?.n && baseline === reward.baseline && candidate === reward.candidate && stderr === reward.stderr;
  return { metrics: metrics.filter((metric) => !isCopy(metric)), same_as_reward: metrics.filter(isCopy).map(({ metric }) => metric) };
}

function pairedMetric(
  metric: string,
  one: ScoreColumn,
  two: ScoreColumn,
  join: Join,
  { range, single, alpha, clusters }: CompareOptions & { readonly single: boolean; readonly clusters: Float64Array | null },
): MetricComparison {
  const [means, others, shared] = scoredPairs(one.means, two.means, join, clusters);
  const binary = one.binary && two.binary;
  const bounds = metric === REWARD ? range : binary ? ([0, 1] as const) : null;
  const found = pairedDifference(means, others, bounds, alpha);
  const gainOf = ({ stderr, unpaired_stderr }: PairedDifference): number | null =>
    stderr === null || unpaired_stderr === null ? null : (unpaired_stderr / stderr) ** 2;
  if (shared !== null) {
    const { sums, ...grouped } = clusteredDifference(found, [means, others], shared, bounds, alpha);
    const few = grouped.clusters <= FEW;
    const p = few
      ? grouped.clusters < 2
        ? null
        : signFlipTest(sums)
      : (grouped.t_p ?? (grouped.difference === 0 && grouped.unpaired_stderr !== null ? 1 : null));
    return {
      metric,
      ...grouped,
      p_holm: null,
      ...designOf(grouped, one, two, grouped.clusters),
      test: few ? "sign_flips" : "t",
      p,
      pairing_gain: gainOf(grouped),
    };
  }
  const base = { metric, ...found, p_holm: null, ...designOf(found, one, two) };
  const gain = gainOf(found);
  if (single && binary) {
    const counts = discordant(means, others, 1);
    // A metric that no example of either run changes is no test, and costs the others nothing.
    const tested = found.n > 0 && (metric === REWARD || found.unpaired_stderr !== null);
    const intervalAt = (level: number): readonly [number, number] | null => (found.n < 2 ? null : matchedPairsInterval(counts, found.n, level));
    const intervals = { ci95: intervalAt(USUAL_ALPHA), ...(alpha === undefined ? {} : { interval: intervalAt(alpha) }) };
    return { ...base, ...intervals, test: "mcnemar", p: tested ? mcnemar(counts) : null, discordant: counts, pairing_gain: gain };
  }
  if (found.n <= FEW) {
    const p = found.n < 2 ? null : signFlipTest(others.map((value, i) => value - (means[i] ?? 0)));
    return { ...base, test: "sign_flips", p, pairing_gain: gain };
  }
  // Where no two pairs differ in their difference, and it is 0, nothing speaks against equality.
  return { ...base, test: "t", p: found.t_p ?? (found.difference === 0 && found.unpaired_stderr !== null ? 1 : null), pairing_gain: gain };
}

type ColumnOf = readonly [table: ScoreTable, column: ScoreColumn];

function unpairedMetric(metric: string, [a, one]: ColumnOf, [b, two]: ColumnOf, { range, alpha }: CompareOptions): MetricComparison {
  const scored = ({ clusters }: ScoreTable, { means }: ScoreColumn): Sample => ({
    means: means.filter((mean) => !Number.isNaN(mean)),
    clusters: clusters?.filter((_, example) => !Number.isNaN(means[example])) ?? null,
  });
  const samples = [scored(a, one), scored(b, two)] as const;
  const found = unpairedDifference(...samples, metric === REWARD ? range : one.binary && two.binary ? [0, 1] : null, alpha);
  const counts = samples.flatMap(({ clusters }) => (clusters === null ? [] : [new Set(clusters).size]));
  const grouped = counts.length === 0 ? {} : { clusters: Math.min(...counts) };
  return { metric, ...found, ...grouped, test: "welch", p: found.t_p, p_holm: null, pairing_gain: null, ...designOf(found, one, two, grouped.clusters) };
}

/** `observed`: what is independent. */
function designOf({ stderr, n }: PairedDifference, one: ScoreColumn, two: ScoreColumn, observed = n): Pick<MetricComparison, "detectable" | "variances"> {
  const variances = ({ means, within }: ScoreColumn): VarianceComponents =>
    varianceComponents(
      means.filter((mean) => !Number.isNaN(mean)),
      within,
    );
  return {
    detectable: stderr === null || observed < 2 ? null : detectableDifference(stderr, observed),
    variances: { baseline: variances(one), candidate: variances(two) },
  };
}

/** Means of the pairs that have a score in both runs, and what the baseline's example of each shares with others. */
function scoredPairs(
  one: Float64Array,
  two: Float64Array,
  { a, b }: Join,
  clusters: Float64Array | null,
): readonly [Float64Array, Float64Array, Float64Array | null] {
  const [means, others] = [new Float64Array(a.length), new Float64Array(a.length)];
  const shared = clusters === null ? null : new Float64Array(a.length);
  let n = 0;
  for (let pair = 0; pair < a.length; pair++) {
    const [mean, other] = [one[a[pair] ?? 0] ?? Number.NaN, two[b[pair] ?? 0] ?? Number.NaN];
    if (Number.isNaN(mean) || Number.isNaN(other)) continue;
    means[n] = mean;
    others[n] = other;
    if (shared !== null) shared[n] = clusters?.[a[pair] ?? 0] ?? 0;
    n += 1;
  }
  return [means.subarray(0, n), others.subarray(0, n), shared?.subarray(0, n) ?? null];
}

type Examples = Pick<TableComparison, "unscored" | "worse" | "better" | "equal" | "regressions" | "improvements">;
const NO_EXAMPLES: Examples = { unscored: 0, worse: 0, better: 0, equal: 0, regressions: [], improvements: [] };

function differencesOf(a: ScoreTable, b: ScoreTable, join: Join, shown: number): Examples {
  const [one, two] = [a.columns.get(REWARD)?.means, b.columns.get(REWARD)?.means];
  const { moved, difference, ...counts } = movesOf(one, two, join);
  const told = (pair: number): ExampleDifference => {
    const [i, j] = [join.a[pair] ?? 0, join.b[pair] ?? 0];
    return {
      example_id: a.ids[i] ?? 0,
      rows: [a.rows[i] ?? 0, b.rows[j] ?? 0],
      baseline: one?.[i] ?? 0,
      candidate: two?.[j] ?? 0,
      difference: difference(pair),
    };
  };
  return {
    ...counts,
    regressions: moved.slice(0, Math.min(shown, counts.worse)).map(told),
    improvements: moved
      .slice(-Math.min(shown, counts.better) || moved.length)
      .reverse()
      .map(told),
  };
}

/** Share of rollouts without a score, or of examples that are in one run only, from which a reader is told. */
const MANY = 0.05;

function warningsOf(a: ScoreTable, b: ScoreTable, join: Join, unpaired: boolean): readonly string[] {
  const warnings: string[] = [];
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  for (const [name, table] of [
    ["baseline", a],
    ["candidate", b],
  ] as const) {
    const share = table.errored / Math.max(1, table.rollouts);
    if (share > MANY) warnings.push(`${percent(share)} of the rollouts of the ${name} ended in an error and have no score: the comparison is over the others`);
    if (table.unnamed > 0) {
      const taken = table.contentKnown ? "those that ask the same are taken for attempts at one" : "each is taken for one, whose interval may be too narrow";
      warnings.push(`${table.unnamed} rows of the ${name} name no example: ${taken}`);
    }
    if (table.wrongIds) warnings.push(`examples of the ${name} share ids: they are told apart by what they ask`);
  }
  if (unpaired) return [...warnings, "unpaired: differences between the examples of the runs are part of what is uncertain"];
  const same = sameAnswers(a.answers, b.answers, join);
  if (same > 0)
    warnings.push(
      `${same} ${same === 1 ? "answer is the same answer" : "answers are the same answers"} in both runs, from the cache: they differ by exactly nothing, and say nothing of how answers vary`,
    );
  if (join.by_id_only) warnings.push("rows of one run have no prompts: examples are joined by their ids alone, and whether they are the same is not known");
  if (join.differing > 0) warnings.push(`${join.differing} examples have the same id and another prompt or answer: they are left out`);
  const dropped = Math.max(join.only_baseline / Math.max(1, a.examples), join.only_candidate / Math.max(1, b.examples));
  if (dropped > MANY && join.a.length > 0)
    warnings.push(`${percent(dropped)} of the examples of a run are not in the other: the comparison is over those in both`);
  return warnings;
}
