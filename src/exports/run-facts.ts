import type { Json, JsonObject } from "../config/plan/run-config.ts";
import type { Aggregates } from "../metrics/aggregates.ts";
import { type RewardRange, USUAL_RANGE } from "../metrics/interval.ts";
import { type StoppedRun, stoppedRunIn } from "../metrics/sequential/stopped-early.ts";
import { RowAggregator } from "../metrics/row-aggregator.ts";
import type { Cells } from "./column.ts";
import { evalCommand } from "./eval-command.ts";

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
  /** Tasks of its data set that are in no example; null where nobody counted. */
  readonly n_not_run: number | null;
  readonly pass_threshold: number;
  readonly reward_range: RewardRange;
  /** The key that examples were clustered by; absent = by none. */
  readonly cluster_by?: string | undefined;
  /** Of ours only: `COMPLETED` and so on. */
  readonly status: string | null;
  /** Names that the file has averages of, in its order. */
  readonly metrics: readonly string[];
  /** The command that makes such a run; null where none is known. */
  readonly command: string | null;
  /** Whether rows may name examples that they are not of. */
  readonly foreign: boolean;
  /** Of a run whose rule to stop by was met. */
  readonly stopped_early: StoppedRun | null;
  /** Why its rows are not grouped by example, as the file says it; null where it does not. */
  readonly grouping_problem: string | null;
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
    n_not_run: countOf(own.n_not_run),
    pass_threshold: typeof file.pass_threshold === "number" ? file.pass_threshold : 0.5,
    reward_range: rangeOf(own.reward_range),
    cluster_by: textOf(own.cluster_by) ?? undefined,
    status: textOf(own.status),
    metrics: Object.keys(fieldsOf(file.avg_metrics)),
    command: evalCommand(metadata),
    foreign: file.edgewise === undefined || typeof own.grouping_problem === "string",
    stopped_early: stoppedRunIn(own.stopped_early),
    grouping_problem: textOf(own.grouping_problem),
  };
}

function rangeOf(value: unknown): RewardRange {
  const [low, high] = Array.isArray(value) ? (value as unknown[]) : [];
  return typeof low === "number" && typeof high === "number" && low <= high ? [low, high] : USUAL_RANGE;
}

/** Sums up the rows of such a run. */
export const aggregatorOf = ({
  rollouts_per_example,
  pass_threshold,
  reward_range,
  cluster_by,
  foreign,
}: Pick<RunFacts, "rollouts_per_example" | "pass_threshold" | "reward_range" | "cluster_by" | "foreign">): RowAggregator =>
  new RowAggregator({
    rolloutsPerExample: rollouts_per_example ?? 1,
    passThreshold: pass_threshold,
    rewardRange: reward_range,
    clusterBy: cluster_by,
    comparesPrompts: foreign,
  });

/** What a `metadata.json` of ours states of the rows beside it. `errors`: rollouts by code, which it does not state. */
export function statedAggregates(metadata: unknown, errors: Readonly<Record<string, number>>): CardNumbers {
  const file = fieldsOf(metadata);
  const own = fieldsOf(file.edgewise);
  const number = (value: unknown): number => (typeof value === "number" ? value : 0);
  const rates = (value: unknown): Record<string, number> =>
    Object.fromEntries(Object.entries(fieldsOf(value)).filter((entry): entry is [string, number] => typeof entry[1] === "number"));
  const [low, high] = Array.isArray(own.reward_ci95) ? (own.reward_ci95 as unknown[]) : [];
  return {
    rollouts: number(fieldsOf(own.rows_digest).rows),
    avg_reward: number(file.avg_reward),
    reward_ci95: typeof low === "number" && typeof high === "number" ? [low, high] : null,
    n_clusters: number(own.n_clusters),
    errored_rollouts: number(own.errored_rollouts),
    avg_metrics: rates(file.avg_metrics),
    pass_at_k: rates(file.pass_at_k),
    pass_all_k: rates(file.pass_all_k),
    errors,
  };
}

/** The numbers of a run that its card has. */
export type CardNumbers = Pick<
  Aggregates,
  "rollouts" | "avg_reward" | "reward_ci95" | "n_clusters" | "errored_rollouts" | "avg_metrics" | "pass_at_k" | "pass_all_k" | "errors"
>;

/** The columns that repeat the settings of a run in each of its rows. */
export function settingCells(facts: RunFacts): Cells {
  const { run_id, env_id, env_version, env_args, model, base_url, sampling_args, num_examples, rollouts_per_example } = facts;
  const json = (value: Json): string => JSON.stringify(value);
  return { run_id, env_id, env_version, env_args: json(env_args), model, base_url, sampling_args: json(sampling_args), num_examples, rollouts_per_example };
}
