/** `edgewise gate RUN`: a run against its bounds. */
import { appendFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { commonClusterKey } from "../../metrics/comparison/common-cluster-key.ts";
import { REWARD } from "../../metrics/comparison/score-table.ts";
import { type GateWish, gateRun } from "../../metrics/gate/gate.ts";
import type { Verdict } from "../../metrics/gate/verdict.ts";
import { gateLines, gateMarkdown } from "../../report/statistics/gate-lines.ts";
import { printableJson } from "../../report/text/printable.ts";
import { withRuns } from "../exports/open-runs.ts";
import type { CommandContext } from "../service/command-context.ts";
import { CliError, EXIT, type ExitCode, reasonOf, usageError } from "../terminal/cli-error.ts";
import { notComparable } from "./not-comparable.ts";
import { scoresOf } from "./scores-of.ts";
import { tellOfGate } from "./tell-of-gate.ts";

export interface GatedWish extends Omit<GateWish, "metric"> {
  /** Run id or folder. */
  readonly run: string;
  readonly baseline: string | null;
  /** Null: the reward. */
  readonly metric: string | null;
  /** File for the Markdown. */
  readonly summary: string | null;
  readonly output: "table" | "json" | "markdown";
}

const CODES: Readonly<Record<Verdict, ExitCode>> = { pass: EXIT.completed, fail: EXIT.refused, undecided: EXIT.owed };

export async function gate(context: CommandContext, { run, baseline, metric, summary, output, ...bounds }: GatedWish): Promise<ExitCode> {
  const { maxDrop, min } = bounds;
  if ((maxDrop === null) !== (baseline === null))
    throw usageError(maxDrop === null ? "--baseline needs --max-drop: how much worse may the run be?" : "--max-drop needs --baseline: worse than what?");
  if (maxDrop === null && min === null)
    throw usageError("a gate needs a bound: --max-drop with --baseline, or --min", "For example: --baseline RUN --max-drop 0.02");
  const named = baseline === null ? [run] : [run, baseline];
  const { terminal } = context;
  return await withRuns(context, "edgewise gate", { named, partial: false, baselines: true, exports: true }, async (opened) => {
    const [candidate, before = null] = opened;
    if (candidate === undefined || opened.length !== named.length)
      throw usageError(
        `a gate is for one run, and there are several in ${named.join(" or ")}`,
        "Name a results folder, which has a metadata.json, or a run id.",
      );
    const wanted = metric === null || metric === REWARD ? [] : [metric];
    const clusterBy = commonClusterKey(
      bounds.clusterBy,
      opened.map(({ facts }) => facts.cluster_by),
    );
    const outcome = gateRun(await scoresOf(candidate, wanted, clusterBy), before === null ? null : await scoresOf(before, wanted, clusterBy), {
      ...bounds,
      clusterBy,
      metric: metric ?? REWARD,
    });
    if (outcome.kind === "refused") throw notComparable(outcome.refusals);
    const { report } = outcome;
    const markdown = gateMarkdown(report);
    if (output === "json") terminal.print(printableJson(report, 2));
    else for (const line of output === "markdown" ? markdown : gateLines(report, terminal.columns)) terminal.print(line);
    // Before files are written, which may fail. A run that is held against itself tries whether the bounds are any.
    if (report.verdict === "fail" && candidate.kept !== undefined && candidate.kept.id !== before?.kept?.id) await tellOfGate(terminal, candidate.kept, report);
    const text = `${markdown.join("\n")}\n`;
    if (summary !== null) writing("--summary", summary, () => writeFileSync(resolve(context.cwd, summary), text));
    const page = context.env.GITHUB_STEP_SUMMARY;
    if (page) writing("GITHUB_STEP_SUMMARY", page, () => appendFileSync(resolve(context.cwd, page), text));
    return CODES[report.verdict];
  });
}

function writing(what: string, path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new CliError(`${what}: ${path} cannot be written: ${reasonOf(error)}`, { cause: error });
  }
}
