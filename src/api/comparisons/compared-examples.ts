import type { z } from "zod";
import { refusalsOf, verdictsOf } from "../../metrics/comparison/compare-runs.ts";
import { type ExampleCell, examplePage } from "../../metrics/comparison/example-page.ts";
import { REWARD } from "../../metrics/comparison/score-table.ts";
import { invalid } from "../errors.ts";
import { notComparable, type SettledScores } from "./compared-runs.ts";
import type { ScoreTables } from "./score-tables.ts";
import type { comparedExamplesAnswer, comparedExamplesBody } from "./comparison-schemas.ts";

type Asked = z.infer<typeof comparedExamplesBody>;

/** A page of the examples of a comparison, refused as the comparison itself is. Throws `not_comparable`, and `invalid_request` for a metric or candidate that is not there. */
export function comparedExamples(
  [baseline, ...candidates]: readonly SettledScores[],
  kept: ScoreTables,
  clusterBy: string | undefined,
  { accept_code_change: accepted, metric, candidate: named, order, only, offset, limit }: Asked,
): z.infer<typeof comparedExamplesAnswer> {
  if (baseline === undefined || candidates.length === 0) throw new RangeError("a comparison takes two runs");
  const candidate = named === undefined ? 0 : candidates.findIndex(({ name }) => name === named);
  if (candidate < 0) throw invalid(["body", "candidate"], `must be one of the runs behind the baseline: ${candidates.map(({ name }) => name).join(", ")}`);
  const verdicts = verdictsOf(baseline, candidates, { accepted, clusterBy });
  const joins = candidates.map(({ table }) => kept.join(baseline.table, table));
  const refusals = refusalsOf(
    baseline,
    candidates.flatMap((run, i) => {
      const [verdict, join] = [verdicts[i], joins[i]];
      return verdict === undefined || join === undefined ? [] : [{ run, verdict, join: { joined: join.a.length, differing: join.differing } }];
    }),
  );
  if (refusals.length > 0) throw notComparable(refusals);
  const common = [...baseline.table.columns.keys()].filter((name) => candidates[candidate]?.table.columns.has(name));
  // Where no rollout of a run has a score, even of its reward there is nothing to say.
  if (metric !== REWARD && !common.includes(metric))
    throw invalid(["body", "metric"], `must be one that both runs have: ${common.join(", ")}. Of more than eight name it under metrics too.`);
  const tables = candidates.map(({ table }) => table);
  const page = examplePage(baseline.table, tables, joins, { metric, candidate, order, only, offset, limit });
  const all = [baseline, ...candidates];
  return {
    metric,
    candidate: candidates[candidate]?.name ?? "",
    runs: all.map(({ name }) => name),
    ...page,
    examples: page.examples.map((cells) => cells.map((cell, run) => (cell === null ? null : shownCell(cell, all[run])))),
  };
}

/** Rows are in the order of the examples' places: where every example has one, the n-th that begins is at place n. */
function shownCell({ index, ...cell }: ExampleCell, run: SettledScores | undefined) {
  const isPlaced = run !== undefined && !run.table.wrongIds && run.table.examples === run.shape.examples && cell.rows === run.shape.rollouts;
  return { ...cell, place: isPlaced ? index : null };
}
