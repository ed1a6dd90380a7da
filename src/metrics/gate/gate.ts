import { comparedFacts, stoppedWarning } from "../comparison/comparability.ts";
import { type ComparedRun, type ComparisonRefusal, compareRuns, type NamedRun, namedRun } from "../comparison/compare-runs.ts";
import type { MetricComparison } from "../comparison/compare-tables.ts";
import { REWARD, type ScoreTable } from "../comparison/score-table.ts";
import { varianceComponents } from "../comparison/variance-components.ts";
import { isCount } from "../count-metrics.ts";
import { RewardSpread } from "../interval.ts";
import { MOST_ERRORS } from "../most-errors.ts";
import { ClusteredMean } from "../one-run/clustered-mean.ts";
import { type DecisionCost, decisionCost } from "./decision-cost.ts";
import { commonVerdict, type Verdict, verdictOf } from "./verdict.ts";

export interface GateWish {
  /** Of `max_drop`: by so much may the mean be below the baseline's. Null: not asked. */
  readonly maxDrop: number | null;
  /** Null: not asked. */
  readonly min: number | null;
  readonly metric: string;
  readonly alpha: number;
  readonly unpaired: boolean;
  readonly accepted: boolean;
  /** Under which key examples share something; the tables have been made with it. */
  readonly clusterBy?: string | undefined;
}

/** One bound, held against the interval of what it bounds. */
export interface GateCheck {
  /** `max_drop`: the difference to the baseline may not be below `bound`; `min`: the mean may not. */
  readonly kind: "max_drop" | "min";
  readonly bound: number;
  /** Examples, or pairs of them. */
  readonly n: number;
  /** Groups of examples that share something, which are what was observed; absent where nobody asked for them. */
  readonly clusters?: number;
  readonly value: number;
  /** At 1 - alpha; null where the data say nothing of their spread. */
  readonly interval: readonly [number, number] | null;
  readonly verdict: Verdict;
  /** What it takes to decide if the truth is what was seen. */
  readonly as_seen: DecisionCost;
  /** What it takes to pass if the two are as good as each other; null for a mean. */
  readonly if_equal: DecisionCost | null;
}

export interface GateReport {
  readonly verdict: Verdict;
  readonly metric: string;
  readonly alpha: number;
  /** The key of `clusters`. */
  readonly cluster_by?: string;
  readonly candidate: NamedRun;
  readonly baseline: NamedRun | null;
  readonly paired: boolean;
  readonly checks: readonly GateCheck[];
  /** Why nothing is decided, whatever the intervals say. */
  readonly holds: readonly string[];
  readonly warnings: readonly string[];
}

export type GateOutcome =
  | { readonly kind: "decided"; readonly report: GateReport }
  | { readonly kind: "refused"; readonly refusals: readonly ComparisonRefusal[] };

/**
 * Holds a run against its bounds. Pass: surely within all of them; fail: surely outside of one; else undecided. Surely: the interval at 1 - alpha is on that side, so
 * that each wrong answer has a chance of alpha / 2 at most. Throws a `RangeError` where `max_drop` has no baseline, or nothing is asked. Both tables have the metric.
 */
export function gateRun(candidate: ComparedRun, baseline: ComparedRun | null, wish: GateWish): GateOutcome {
  const { maxDrop, min, metric, alpha, unpaired, accepted, clusterBy } = wish;
  if (maxDrop === null && min === null) throw new RangeError("a gate needs a bound");
  const checks: GateCheck[] = [];
  let warnings: readonly string[] = [];
  const runs = maxDrop === null ? [candidate] : [candidate, baseline];
  if (maxDrop !== null) {
    if (baseline === null) throw new RangeError("a largest drop needs a baseline");
    const outcome = compareRuns([baseline, candidate], { unpaired, accepted, shown: 0, alpha });
    if (outcome.kind === "refused") return outcome;
    const [comparison] = outcome.comparisons;
    warnings = comparison?.warnings ?? [];
    const found = comparison?.metrics.find((each) => each.metric === metric) ?? comparison?.metrics.find((each) => each.metric === REWARD);
    if (found !== undefined && found.n > 0) checks.push(dropCheck(found, maxDrop, alpha, [baseline.table, candidate.table]));
  }
  const { stopped } = comparedFacts(candidate.metadata);
  if (maxDrop === null && typeof stopped === "string") warnings = [`the run ${stoppedWarning(stopped)}`];
  if (min !== null) checks.push(meanCheck(candidate, min, metric, alpha));
  const holds = runs.flatMap((run) => (run === null ? [] : reasonsToHold(run)));
  if (checks.length < Number(maxDrop !== null) + Number(min !== null)) holds.push("no example has a score in both runs");
  const decided = commonVerdict(checks.map(({ verdict }) => verdict));
  return {
    kind: "decided",
    report: {
      verdict: holds.length > 0 ? "undecided" : decided,
      metric,
      alpha,
      ...(clusterBy === undefined ? {} : { cluster_by: clusterBy }),
      candidate: namedRun(candidate),
      baseline: maxDrop === null || baseline === null ? null : namedRun(baseline),
      paired: !unpaired,
      checks,
      holds,
      warnings,
    },
  };
}

const attemptsOf = ({ rollouts, examples }: ScoreTable): number => rollouts / Math.max(1, examples);

function dropCheck(found: MetricComparison, maxDrop: number, alpha: number, [before, after]: readonly [ScoreTable, ScoreTable]): GateCheck {
  const { n, clusters, difference, stderr, interval = null, variances } = found;
  const bound = maxDrop === 0 ? 0 : -maxDrop;
  const { baseline, candidate } = variances;
  const [withinA, withinB] = [baseline.within ?? 0, candidate.within ?? 0];
  const [attemptsA, attemptsB] = [attemptsOf(before), attemptsOf(after)];
  const spread = stderr === null ? 0 : stderr ** 2 * n;
  const design = {
    examples: n,
    attemptsA,
    attemptsB,
    between: Math.max(0, spread - withinA / attemptsA - withinB / attemptsB),
    withinA: stderr === null ? 0 : withinA,
    withinB: stderr === null ? 0 : withinB,
    withinKnown: baseline.within !== null && candidate.within !== null,
    perObservation: clusters === undefined ? 1 : n / Math.max(1, clusters),
  };
  return {
    kind: "max_drop",
    bound,
    n,
    ...(clusters === undefined ? {} : { clusters }),
    value: difference,
    interval,
    verdict: verdictOf(interval, bound),
    as_seen: decisionCost(design, Math.abs(difference - bound), alpha),
    if_equal: decisionCost(design, maxDrop, alpha),
  };
}

function meanCheck({ table, range }: ComparedRun, min: number, metric: string, alpha: number): GateCheck {
  const column = table.columns.get(metric);
  const scored = column?.means.filter((mean) => !Number.isNaN(mean)) ?? new Float64Array();
  const spread = new RewardSpread(metric === REWARD ? range : null, isCount(metric));
  for (const mean of scored) spread.addExample([mean]);
  const { n, mean } = spread.estimate();
  const groups = table.clusters === null || column === undefined ? null : new ClusteredMean(metric === REWARD ? range : null, isCount(metric));
  if (groups !== null)
    for (const [example, value] of (column?.means ?? []).entries()) if (!Number.isNaN(value)) groups.addExample([value], String(table.clusters?.[example]));
  const grouped = groups?.estimate() ?? null;
  const interval = groups === null ? spread.interval(alpha) : groups.interval(alpha);
  const { between: apart, within } = column === undefined ? { between: 0, within: null } : varianceComponents(scored, column.within);
  const attempts = attemptsOf(table);
  const between = grouped === null ? apart : Math.max(0, (grouped.stderr ?? 0) ** 2 * n - (within ?? 0) / attempts);
  const perObservation = grouped === null ? 1 : n / Math.max(1, grouped.n);
  const design = { examples: n, attemptsA: attempts, attemptsB: 1, between, withinA: within ?? 0, withinB: 0, withinKnown: within !== null, perObservation };
  return {
    kind: "min",
    bound: min,
    n,
    ...(grouped === null ? {} : { clusters: grouped.n }),
    value: mean,
    interval,
    verdict: verdictOf(interval, min),
    as_seen: decisionCost(design, Math.abs(mean - min), alpha),
    if_equal: null,
  };
}

function reasonsToHold({ name, metadata, table: { errored, rollouts, unnamed, contentKnown } }: ComparedRun): readonly string[] {
  const share = errored / Math.max(1, rollouts);
  const reasons: string[] = [];
  if (!comparedFacts(metadata).ended) reasons.push(`${name} has not ended: what is done so far is no random part of it`);
  if (unnamed > 0 && !contentKnown)
    reasons.push(`${unnamed} rows of ${name} name no example and have no prompts: nobody can tell which are attempts at one, so no interval of it is one`);
  if (share > MOST_ERRORS)
    reasons.push(`${(100 * share).toFixed(1)} % of the rollouts of ${name} ended in an error and have no score: those that answered are no random part`);
  return reasons;
}
