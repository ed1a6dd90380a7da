import type { RewardRange } from "../interval.ts";
import { type Comparability, comparability, comparedFacts } from "./comparability.ts";
import { compareTables, type TableComparison } from "./compare-tables.ts";
import type { ScoreTable } from "./score-table.ts";

/** A run as a comparison gets it: from wherever its rows are. */
export interface ComparedRun {
  /** As a person named it. */
  readonly name: string;
  readonly model: string;
  readonly metadata: unknown;
  readonly range: RewardRange;
  readonly table: ScoreTable;
}

export interface CompareWish {
  readonly unpaired: boolean;
  /** Another code or environment scores the same, as the caller knows. */
  readonly accepted: boolean;
  /** Examples that lost most, and those that gained most, which are named. */
  readonly shown: number;
  /** Each difference has an interval at 1 - alpha too. */
  readonly alpha?: number | undefined;
  /** Under which key examples share something; the tables have been made with it. */
  readonly clusterBy?: string | undefined;
}

export interface NamedRun {
  readonly run: string;
  readonly model: string;
  readonly examples: number;
  readonly rollouts: number;
  readonly errored: number;
}

export interface RunComparison extends TableComparison {
  readonly candidate: NamedRun;
}

export interface ComparisonReport {
  readonly baseline: NamedRun;
  /** The key of each metric's `clusters`; absent where nobody asked. */
  readonly cluster_by?: string;
  readonly comparisons: readonly RunComparison[];
}

/** Why nothing is compared, and what would make it comparable. */
export interface ComparisonRefusal {
  readonly reason: string;
  readonly hint: string;
}

export type ComparisonOutcome =
  | ({ readonly kind: "compared" } & ComparisonReport)
  | { readonly kind: "refused"; readonly refusals: readonly ComparisonRefusal[] };

/** The first run is the baseline of all others. Two runs at least; throws a `RangeError` for fewer. */
export function compareRuns(
  [baseline, ...candidates]: readonly ComparedRun[],
  { unpaired, accepted, shown, alpha, clusterBy }: CompareWish,
): ComparisonOutcome {
  if (baseline === undefined || candidates.length === 0) throw new RangeError("a comparison takes two runs");
  const verdicts = verdictsOf(baseline, candidates, { accepted, clusterBy });
  const range = candidates.reduce<RewardRange>((all, { range: own }) => [Math.min(all[0], own[0]), Math.max(all[1], own[1])], baseline.range);
  const compared = compareTables(
    baseline.table,
    candidates.map(({ table }) => table),
    { range, unpaired, shown, alpha },
  );
  const refusals = refusalsOf(
    baseline,
    candidates.map((run, i) => ({ run, verdict: verdicts[i] as Comparability, join: unpaired ? null : (compared[i] as TableComparison) })),
  );
  if (refusals.length > 0) return { kind: "refused", refusals };
  return {
    kind: "compared",
    baseline: namedRun(baseline),
    ...(clusterBy === undefined ? {} : { cluster_by: clusterBy }),
    comparisons: candidates.map((candidate, i) => {
      const comparison = compared[i] as TableComparison;
      return { candidate: namedRun(candidate), ...comparison, warnings: [...(verdicts[i]?.warnings ?? []), ...comparison.warnings] };
    }),
  };
}

export const verdictsOf = (
  baseline: ComparedRun,
  candidates: readonly ComparedRun[],
  { accepted, clusterBy }: Pick<CompareWish, "accepted" | "clusterBy">,
): readonly Comparability[] =>
  candidates.map(({ metadata }) => comparability(comparedFacts(baseline.metadata), comparedFacts(metadata), accepted, clusterBy !== undefined));

interface JudgedRun {
  readonly run: ComparedRun;
  readonly verdict: Comparability;
  /** With the baseline; null where examples are not held against each other. */
  readonly join: { readonly joined: number; readonly differing: number } | null;
}

/** Why the candidates are not held against the baseline; none where they may be. */
export function refusalsOf(baseline: ComparedRun, candidates: readonly JudgedRun[]): readonly ComparisonRefusal[] {
  const between = ({ run }: JudgedRun): string => `${baseline.name} and ${run.name}`;
  const refusals = candidates.flatMap((each) => each.verdict.refusals.map(({ reason, hint }) => ({ reason: `${between(each)}: ${reason}`, hint })));
  const paired = candidates.flatMap((each) => (each.join === null ? [] : [{ ...each, join: each.join }]));
  for (const { name, table } of paired.length === 0 ? [] : [baseline, ...paired.map(({ run }) => run)])
    if (table.unnamed > 0 && !table.contentKnown)
      refusals.push({
        reason: `${name}: ${table.unnamed} rows name no example and rows have no prompts, so that nobody can tell which are of one example`,
        hint: "Compare them as samples of two, where each such row is an example: --unpaired.",
      });
  for (const each of paired) {
    const { joined, differing } = each.join;
    if (joined > 0 || refusals.length > 0) continue;
    const why = differing === 0 ? "no example of the one is in the other" : `all ${differing} examples with equal ids have other prompts or answers`;
    refusals.push({ reason: `${between(each)}: ${why}`, hint: "Run both over the same data, or compare them as samples of two: --unpaired." });
  }
  return refusals;
}

/** What is said of a run beside its numbers. */
export const namedRun = ({ name, model, table }: ComparedRun): NamedRun => ({
  run: name,
  model,
  examples: table.examples,
  rollouts: table.rollouts,
  errored: table.errored,
});
