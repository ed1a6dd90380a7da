import { outputKey, sourceKey } from "../../../r2-layout/keys.ts";
import { linesAt } from "../../../r2-layout/segment.ts";
import type { RescoredFrom } from "../../config/plan/rescored-from.ts";
import type { JsonObject, RunConfig } from "../../config/plan/run-config.ts";
import type { KeptRollout } from "../../environments/unit/stored-rollout.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { summaryOfRow } from "../../metrics/row-summary.ts";
import type { ExecutorStore } from "../ports.ts";
import { type AdoptedExample, examplesIn, examplesOf, manifestOf } from "../preparation/folder-rows.ts";
import type { SourcePlace } from "./source-place.ts";

const UNCHANGED = "Score an unchanged run or results folder again.";

/** What is wrong with the rows that were to be scored again. */
export const sourceMismatch = (message: string, hint = UNCHANGED): EdgewiseError => new EdgewiseError("source_mismatch", message, { hint });

/** The examples of the run that is scored again, ascending, one at a time. Throws `source_mismatch` for rows that are none, or are gone. */
export async function* sourceExamples(store: ExecutorStore, config: RunConfig, source: RescoredFrom): AsyncGenerator<AdoptedExample> {
  const { rollouts_per_example: rollouts } = config;
  let last = Number.NEGATIVE_INFINITY;
  try {
    for await (const example of examplesFrom(store, config, source, rollouts)) {
      if (example.id <= last) throw sourceMismatch(`results.jsonl: example_id ${example.id} follows ${last}; rows must be sorted by example_id`);
      last = example.id;
      yield example;
    }
  } catch (thrown) {
    if (!(thrown instanceof EdgewiseError) || thrown.code !== "resume_mismatch") throw thrown;
    throw sourceMismatch(thrown.message);
  }
}

async function* examplesFrom(store: ExecutorStore, { model }: RunConfig, source: RescoredFrom, rollouts: number): AsyncGenerator<AdoptedExample> {
  if (source.results === undefined) {
    const stream = await store.stream(outputKey(source.env_id, model, source.run_id ?? "", "results.jsonl"));
    if (stream === null) throw sourceMismatch(`The rows of run ${source.run_id} are not there any more.`, "Score its results folder again, if it is kept.");
    yield* examplesIn(stream, rollouts, "results.jsonl");
    return;
  }
  const { parts } = await manifestOf(store, { results: source.results, in_parts: true, dataset_digest: null });
  for (const [at, { digest }] of parts.entries()) yield* examplesOf(store, digest, rollouts, `results.jsonl, part ${at + 1} of ${parts.length},`);
}

/** The rows of one example from the run's copy of them. Rejects when storage does not answer, with `storage_damaged` for what is not whole. */
export async function rowsAtPlace(
  store: ExecutorStore,
  { run_id: runId, cluster_by }: RunConfig,
  { object, offset, length }: SourcePlace,
): Promise<KeptRollout[]> {
  const key = sourceKey(runId, object);
  const lines = linesAt(await store.read(key, offset, length), { offset: 0, length });
  if (!lines.ok) throw new EdgewiseError("storage_damaged", `${key}: ${lines.error.message}`);
  return lines.value.map((line) => keptRow(line, cluster_by));
}

/** A line with `rollout_index` as a rollout that is kept. */
export function keptRow(line: string, clusterBy?: string): KeptRollout {
  const row = JSON.parse(line) as JsonObject;
  return { index: Number(row.rollout_index), line, summary: summaryOfRow(row, clusterBy) };
}
