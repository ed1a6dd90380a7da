import { buildMetadata, type RunMetadata } from "../../src/report/metadata.ts";
import { Aggregator } from "../../src/metrics/aggregates.ts";
import { USUAL_RANGE } from "../../src/metrics/interval.ts";
import { VERSION } from "../../src/version.ts";
import { rolloutsByCode } from "./code.ts";
import type { RunHead } from "./head.ts";
import type { Ledger } from "./ledger.ts";
import { datasetNameOf } from "./view.ts";

/** `metadata.json` from the done rows in unit order, so that its numbers are those of the rows, digit for digit. */
export function metadataOf(ledger: Ledger, head: RunHead, now: number): RunMetadata {
  const config = ledger.config();
  const { pass_threshold, reward_range } = head;
  const aggregator = new Aggregator({ rolloutsPerExample: config.rollouts_per_example, passThreshold: pass_threshold, rewardRange: reward_range });
  for (const done of ledger.doneFrom(0)) aggregator.addUnit(done.rollouts.filter((rollout) => rollout !== null));
  return buildMetadata({
    config,
    aggregates: aggregator.result(),
    status: head.status,
    time_ms: (head.ended_at ?? now) - head.generation_started_at,
    num_examples: head.n ?? config.num_examples,
    pass_threshold,
    reward_range: reward_range ?? USUAL_RANGE,
    env_sampling_args: head.env_sampling_args,
    tools: head.tools ?? null,
    env_digest: head.env_digest,
    env_digests: rolloutsByCode(head),
    dataset_digest: head.dataset_digest,
    dataset_name: datasetNameOf(config, head),
    version: VERSION,
  });
}
