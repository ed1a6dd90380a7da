import { REWARD, ScoreTableBuilder } from "../../metrics/comparison/score-table.ts";
import type { ComparedRun } from "../../metrics/comparison/compare-runs.ts";
import { knownKeysText, unknownKeyText } from "../../report/statistics/unknown-key-text.ts";
import { flagName } from "../command-line/flags.ts";
import type { OpenedRun } from "../exports/opened-run.ts";
import { CliError, usageError } from "../terminal/cli-error.ts";

/** Reads the scores of a run, a row at a time. `metrics`: those that it must have, beside the reward; null: all that it has. `clusterBy`: a key that some row must have. Throws a `CliError`. */
export async function scoresOf(run: OpenedRun, metrics: readonly string[] | null, clusterBy?: string | undefined): Promise<ComparedRun> {
  const { foreign, model, reward_range } = run.facts;
  const builder = new ScoreTableBuilder({ trusted: !foreign, metrics: metrics === null ? null : [REWARD, ...metrics], clusterBy });
  for await (const { value, number } of run.rows()) builder.add(value, number);
  const table = builder.table();
  if (table.examples === 0) throw new CliError(`${run.name} has no rows to compare`, { hints: ["Go on with the run: npx edgewise eval run … -R"] });
  const unknown = builder.unknownKey;
  if (unknown !== null) throw usageError(`${run.name}: ${unknownKeyText(flagName("cluster_by"), unknown)}`, knownKeysText(unknown));
  const missing = (metrics ?? []).filter((name) => !table.columns.has(name));
  if (missing.length > 0)
    throw usageError(
      `--metric: ${run.name} has no ${missing.join(", ")}`,
      `It has ${[...table.columns.keys()].join(", ") || "no scores: every rollout ended in an error"}.`,
    );
  return { name: run.name, model, metadata: run.metadata, range: reward_range, table };
}
