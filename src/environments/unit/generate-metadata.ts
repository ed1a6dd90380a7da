import { scriptNow } from "../../steady-clock.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { Aggregator, type TokenMeans } from "../../metrics/aggregates.ts";
import { summaryOfRow } from "../../metrics/row-summary.ts";
import { VERSION } from "../../version.ts";
import type { Playable } from "./playable.ts";
import type { Row } from "../../rollouts/rows/row.ts";
import { sharedTools } from "../../rollouts/rows/shared-tools.ts";

export interface VersionInfo {
  vf_version: string;
  vf_commit: string | null;
  env_version: string | null;
  env_commit: string | null;
}

/** What an evaluation was and gave, as numbers: the fields of `metadata.json`, and `date`, which is not saved. */
export interface GenerateMetadata {
  env_id: string;
  env_args: JsonObject;
  model: string;
  /** Replicas joined by commas; empty where the caller brought a client of its own. */
  base_url: string;
  /** Distinct examples among the inputs. */
  num_examples: number;
  rollouts_per_example: number;
  sampling_args: JsonObject;
  /** ISO 8601, when it began. */
  date: string;
  time_ms: number;
  avg_reward: number;
  avg_metrics: Readonly<Record<string, number>>;
  avg_error: number;
  pass_at_k: Readonly<Record<string, number>>;
  pass_all_k: Readonly<Record<string, number>>;
  pass_threshold: number;
  usage: TokenMeans | null;
  version_info: VersionInfo;
  state_columns: readonly string[];
  path_to_save: string | null;
  tools: JsonObject[] | null;
}

export interface GeneratedWith {
  readonly model: string;
  readonly samplingArgs: JsonObject;
  readonly stateColumns: readonly string[];
  readonly baseUrl: string;
  /** Unix milliseconds. */
  readonly begin: number;
}

/** The numbers of `groups`, rows by example. */
export function generateMetadata(
  environment: Playable,
  groups: readonly (readonly Row[])[],
  { model, samplingArgs, stateColumns, baseUrl, begin }: GeneratedWith,
): GenerateMetadata {
  const rollouts = groups.reduce((sum, rows) => sum + rows.length, 0);
  const rolloutsPerExample = groups.length === 0 ? 0 : Math.floor(rollouts / groups.length);
  const aggregator = new Aggregator({ rolloutsPerExample, passThreshold: environment.passThreshold, rewardRange: environment.rewardRange });
  for (const rows of groups) aggregator.addUnit(rows.map((row) => summaryOfRow(row)));
  const { avg_reward, avg_metrics, avg_error, pass_at_k, pass_all_k, usage } = aggregator.result();
  return {
    env_id: environment.id,
    env_args: environment.args,
    model,
    base_url: baseUrl,
    num_examples: groups.length,
    rollouts_per_example: rolloutsPerExample,
    sampling_args: environment.mergeSamplingArgs(samplingArgs),
    date: new Date(begin).toISOString(),
    time_ms: scriptNow() - begin,
    avg_reward,
    avg_metrics,
    avg_error,
    pass_at_k,
    pass_all_k,
    pass_threshold: environment.passThreshold,
    usage,
    version_info: {
      vf_version: `edgewise ${VERSION}`,
      vf_commit: null,
      env_version: environment.version === "" ? null : environment.version,
      env_commit: null,
    },
    state_columns: stateColumns,
    path_to_save: null,
    tools: sharedTools(groups.flat()),
  };
}
