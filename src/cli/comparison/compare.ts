/** `edgewise compare A B [C…]`: runs against a baseline, example by example. */
import { setFlagsFromString } from "node:v8";
import { commonClusterKey } from "../../metrics/comparison/common-cluster-key.ts";
import { type CompareWish, type ComparedRun, compareRuns } from "../../metrics/comparison/compare-runs.ts";
import { comparisonLines, comparisonMarkdown } from "../../report/statistics/comparison-lines.ts";
import { printableJson } from "../../report/text/printable.ts";
import { withRuns } from "../exports/open-runs.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { notComparable } from "./not-comparable.ts";
import { scoresOf } from "./scores-of.ts";
import { transcriptLines } from "./transcripts.ts";

export interface ComparedWish extends CompareWish {
  /** Run ids and folders, the baseline first. */
  readonly named: readonly string[];
  /** Null: all that both have. */
  readonly metrics: readonly string[] | null;
  readonly output: "table" | "json" | "markdown";
}

export async function compare(context: CommandContext, wish: ComparedWish): Promise<ExitCode> {
  const { terminal } = context;
  // As for an export: what waits to be collected would otherwise be most of the memory.
  setFlagsFromString("--semi-space-growth-factor=1");
  return await withRuns(context, "edgewise compare", { named: wish.named, partial: false, baselines: true, exports: true }, async (runs) => {
    if (runs.length < 2) throw usageError("a comparison takes two runs: the baseline, and one or more to hold against it");
    for (const note of runs.flatMap(({ notes }) => notes)) terminal.tell(`warning: ${note}`);
    const clusterBy = commonClusterKey(
      wish.clusterBy,
      runs.map(({ facts }) => facts.cluster_by),
    );
    const compared: ComparedRun[] = [];
    for (const run of runs) compared.push(await scoresOf(run, wish.metrics, clusterBy));
    const outcome = compareRuns(compared, { ...wish, clusterBy });
    if (outcome.kind === "refused") throw notComparable(outcome.refusals);
    if (wish.output === "json") {
      const { kind: _, ...report } = outcome;
      terminal.print(printableJson(report, 2));
      return EXIT.completed;
    }
    const lines = wish.output === "markdown" ? comparisonMarkdown(outcome) : comparisonLines(outcome, terminal.columns);
    for (const line of lines) terminal.print(line);
    if (wish.output === "table" && wish.shown > 0) for await (const line of transcriptLines(runs, outcome.comparisons, terminal.columns)) terminal.print(line);
    return EXIT.completed;
  });
}
