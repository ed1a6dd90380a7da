import type { Json, JsonObject } from "../config/run-config.ts";
import { type RewardRange, USUAL_RANGE } from "../metrics/interval.ts";
import { RowAggregator } from "../metrics/row-aggregator.ts";
import type { Cells } from "./column.ts";

/** What an export knows of a run beside its rows, from its `metadata.json`, whoever wrote that. */
export interface RunFacts {
  /** Null where no run id is known: another program's folder. */
  readonly run_id: string | null;
  readonly env_id: string;
  readonly env_version: string | null;
  readonly env_args: JsonObject;
  readonly model: string;
  readonly base_url: string | null;
  readonly sampling_args: JsonObject;
  /** Null where the file does not say. */
  readonly num_examples: number | null;
  readonly rollouts_per_example: number | null;
  readonly pass_threshold: number;
  readonly reward_range: RewardRange;
  /** Of ours only: `COMPLETED` and so on. */
  readonly status: string | null;
  /** Names that the file has averages of, in its order. */
  readonly metrics: readonly string[];
  /** Whether rows may name examples that they are not of. */
  readonly foreign: boolean;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});
const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const countOf = (value: unknown): number | null => (typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null);

/** Null for what is no metadata of a run: it names no environment or no model. */
export function runFacts(metadata: unknown): RunFacts | null {
  const file = fieldsOf(metadata);
  const own = fieldsOf(file.edgewise);
  const env_id = textOf(file.env_id ?? file.env);
  const model = textOf(file.model);
  if (env_id === null || model === null) return null;
  return {
    run_id: textOf(own.run_id),
    env_id,
    env_version: textOf(own.env_version) ?? textOf(fieldsOf(file.version_info).env_version),
    env_args: fieldsOf(file.env_args) as JsonObject,
    model,
    base_url: textOf(file.base_url),
    sampling_args: fieldsOf(file.sampling_args) as JsonObject,
    num_examples: countOf(file.num_examples),
    rollouts_per_example: countOf(file.rollouts_per_example),
    pass_threshold: typeof file.pass_threshold === "number" ? file.pass_threshold : 0.5,
    reward_range: rangeOf(own.reward_range),
    status: textOf(own.status),
    metrics: Object.keys(fieldsOf(file.avg_metrics)),
    foreign: file.edgewise === undefined || typeof own.grouping_problem === "string",
  };
}

function rangeOf(value: unknown): RewardRange {
  const [low, high] = Array.isArray(value) ? (value as unknown[]) : [];
  return typeof low === "number" && typeof high === "number" && low <= high ? [low, high] : USUAL_RANGE;
}

/** Sums up the rows of such a run. */
export const aggregatorOf = ({ rollouts_per_example, pass_threshold, reward_range, foreign }: RunFacts): RowAggregator =>
  new RowAggregator({ rolloutsPerExample: rollouts_per_example ?? 1, passThreshold: pass_threshold, rewardRange: reward_range, comparesPrompts: foreign });

/** The columns that repeat the settings of a run in each of its rows. */
export function settingCells(facts: RunFacts): Cells {
  const { run_id, env_id, env_version, env_args, model, base_url, sampling_args, num_examples, rollouts_per_example } = facts;
  const json = (value: Json): string => JSON.stringify(value);
  return { run_id, env_id, env_version, env_args: json(env_args), model, base_url, sampling_args: json(sampling_args), num_examples, rollouts_per_example };
}
