import { MAX_COMPARED_BYTES, MAX_COMPARED_EXAMPLES, MIB } from "../../limits.ts";
import { commonClusterKey } from "../../metrics/comparison/common-cluster-key.ts";
import { comparedFacts } from "../../metrics/comparison/comparability.ts";
import type { ComparedRun, ComparisonRefusal } from "../../metrics/comparison/compare-runs.ts";
import { REWARD, type ScoreTable, ScoreTableBuilder } from "../../metrics/comparison/score-table.ts";
import { knownKeysText, unknownKeyText } from "../../report/statistics/unknown-key-text.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { AppPorts } from "../app-ports.ts";
import { invalid } from "../errors.ts";
import { MOST_METRICS } from "./comparison-schemas.ts";
import type { ScoreTables } from "./score-tables.ts";
import { addScores, type RunShape, settledRun, type SettledRun } from "./settled-run.ts";

/** The way for what is too large to be read within one request. */
const ELSEWHERE = "`npx edgewise compare` with the same ids has no such bound.";

/** A run with what tells the places of its rollouts. */
export interface SettledScores extends ComparedRun {
  readonly shape: RunShape;
}

interface Asked {
  readonly runs: readonly string[];
  readonly metrics?: readonly string[] | undefined;
  readonly cluster_by?: string | undefined;
}

/** The runs that a request names, with their scores, from `kept` where they are there. Throws what the request is refused with. */
export async function comparedRuns(
  ports: AppPorts,
  kept: ScoreTables,
  { runs, metrics, cluster_by }: Asked,
): Promise<{ readonly compared: readonly SettledScores[]; readonly clusterBy: string | undefined }> {
  const settled: SettledRun[] = [];
  let bytes = 0;
  for (const id of runs) {
    const run = await settledRun(ports, id);
    settled.push(run);
    bytes += run.bytes;
    if (bytes > MAX_COMPARED_BYTES) throw invalid(["body", "runs"], `have more than ${MAX_COMPARED_BYTES / MIB} MiB of rows together: ${ELSEWHERE}`);
  }
  const clusterBy = commonClusterKey(
    cluster_by,
    settled.map(({ facts }) => facts.cluster_by),
  );
  const compared: SettledScores[] = [];
  let left = MAX_COMPARED_EXAMPLES;
  for (const run of settled) {
    const table = await tableOf(ports, kept, run, { metrics: metrics ?? null, clusterBy, most: left });
    left -= table.examples;
    if (left < 0) throw tooMany();
    compared.push({ name: run.id, model: run.model, metadata: run.metadata, range: run.facts.reward_range, table, shape: run.shape });
  }
  return { compared, clusterBy };
}

/** What a comparison that makes no sense is answered with. */
export function notComparable(refusals: readonly ComparisonRefusal[]): EdgewiseError {
  const reasons = refusals.map(({ reason }) => reason).join("; ");
  const hints = [...new Set(refusals.map(({ hint }) => hint.replaceAll("--unpaired", "unpaired").replaceAll("--accept-code-change", "accept_code_change")))];
  return new EdgewiseError("not_comparable", `not comparable: ${reasons}`, { hint: hints.join(" ") });
}

const tooMany = (): Error => invalid(["body", "runs"], `have more than ${MAX_COMPARED_EXAMPLES} examples together: ${ELSEWHERE}`);

interface TableWish {
  readonly metrics: readonly string[] | null;
  readonly clusterBy: string | undefined;
  /** Examples that may still be read. */
  readonly most: number;
}

async function tableOf(ports: AppPorts, kept: ScoreTables, run: SettledRun, { metrics, clusterBy, most }: TableWish): Promise<ScoreTable> {
  // Rows whose digest is not known may be others at the same place.
  const digest = comparedFacts(run.metadata).rows_sha256;
  const key = digest === null ? null : JSON.stringify([ports.team, run.id, digest, run.bytes, metrics, clusterBy ?? null]);
  const known = key === null ? null : kept.get(key);
  if (known !== null) return known;
  const builder = new ScoreTableBuilder({
    trusted: !run.facts.foreign,
    metrics: metrics === null ? null : [REWARD, ...metrics],
    most: MOST_METRICS,
    clusterBy,
  });
  const number = await addScores(ports, run, builder, most, tooMany);
  if (number === 0) throw invalid(["body", "runs"], `run ${run.id} has no rows to compare`);
  const unknown = builder.unknownKey;
  if (unknown !== null) throw invalid(["body", "cluster_by"], `${unknownKeyText(`run ${run.id},`, unknown)}. ${knownKeysText(unknown)}`);
  const table = builder.table();
  if (key !== null) kept.put(key, table);
  return table;
}
