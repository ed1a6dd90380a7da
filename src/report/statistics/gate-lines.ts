/** What a gate says, in words: for a terminal, and as Markdown for the page of a job. */
import type { GateCheck, GateReport } from "../../metrics/gate/gate.ts";
import type { DecisionCost } from "../../metrics/gate/decision-cost.ts";
import { type Column, columnLines } from "../text/columns.ts";
import { groupsText, runText, signed } from "./comparison-lines.ts";
import { fixed, thousands } from "../text/format.ts";
import { markdownCell, markdownTable } from "../text/markdown-table.ts";
import { singleLine } from "../text/printable.ts";
import { intervalText } from "./uncertainty.ts";

/** `95%`, `99.5%`. */
const level = (alpha: number): string => `${Number((100 * (1 - alpha)).toFixed(3))}%`;

const columnsOf = (alpha: number): readonly Column[] => [
  { title: "bound", flexible: true },
  { title: "n", align: "right" },
  { title: "value", align: "right" },
  { title: `${level(alpha)} interval` },
  { title: "verdict" },
];

const cellsOf = (metric: string, { kind, bound, n, value, interval, verdict }: GateCheck): readonly string[] => [
  kind === "max_drop" ? `${metric}: difference to the baseline not below ${fixed(bound, 3)}` : `${metric}: mean not below ${fixed(bound, 3)}`,
  String(n),
  kind === "max_drop" ? signed(value) : fixed(value, 3),
  interval === null ? "-" : intervalText(interval),
  verdict,
];

export function gateLines(report: GateReport, width: number): readonly string[] {
  const { verdict, metric, alpha, candidate, baseline, checks } = report;
  return [
    `Gate: ${verdict}`,
    ...(baseline === null ? [] : [`Baseline:  ${runText(baseline)}`]),
    `Candidate: ${runText(candidate)}`,
    ...columnLines(
      columnsOf(alpha),
      checks.map((check) => cellsOf(metric, check)),
      width,
    ),
    ...remarks(report),
  ];
}

export function gateMarkdown(report: GateReport): readonly string[] {
  const { verdict, metric, alpha, candidate, baseline, checks } = report;
  const of = baseline === null ? "" : ` against ${markdownCell(baseline.run)}`;
  return [
    `### Gate: ${verdict} (${markdownCell(candidate.run)}${of})`,
    "",
    ...(baseline === null ? [] : [`Baseline: ${markdownCell(runText(baseline))}  `]),
    `Candidate: ${markdownCell(runText(candidate))}`,
    "",
    ...markdownTable(
      columnsOf(alpha),
      checks.map((check) => cellsOf(metric, check)),
    ),
    "",
    ...remarks(report).map((line) => `- ${markdownCell(line)}`),
    "",
  ];
}

/** What was not passed, in one line. */
export const gateFailure = ({ metric, checks }: GateReport): string =>
  checks
    .filter(({ verdict }) => verdict === "fail")
    .map((check) => {
      const [bound, , value, interval] = cellsOf(singleLine(metric), check);
      return `${bound}, is ${value} (${interval})`;
    })
    .join("; ");

function remarks({ checks, holds, warnings, cluster_by }: GateReport): readonly string[] {
  const observed = [
    ...new Set(checks.flatMap(({ clusters }) => (clusters === undefined || cluster_by === undefined ? [] : [groupsText(clusters, cluster_by)]))),
  ];
  return [
    ...observed,
    ...holds.map((reason) => `undecided: ${singleLine(reason)}`),
    ...checks.flatMap((check) => (check.verdict === "undecided" ? costLines(check) : [])),
    ...warnings.map((warning) => `warning: ${singleLine(warning)}`),
  ];
}

function costLines({ kind, as_seen, if_equal, n }: GateCheck): readonly string[] {
  const seen = costText(as_seen, n);
  const equal = if_equal === null ? null : costText(if_equal, n);
  return [
    seen === null
      ? "what was seen is the bound itself: as long as it stays there, no number of examples decides"
      : `to decide, if ${kind === "max_drop" ? "the difference" : "the mean"} is what was seen: ${seen}`,
    ...(equal === null ? [] : [`to pass, if the run is as good as the baseline: ${equal}`]),
  ];
}

/** With a chance of four in five. */
function costText({ examples, attempts }: DecisionCost, before: number): string | null {
  if (examples === null) return null;
  const more = `${thousands(examples)} examples, ${thousands(examples - before)} more than there are`;
  return attempts === null ? more : `${more}; or ${thousands(attempts)} rollouts at each of those`;
}
