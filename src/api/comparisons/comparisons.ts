import { type Context, Hono } from "hono";
import { MAX_COMPARED_BYTES, MAX_COMPARED_EXAMPLES, MIB } from "../../limits.ts";
import { commonClusterKey } from "../../metrics/comparison/common-cluster-key.ts";
import { type ComparedRun, compareRuns } from "../../metrics/comparison/compare-runs.ts";
import { REWARD, ScoreTableBuilder } from "../../metrics/comparison/score-table.ts";
import { knownKeysText, unknownKeyText } from "../../report/statistics/unknown-key-text.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { invalid } from "../errors.ts";
import { comparisonBody, MOST_METRICS } from "./comparison-schemas.ts";
import { addScores, settledRun, type SettledRun } from "./settled-run.ts";

/** Settled runs of the caller's team, held against the first of them. Nothing is kept: it is made again from the rows each time. */
export const comparisons = new Hono<AppContext>();

/** The way for what is too large to be read within one request. */
const ELSEWHERE = "`npx edgewise compare` with the same ids has no such bound.";

comparisons.post("/", async (c) => {
  const { runs, metrics, cluster_by, unpaired, accept_code_change, show } = parseBody(comparisonBody, await readJsonText(c.req.raw));
  const settled: SettledRun[] = [];
  let bytes = 0;
  for (const id of runs) {
    const run = await settledRun(c.var.ports, id);
    settled.push(run);
    bytes += run.bytes;
    if (bytes > MAX_COMPARED_BYTES) throw invalid(["body", "runs"], `have more than ${MAX_COMPARED_BYTES / MIB} MiB of rows together: ${ELSEWHERE}`);
  }
  const clusterBy = commonClusterKey(
    cluster_by,
    settled.map(({ facts }) => facts.cluster_by),
  );
  const compared: ComparedRun[] = [];
  const left = { examples: MAX_COMPARED_EXAMPLES };
  for (const run of settled) compared.push(await scoresOf(c, run, metrics ?? null, clusterBy, left));
  const outcome = compareRuns(compared, { unpaired, accepted: accept_code_change, shown: show, clusterBy });
  if (outcome.kind === "refused") {
    const [{ hint = "" } = {}] = outcome.refusals;
    throw invalid(
      ["body", "runs"],
      `not comparable: ${outcome.refusals.map(({ reason }) => reason).join("; ")}. ${hint.replaceAll("--unpaired", "unpaired").replaceAll("--accept-code-change", "accept_code_change")}`,
    );
  }
  const { kind: _, ...report } = outcome;
  return c.json(report);
});

/** `left`: what this request may still read; less afterwards. */
async function scoresOf(
  c: Context<AppContext>,
  run: SettledRun,
  metrics: readonly string[] | null,
  clusterBy: string | undefined,
  left: { examples: number },
): Promise<ComparedRun> {
  const builder = new ScoreTableBuilder({
    trusted: !run.facts.foreign,
    metrics: metrics === null ? null : [REWARD, ...metrics],
    most: MOST_METRICS,
    clusterBy,
  });
  const number = await addScores(c.var.ports, run, builder, left.examples, () =>
    invalid(["body", "runs"], `have more than ${MAX_COMPARED_EXAMPLES} examples together: ${ELSEWHERE}`),
  );
  left.examples -= builder.examples;
  if (number === 0) throw invalid(["body", "runs"], `run ${run.id} has no rows to compare`);
  const unknown = builder.unknownKey;
  if (unknown !== null) throw invalid(["body", "cluster_by"], `${unknownKeyText(`run ${run.id},`, unknown)}. ${knownKeysText(unknown)}`);
  return { name: run.id, model: run.model, metadata: run.metadata, range: run.facts.reward_range, table: builder.table() };
}
