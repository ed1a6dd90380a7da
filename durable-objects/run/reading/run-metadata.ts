import { steadyNow } from "../../../src/steady-clock.ts";
import { buildMetadata, type RunMetadata } from "../../../src/report/metadata.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { type Aggregates, Aggregator } from "../../../src/metrics/aggregates.ts";
import { USUAL_RANGE } from "../../../src/metrics/interval.ts";
import { pushedMetadata } from "../../../src/pushed/pushed-metadata.ts";
import { VERSION } from "../../../src/version.ts";
import { rolloutsByCode } from "../grants/code.ts";
import { donesByRank } from "../state/by-rank.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { endedByField } from "../course/ended-by.ts";
import { inTurns } from "../course/turns.ts";
import { datasetNameOf } from "./view.ts";

/** While a run goes on its metadata are computed anew after so many milliseconds at the earliest: the more of it is done, the later. */
export const metadataAge = (done: number): number => METADATA_MS + (1_000 * done) / METADATA_UNITS_PER_SECOND;
const METADATA_MS = 5_000;
const METADATA_UNITS_PER_SECOND = 5_000;

/**
 * `metadata.json` from the done rows in the order of `results.jsonl`, so that its numbers are those of the rows, digit for digit: sums of parts, merged, would
 * be rounded otherwise (docs/decisions/looking-in-turns.md). In turns, since a million units take seconds; of a run at work it may miss what
 * is committed meanwhile. Null when the run is gone.
 */
export async function metadataOf(ledger: Ledger, pause: () => Promise<boolean>): Promise<RunMetadata | null> {
  const begun = ledger.head();
  if (begun === null) return null;
  const { pass_threshold, reward_range } = begun;
  const config = ledger.config();
  const aggregator = new Aggregator({
    rolloutsPerExample: config.rollouts_per_example,
    passThreshold: pass_threshold,
    rewardRange: reward_range,
    clustered: config.cluster_by !== undefined,
  });
  let there = true;
  const stay = async (): Promise<boolean> => {
    there = await pause();
    return there;
  };
  for await (const done of inTurns(ledger, stay, donesByRank(ledger))) aggregator.addUnit(done.rollouts.filter((rollout) => rollout !== null));
  const head = there ? ledger.head() : null;
  if (head === null) return null;
  const metadata = metadataWith(ledger.config(), head, aggregator.result(), ledger.keptRollouts(), steadyNow());
  return head.pushed === undefined ? metadata : pushedMetadata(metadata, ledger.pushed.facts(), head.totals);
}

function metadataWith(config: RunConfig, head: RunHead, aggregates: Aggregates, open: number, now: number): RunMetadata {
  const { pass_threshold, reward_range } = head;
  return buildMetadata({
    config: config.results_shape === undefined && head.results_shape !== undefined ? { ...config, results_shape: head.results_shape } : config,
    aggregates,
    status: head.status,
    ...endedByField(head.failure),
    time_ms: (head.ended_at ?? now) - head.generation_started_at,
    // Rows of examples that still waited for their repair are among its rows.
    num_examples:
      head.stopped === undefined ? (head.n ?? config.num_examples) : Math.max(head.done, Math.ceil(head.totals.rollouts / config.rollouts_per_example)),
    ...(head.stopped === undefined ? {} : { stopped_early: head.stopped }),
    pass_threshold,
    reward_range: reward_range ?? USUAL_RANGE,
    env_sampling_args: head.env_sampling_args,
    tools: head.tools ?? null,
    env_digest: head.env_digest,
    env_digests: rolloutsByCode(head),
    ...(head.response_models === undefined ? {} : { response_models: head.response_models }),
    dataset_digest: head.dataset_digest,
    dataset_name: datasetNameOf(config, head),
    ...(head.n_not_run === undefined ? {} : { n_not_run: head.n_not_run }),
    open_rollouts: open,
    scored_anew: head.scored_anew ?? 0,
    ...(head.rescored === undefined ? {} : { rescored: head.rescored }),
    version: VERSION,
    rows_digest: head.phase === "settled" ? (head.finalise.rows_digest ?? null) : null,
  });
}
