/** `edgewise eval report RUN|FOLDER…`: the report of runs that there are, made from their rows; also with other groups than it had at their end. */
import { knownKeysText, unknownKeyText } from "../../report/statistics/unknown-key-text.ts";
import { flagName } from "../command-line/flags.ts";
import { groupingProblem, PromptGroups } from "../../metrics/grouping.ts";
import type { Aggregates } from "../../metrics/aggregates.ts";
import { importedAverages, wrongAverages } from "../../metrics/stated-averages.ts";
import { wrongAveragesText } from "../../report/statistics/wrong-averages.ts";
import { PlainReport } from "../../report/plain-report.ts";
import { notRunText } from "../../report/settings.ts";
import { printableJson } from "../../report/text/printable.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { withRuns } from "./open-runs.ts";
import { ExampleNaming } from "./example-naming.ts";
import type { OpenedRun } from "./opened-run.ts";

export interface ReportWish {
  /** Run ids and folders. */
  readonly named: readonly string[];
  readonly clusterBy: string | undefined;
  readonly by: string | undefined;
  readonly output: "text" | "json";
}

export async function reportRuns(context: CommandContext, wish: ReportWish): Promise<ExitCode> {
  const { terminal } = context;
  return await withRuns(context, "edgewise eval report", { named: wish.named, partial: false, exports: true }, async (runs) => {
    const reports: object[] = [];
    for (const run of runs) {
      const report = await reportOf(run, wish);
      const problem = report.groupingProblem;
      const wrong = wrongIn(run, report.result());
      if (wish.output === "json")
        reports.push({
          run: run.name,
          notes: [...run.notes, ...wrong],
          ...report.result(),
          ...(run.facts.stopped_early === null ? {} : { stopped_early: run.facts.stopped_early }),
          ...(problem === undefined ? {} : { grouping_problem: problem }),
          slices: report.slices(),
        });
      else for (const line of [`${run.name}:`, ...run.notes, ...wrong, ...report.lines(terminal.columns, true)]) terminal.print(line);
    }
    if (wish.output === "json") terminal.print(printableJson(reports.length === 1 ? reports[0] : reports, 2));
    return EXIT.completed;
  });
}

/** Averages that the run's file, or the log that it was imported from, states and its rows do not bear out; what the report has is of the rows. */
function wrongIn({ metadata, notes, facts }: OpenedRun, rows: Aggregates): readonly string[] {
  // Of a run that goes on the file is of another moment than the rows.
  if (notes.length > 0 || rows.rollouts === 0) return [];
  const texts = [wrongAveragesText(wrongAverages(metadata, rows)), wrongAveragesText(wrongAverages(importedAverages(metadata), rows), "the imported log")];
  const missing = facts.foreign && typeof (metadata as { readonly avg_reward?: unknown } | null)?.avg_reward !== "number";
  return [...(missing ? ["metadata.json states no average reward: it is made from the rows here"] : []), ...texts.filter((text) => text !== null)];
}

async function reportOf({ name, facts, rows }: OpenedRun, { clusterBy, by }: ReportWish): Promise<PlainReport> {
  const groups = new PromptGroups();
  const naming = new ExampleNaming();
  // Another program may have named examples wrongly, which the rows have to be looked through for first.
  if (facts.foreign)
    for await (const { value } of rows()) {
      groups.add(value.example_id ?? value.id, value.prompt);
      naming.add(value);
    }
  const notRun = notRunText(facts.n_not_run);
  const report = new PlainReport({
    env_id: facts.env_id,
    model: facts.model,
    base_url: facts.base_url ?? "not known",
    num_examples: facts.num_examples ?? 0,
    rollouts_per_example: facts.rollouts_per_example ?? 1,
    pass_threshold: facts.pass_threshold,
    reward_range: facts.reward_range,
    grouping_problem:
      facts.grouping_problem ?? naming.problem(facts.rollouts_per_example ?? 1) ?? (groups.others === 0 ? undefined : groupingProblem(groups.others)),
    settings: notRun === null ? [] : [`not run: ${notRun}`],
    cluster_by: clusterBy ?? facts.cluster_by,
    stopped_early: facts.stopped_early,
    by,
  });
  for await (const { value } of rows()) report.addRow(value);
  // The key of the run itself was looked for when it was prepared.
  const unknown = report.unknownKeys().find(([key]) => key === "by" || clusterBy !== undefined);
  if (unknown !== undefined) throw usageError(`${name}: ${unknownKeyText(flagName(unknown[0]), unknown[1])}`, knownKeysText(unknown[1]));
  return report;
}
