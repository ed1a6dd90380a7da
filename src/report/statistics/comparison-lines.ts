/** A comparison in words and tables: for a terminal, and as Markdown. */
import type { ComparisonReport, NamedRun, RunComparison } from "../../metrics/comparison/compare-runs.ts";
import type { ExampleDifference, MetricComparison, TestMethod } from "../../metrics/comparison/compare-tables.ts";
import { type Column, columnLines } from "../text/columns.ts";
import { fixed, thousands } from "../text/format.ts";
import { markdownCell, markdownTable } from "../text/markdown-table.ts";
import { singleLine } from "../text/printable.ts";
import { intervalText, observedText } from "./uncertainty.ts";

/** What a p value is by. */
export const TESTS: Readonly<Record<TestMethod, string>> = { mcnemar: "McNemar, exact", sign_flips: "sign flips", t: "paired t", welch: "Welch's t" };

const COLUMNS: readonly Column[] = [
  { title: "metric", flexible: true },
  { title: "n", align: "right" },
  { title: "baseline", align: "right" },
  { title: "candidate", align: "right" },
  { title: "difference", align: "right" },
  { title: "95% interval" },
  { title: "p", align: "right" },
  { title: "p (Holm)", align: "right" },
  { title: "test" },
];

/** `0.006`, `1.2e-32`. */
export function probability(p: number | null): string {
  if (p === null) return "-";
  return p < 0.001 && p > 0 ? p.toExponential(1) : fixed(p, 3);
}

/** `+0.012`. */
export const signed = (value: number): string => `${value > 0 ? "+" : ""}${fixed(value, 3)}`;

const cellsOf = ({ metric, n, baseline, candidate, difference, ci95, p, p_holm, test }: MetricComparison): readonly string[] => [
  metric,
  String(n),
  fixed(baseline, 3),
  fixed(candidate, 3),
  signed(difference),
  ci95 === null ? "-" : intervalText(ci95),
  probability(p),
  probability(p_holm),
  TESTS[test],
];

/** A run with its model and what it has. */
export const runText = ({ run, model, examples, rollouts, errored }: NamedRun): string =>
  `${singleLine(run)} (${singleLine(model)}): ${thousands(examples)} examples, ${thousands(rollouts)} rollouts${errored === 0 ? "" : `, ${thousands(errored)} of them errors`}`;

export function comparisonLines({ baseline, cluster_by, comparisons }: ComparisonReport, width: number): readonly string[] {
  return [
    `Baseline:  ${runText(baseline)}`,
    ...comparisons.flatMap((comparison) => [
      "",
      `Candidate: ${runText(comparison.candidate)}`,
      ...factLines(comparison),
      ...columnLines(COLUMNS, comparison.metrics.map(cellsOf), width),
      ...meaningLines(comparison, cluster_by),
      ...exampleLines("lost most", comparison.regressions),
      ...exampleLines("gained most", comparison.improvements),
    ]),
  ];
}

export function comparisonMarkdown({ baseline, cluster_by, comparisons }: ComparisonReport): readonly string[] {
  return comparisons.flatMap((comparison) => [
    `### ${markdownCell(comparison.candidate.run)} against ${markdownCell(baseline.run)}`,
    "",
    `Baseline: ${markdownCell(runText(baseline))}  `,
    `Candidate: ${markdownCell(runText(comparison.candidate))}`,
    "",
    ...markdownTable(COLUMNS, comparison.metrics.map(cellsOf)),
    "",
    ...[...factLines(comparison), ...meaningLines(comparison, cluster_by)].map((line) => `- ${markdownCell(line)}`),
    "",
  ]);
}

function factLines(comparison: RunComparison): readonly string[] {
  const { paired, warnings, same_as_reward } = comparison;
  const same = same_as_reward.length === 0 ? [] : [sameAsRewardText(same_as_reward)];
  return [...(paired ? [`joined: ${joinedText(comparison)}`] : []), ...same, ...warnings.map((warning) => `warning: ${singleLine(warning)}`)];
}

/** Why a metric that both runs have is not in the table. */
export const sameAsRewardText = (metrics: readonly string[]): string =>
  `left out, since ${metrics.length === 1 ? "it is" : "they are"} the reward under another name: ${metrics.map(singleLine).join(", ")}`;

/** How many examples were held against each other, and what became of the others. */
export function joinedText({ joined, only_baseline, only_candidate, differing, unscored }: RunComparison): string {
  const left = [
    [only_baseline, "only in the baseline"],
    [only_candidate, "only in the candidate"],
    [differing, "with another prompt or answer"],
    [unscored, "without a score"],
  ] as const;
  const others = left.flatMap(([count, what]) => (count === 0 ? [] : [`${thousands(count)} ${what}`]));
  return [`${thousands(joined)} examples`, ...others].join(", ");
}

/** What was observed where examples share something. */
export const groupsText = (clusters: number, key: string): string => `over ${observedText(clusters, key)}, whose examples count as one observation each`;

/** What the numbers of the first metric, which is the reward, are worth. */
export function meaningLines({ metrics, paired, worse, better, equal }: RunComparison, clusterBy: string | undefined): readonly string[] {
  const [reward] = metrics;
  if (reward === undefined) return ["Nothing was scored in both."];
  const { correlation, unpaired_stderr, stderr, pairing_gain, detectable, clusters } = reward;
  const over = clusters === undefined || clusterBy === undefined ? [] : [groupsText(clusters, clusterBy)];
  const moved = paired ? [`examples: ${thousands(worse)} worse, ${thousands(better)} better, ${thousands(equal)} equal`] : [];
  const bought =
    correlation === null || stderr === null || unpaired_stderr === null || pairing_gain === null
      ? []
      : [
          `pairing: the runs correlate by ${fixed(correlation, 2)}, so the standard error is ${fixed(stderr, 4)} instead of ${fixed(unpaired_stderr, 4)}: worth ${fixed(pairing_gain, 1)} times the examples`,
        ];
  const found = detectable === null ? [] : [`this design finds differences from ${fixed(detectable, 3)} on (4 times in 5, at 5 %)`];
  return [...over, ...moved, ...bought, ...found];
}

const exampleLines = (which: string, examples: readonly ExampleDifference[]): readonly string[] =>
  examples.length === 0
    ? []
    : [
        `${which}:`,
        ...examples.map(
          ({ example_id, baseline, candidate, difference }) =>
            `  example ${example_id}: ${fixed(baseline, 3)} to ${fixed(candidate, 3)} (${signed(difference)})`,
        ),
      ];
