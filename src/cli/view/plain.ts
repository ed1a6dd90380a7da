/** The viewer where there is no terminal: the tree with one line per run, or all about the one run that was named. */
import { columnLines } from "../../report/text/columns.ts";
import { fixed } from "../../report/text/format.ts";
import { singleLine } from "../../report/text/printable.ts";
import { textOf } from "../terminal/canvas.ts";
import { type FoundRun, readInfo } from "./find-runs.ts";
import { ResultsFile } from "./results-file.ts";
import { dateText } from "./row-facts.ts";
import { rewardText, runLines } from "./run-lines.ts";
import { RowSpread } from "./spread.ts";
import { treeOf } from "./tree.ts";

/** Wide enough that no path is cut. */
const WIDTH = 10_000;

export function plainTree(runs: readonly FoundRun[]): readonly string[] {
  return treeOf(runs).flatMap((env) => [
    singleLine(env.name),
    ...env.models.flatMap((model) => [
      `  ${singleLine(model.name)}`,
      ...columnLines(
        [
          { title: "RUN" },
          { title: "REWARD", align: "right" },
          { title: "ROLLOUTS", align: "right" },
          { title: "ERRORS", align: "right" },
          { title: "WRITTEN" },
          { title: "FOLDER" },
        ],
        model.runs.map(rowOf),
        WIDTH,
      ).map((line) => `    ${line}`),
    ]),
  ]);
}

function rowOf(run: FoundRun): readonly string[] {
  const info = readInfo(run.path);
  const written = run.changed === 0 ? "?" : dateText(run.changed);
  if ("problem" in info) return [run.id, "?", "?", "?", written, `${run.shownPath} (${info.problem})`];
  const { averageReward, examples, rolloutsPerExample, errorShare } = info;
  const rollouts = examples === null || rolloutsPerExample === null ? "?" : String(examples * rolloutsPerExample);
  return [
    run.id,
    rewardText(errorShare === 1 ? null : averageReward),
    rollouts,
    errorShare === null ? "?" : `${fixed(errorShare * 100, 1)} %`,
    written,
    run.shownPath,
  ];
}

/** Reads every row, one at a time. */
export async function plainRun(run: FoundRun, width: number): Promise<readonly string[]> {
  const info = readInfo(run.path);
  const file = await ResultsFile.open(run.path);
  const head = [`${run.envId} · ${run.model}`];
  if (typeof file === "string") return [...head, ...runLines(run, info, null, width).map(textOf), file].map(singleLine);
  const spread = new RowSpread();
  try {
    for await (const read of file.rows()) {
      if ("row" in read) spread.add(read.row);
      else spread.broken += 1;
    }
  } finally {
    await file.close();
  }
  return [...head, ...runLines(run, info, { spread, note: null }, width).map(textOf)].map((line) => singleLine(line).trimEnd());
}
