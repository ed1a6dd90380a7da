import { groupingProblem } from "../../metrics/grouping.ts";
import type { Aggregates } from "../../metrics/aggregates.ts";
import type { RewardRange } from "../../metrics/interval.ts";
import { shownUrl } from "../../clients/secrets.ts";
import { certaintyOf } from "../../report/metadata.ts";
import type { RowsDigest } from "../../rollouts/rows/rows-digest.ts";
import { VERSION } from "../../version.ts";
import type { ImportedRun } from "./imported-run.ts";
import { SOURCE_ID } from "./row-of-rollout.ts";

/** A file that rows were read from. */
export interface SourceDigest {
  /** Without the folders above it. */
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface ImportedMetadataInput {
  readonly run: ImportedRun;
  readonly runId: string;
  readonly aggregates: Aggregates;
  readonly examples: number;
  /** Most attempts that any example has. */
  readonly rolloutsPerExample: number;
  /** The usual one, widened by what the rows have. */
  readonly rewardRange: RewardRange;
  readonly rowsDigest: RowsDigest;
  readonly sources: readonly SourceDigest[];
  /** Beside those of the run. */
  readonly notes: readonly string[];
}

/** Reward from which an attempt has passed, as everywhere where no environment says otherwise. */
export const PASS_THRESHOLD = 0.5;

/** `metadata.json` of an imported run: the keys of ours, as far as they are known, and where it comes from under `edgewise`. */
export function importedMetadata({
  run,
  runId,
  aggregates,
  examples,
  rolloutsPerExample,
  rewardRange,
  rowsDigest,
  sources,
  notes,
}: ImportedMetadataInput): Record<string, unknown> {
  const problem = run.groupingProblem() ?? (aggregates.other_prompts === 0 ? null : groupingProblem(aggregates.other_prompts));
  return {
    env_id: run.envId,
    env_args: run.envArgs,
    model: run.model,
    base_url: run.baseUrl === null ? "" : shownUrl(run.baseUrl),
    num_examples: examples,
    rollouts_per_example: rolloutsPerExample,
    sampling_args: run.samplingArgs,
    ...(run.timeMs === null ? {} : { time_ms: run.timeMs }),
    avg_reward: aggregates.avg_reward,
    avg_metrics: aggregates.avg_metrics,
    avg_error: aggregates.avg_error,
    pass_at_k: aggregates.pass_at_k,
    pass_all_k: aggregates.pass_all_k,
    pass_threshold: PASS_THRESHOLD,
    usage: aggregates.usage,
    version_info: { vf_version: `edgewise ${VERSION}`, vf_commit: null, env_version: run.envVersion, env_commit: null },
    state_columns: [SOURCE_ID],
    tools: null,
    edgewise: {
      run_id: runId,
      status: run.status,
      version: VERSION,
      env_version: run.envVersion,
      env_digest: null,
      dataset_digest: null,
      ...(run.datasetName === null ? {} : { dataset_name: run.datasetName }),
      settings: {},
      reward_stderr: aggregates.reward_stderr,
      reward_ci95: aggregates.reward_ci95,
      reward_range: rewardRange,
      n_clusters: aggregates.n_clusters,
      ...certaintyOf(aggregates),
      errored_rollouts: aggregates.errored_rollouts,
      truncated_rollouts: aggregates.truncated_rollouts,
      reward_without_errors: aggregates.reward_without_errors,
      tokens_total: aggregates.tokens_total,
      ...(problem === null ? {} : { grouping_problem: problem }),
      origin: "imported",
      imported: {
        format: run.format,
        tool: run.tool.name,
        tool_version: run.tool.version,
        created: run.created,
        reward_is: run.rewardIs,
        stated: run.stated,
        sources,
        notes: [...run.notes(), ...notes],
      },
      rows_digest: rowsDigest,
    },
  };
}
