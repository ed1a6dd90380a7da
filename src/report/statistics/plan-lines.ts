/** How large runs must be, in words. */
import type { PlanOption, PlanReport } from "../../metrics/gate/plan.ts";
import { type Column, columnLines } from "../text/columns.ts";
import { fixed, thousands } from "../text/format.ts";
import { markdownCell, markdownTable } from "../text/markdown-table.ts";
import { singleLine } from "../text/printable.ts";

const columnsOf = (unpaired: boolean): readonly Column[] => [
  { title: "rollouts per example", align: "right" },
  { title: "examples, the same for both runs", align: "right" },
  { title: "rollouts of both", align: "right" },
  ...(unpaired ? ([{ title: "examples, others for each run", align: "right" }] as const) : []),
];

const rowsOf = ({ paired, unpaired }: PlanReport): readonly (readonly string[])[] =>
  paired.map(({ attempts, examples, rollouts }: PlanOption, i) => [
    String(attempts),
    thousands(examples),
    thousands(rollouts),
    ...(unpaired === null ? [] : [thousands(unpaired[i]?.examples ?? 0)]),
  ]);

export const planLines = (report: PlanReport, width: number): readonly string[] => [
  ...headLines(report),
  ...columnLines(columnsOf(report.unpaired !== null), rowsOf(report), width),
  ...remarks(report),
];

export const planMarkdown = (report: PlanReport): readonly string[] => [
  ...headLines(report).map((line) => `${markdownCell(line)}  `),
  "",
  ...markdownTable(columnsOf(report.unpaired !== null), rowsOf(report)),
  "",
  ...remarks(report).map((line) => `- ${markdownCell(line)}`),
];

function headLines({ detect, alpha, power, basis }: PlanReport): readonly string[] {
  const { run, mean, examples, between, within } = basis;
  const known =
    run === null || mean === null || examples === null
      ? "nothing is known of the scores: they are taken for coins, 0 or 1, the most that such scores can vary (a run says better: --baseline RUN)"
      : between === null
        ? `${singleLine(run)}: mean ${fixed(mean, 3)} over ${thousands(examples)} examples with single rollouts, which vary by ${fixed(within, 4)} in all`
        : `${singleLine(run)}: mean ${fixed(mean, 3)} over ${thousands(examples)} examples; variance between examples ${fixed(between, 4)}, within them ${fixed(within, 4)}`;
  return [`To find a difference of ${detect} in ${fixed(100 * power, 0)} of 100 tries, at ${Number((100 * alpha).toFixed(3))} %:`, known];
}

function remarks({ detect, basis, unpaired, from_here }: PlanReport): readonly string[] {
  const lines: string[] = [];
  const most = unpaired === null ? "" : ", up to as many as of other examples";
  lines.push(`the same examples: if the runs differ by as much at each of them; where they do not, it takes more${most}, and more rollouts help less`);
  if (basis.between === null && basis.run !== null)
    lines.push(
      "single rollouts do not tell examples from luck: all of it is taken for luck, so these are more examples than it takes; two rollouts each would tell (-r 2)",
    );
  if (from_here === null) return lines;
  const { detectable, more_examples, more_attempts } = from_here;
  lines.push(`two runs of this size find differences from ${fixed(detectable, 3)} on`);
  if (more_examples === 0) lines.push(`that is enough for ${detect}`);
  else {
    const more = more_attempts === null ? "" : `, or ${thousands(more_attempts)} more rollouts at each of the present ones`;
    lines.push(`for ${detect}: ${thousands(more_examples)} more examples${more}, in both runs`);
  }
  return lines;
}
