/** `edgewise plan`: how large runs must be. */
import { REWARD } from "../../metrics/comparison/score-table.ts";
import { type PlanWish, planRuns } from "../../metrics/gate/plan.ts";
import { planLines, planMarkdown } from "../../report/statistics/plan-lines.ts";
import { printableJson } from "../../report/text/printable.ts";
import { withRuns } from "../exports/open-runs.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { scoresOf } from "./scores-of.ts";

export interface PlannedWish extends Omit<PlanWish, "metric"> {
  /** Run id, folder or name; null: nothing is known. */
  readonly baseline: string | null;
  /** Null: the reward. */
  readonly metric: string | null;
  readonly output: "table" | "json" | "markdown";
}

export async function plan(context: CommandContext, { baseline, metric, output, ...wish }: PlannedWish): Promise<ExitCode> {
  const { terminal } = context;
  if (baseline === null && metric !== null) throw usageError("--metric needs --baseline: whose metric?");
  const named = baseline === null ? [] : [baseline];
  return await withRuns(context, "edgewise plan", { named, partial: false, baselines: true }, async (opened) => {
    const [pilot] = opened;
    if (opened.length > 1) throw usageError(`there are several runs in ${baseline}: name one`);
    const wanted = metric === null || metric === REWARD ? [] : [metric];
    const report = planRuns(pilot === undefined ? null : await scoresOf(pilot, wanted), { ...wish, metric: metric ?? REWARD });
    if (output === "json") terminal.print(printableJson(report, 2));
    else for (const line of output === "markdown" ? planMarkdown(report) : planLines(report, terminal.columns)) terminal.print(line);
    return EXIT.completed;
  });
}
