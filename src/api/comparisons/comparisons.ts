import { type Context, Hono } from "hono";
import { outputKey } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { resultLines } from "../../exports/result-lines.ts";
import { type RunFacts, runFacts } from "../../exports/run-facts.ts";
import { MAX_COMPARED_BYTES, MAX_COMPARED_EXAMPLES, MIB } from "../../limits.ts";
import { commonClusterKey } from "../../metrics/comparison/common-cluster-key.ts";
import { type ComparedRun, compareRuns } from "../../metrics/comparison/compare-runs.ts";
import { REWARD, ScoreTableBuilder } from "../../metrics/comparison/score-table.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import { knownKeysText, unknownKeyText } from "../../report/statistics/unknown-key-text.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { invalid } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { comparisonBody, MOST_METRICS } from "./comparison-schemas.ts";

/** Settled runs of the caller's team, held against the first of them. Nothing is kept: it is made again from the rows each time. */
export const comparisons = new Hono<AppContext>();

/** The way for what is too large to be read within one request. */
const ELSEWHERE = "`npx edgewise compare` with the same ids has no such bound.";

comparisons.post("/", async (c) => {
  const { runs, metrics, cluster_by, unpaired, accept_code_change, show } = parseBody(comparisonBody, await readJsonText(c.req.raw));
  const settled: SettledRun[] = [];
  let bytes = 0;
  for (const id of runs) {
    const run = await settledRun(c, id);
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

interface SettledRun {
  readonly id: string;
  readonly model: string;
  /** `metadata.json`, parsed. */
  readonly metadata: unknown;
  readonly facts: RunFacts;
  /** Key of `results.jsonl`, and its size. */
  readonly rows: string;
  readonly bytes: number;
}

/** What there is to know of a run before its rows are read. */
async function settledRun(c: Context<AppContext>, id: string): Promise<SettledRun> {
  const { store, run } = c.var.ports;
  const view = await readTwice(
    () => run(id),
    (stub) => stub.view(),
  );
  if (view === null) throw new EdgewiseError("not_found", `Evaluation ${id} not found.`);
  if (view.phase !== "settled")
    throw new EdgewiseError("run_busy", `The results of run ${id} are not complete yet.`, { hint: "Follow the run to its end, then compare it." });
  const { env_id, model, run_id } = view.config;
  const rows = outputKey(env_id, model, run_id, "results.jsonl");
  const file = await store.read(outputKey(env_id, model, run_id, "metadata.json"));
  const metadata: unknown = file === null ? null : await new Response(file).json();
  const facts = runFacts(metadata);
  if (facts === null) throw new EdgewiseError("storage_unavailable", `The results of run ${id} are missing in storage.`);
  return { id, model, metadata, facts, rows, bytes: (await store.size(rows)) ?? 0 };
}

/** `left`: what this request may still read; less afterwards. */
async function scoresOf(
  c: Context<AppContext>,
  { id, model, metadata, facts, rows }: SettledRun,
  metrics: readonly string[] | null,
  clusterBy: string | undefined,
  left: { examples: number },
): Promise<ComparedRun> {
  const builder = new ScoreTableBuilder({ trusted: !facts.foreign, metrics: metrics === null ? null : [REWARD, ...metrics], most: MOST_METRICS, clusterBy });
  let number = 0;
  for await (const { text } of resultLines(await c.var.ports.store.read(rows), 0)) {
    builder.add(readForeignRow(text).value, ++number);
    if (builder.examples > left.examples) throw invalid(["body", "runs"], `have more than ${MAX_COMPARED_EXAMPLES} examples together: ${ELSEWHERE}`);
  }
  left.examples -= builder.examples;
  if (number === 0) throw invalid(["body", "runs"], `run ${id} has no rows to compare`);
  const unknown = builder.unknownKey;
  if (unknown !== null) throw invalid(["body", "cluster_by"], `${unknownKeyText(`run ${id},`, unknown)}. ${knownKeysText(unknown)}`);
  return { name: id, model, metadata, range: facts.reward_range, table: builder.table() };
}
