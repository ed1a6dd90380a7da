import type { RunStatus } from "../config/run-status.ts";
import { type JudgeFields, judgeFields } from "../metrics/judge-fields.ts";
import { dollarsOf } from "../prices/nano-cost.ts";
import { batchFactorOf } from "../prices/price-of.ts";
import type { Cost, RunPrices } from "../prices/price.ts";
import type { CacheUsage } from "../metrics/cache-usage.ts";
import { settingsBeside } from "../config/plan/evaluation-settings.ts";
import { mergedSampling } from "../config/plan/merged-sampling.ts";
import type { RescoredFrom } from "../config/plan/rescored-from.ts";
import { type JsonObject, placesOf, type RunConfig } from "../config/plan/run-config.ts";
import { floatText, jsonWithFloats } from "../rollouts/rows/float-text.ts";
import type { Aggregates, TokenMeans } from "../metrics/aggregates.ts";
import type { ErrorBounds } from "../metrics/one-run/error-bounds.ts";
import { type CorpusNumbers, withoutIntervals } from "../metrics/one-run/corpus.ts";
import type { Estimate } from "../metrics/one-run/estimate.ts";
import type { PassIntervals } from "../metrics/pass-at-k.ts";
import type { ResponseModels } from "../metrics/response-models.ts";
import { groupingProblem } from "../metrics/grouping.ts";
import type { RowsDigest } from "../rollouts/rows/rows-digest.ts";
import { type StoppedEarly, type StoppedRun, stoppedRun } from "../metrics/sequential/stopped-early.ts";
import type { RewardRange } from "../metrics/interval.ts";

export interface MetadataInput {
  readonly config: RunConfig;
  readonly aggregates: Aggregates;
  readonly status: RunStatus;
  /** Milliseconds this process (or generation of the run) has worked; not cumulative over resumes. */
  readonly time_ms: number;
  /** Examples pinned for the run, done or not; those asked for while none are, below 1 = all. */
  readonly num_examples: number;
  readonly pass_threshold: number;
  /** What rewards can be; the interval keeps within it. */
  readonly reward_range: RewardRange;
  /** Defaults of the environment; the run's own win. */
  readonly env_sampling_args: JsonObject;
  /** Tools that all rows share. */
  readonly tools: readonly JsonObject[] | null;
  readonly env_digest: string | null;
  /** Rollouts by the digest of their code; null where there is but one. */
  readonly env_digests: Readonly<Record<string, number>> | null;
  /** What answers said of the model that gave them; absent = nothing. */
  readonly response_models?: ResponseModels;
  readonly dataset_digest: string | null;
  /** What people call it; null where it has no name. */
  readonly dataset_name: string | null;
  /** Tasks of the data set that are in no example; absent = nobody counted them. */
  readonly n_not_run?: number;
  /** Rollouts that are generated, of units that are not done; absent = none. */
  readonly open_rollouts?: number;
  /** Examples that were scored anew as a group; absent = none. */
  readonly scored_anew?: number;
  /** Of a run whose rule to stop by was met. */
  readonly stopped_early?: StoppedEarly | undefined;
  /** Of a run that scores again, what its source had and the examples whose scores are others now; absent = it made its own rollouts. */
  readonly rescored?: { readonly source: SourceAverages | null; readonly changed: number };
  /** What ended it, where its status does not say; absent = that says all. */
  readonly ended_by?: "budget";
  /** Version of this library. */
  readonly version: string;
  /** Null before the final files are written. */
  readonly rows_digest?: RowsDigest | null;
}

/** What the rows had before they were scored again. */
export interface SourceAverages {
  readonly avg_reward: number;
  readonly avg_metrics: Readonly<Record<string, number>>;
}

/** The run whose rollouts these are: its numbers, and how many examples have other scores now. */
export type RescoredMetadata = Omit<RescoredFrom, "results"> &
  Partial<SourceAverages> & {
    /** Its rows were sent from a folder or an export: no service need know the run. Absent = it was a run of the service. */
    readonly from_folder?: true;
    readonly changed_examples: number;
  };

/** Content of `metadata.json`. An alias, since an interface is no `Record<string, unknown>`. */
export type RunMetadata = {
  readonly env_id: string;
  readonly env_args: JsonObject;
  readonly model: string;
  readonly base_url: string;
  readonly num_examples: number;
  readonly rollouts_per_example: number;
  readonly sampling_args: JsonObject;
  /** `time` in folders of the newer shape. */
  readonly time_ms?: number;
  /** Seconds. */
  readonly time?: number;
  readonly avg_reward: number;
  readonly avg_metrics: Readonly<Record<string, number>>;
  readonly avg_error: number;
  readonly pass_at_k: Readonly<Record<string, number>>;
  readonly pass_all_k: Readonly<Record<string, number>>;
  readonly pass_threshold: number;
  readonly usage: TokenMeans | null;
  readonly version_info: { readonly vf_version: string; readonly vf_commit: null; readonly env_version: string; readonly env_commit: null };
  readonly state_columns: readonly string[];
  readonly tools: readonly JsonObject[] | null;
  /** Of the model's answers in all rows of which it is known; absent where it is of none. */
  readonly cost?: Cost;
  readonly edgewise: EdgewiseMetadata;
};

/** What verifiers lacks, as one last key that its readers pass over. */
export type EdgewiseMetadata = {
  readonly run_id: string;
  readonly status: RunStatus;
  /** What ended it, where its status does not say; only where that is so. */
  readonly ended_by?: "budget";
  readonly version: string;
  readonly env_version: string;
  readonly env_digest: string | null;
  /** Only where the code changed and that was accepted: rollouts by the digest of their code, oldest first. */
  readonly env_digests?: Readonly<Record<string, number>>;
  /** Models and configurations that answered, as the answers say, with their numbers; only where they say. */
  readonly response_models?: ResponseModels;
  readonly dataset_digest: string | null;
  /** File name, address, or id with what was chosen of it; absent where it has none. */
  readonly dataset_name?: string;
  /** Tasks of the data set that are in no example: beyond the number that was asked for, or that nothing here can verify; only where they were counted. */
  readonly n_not_run?: number;
  /** Only where the run had any. */
  readonly extra_env_kwargs?: JsonObject;
  readonly shuffle_seed?: number;
  /** The key over whose groups every interval here is; only where there is one. */
  readonly cluster_by?: string;
  /** By which the examples were permuted before they were played; absent = they were played as the data set has them. */
  readonly order_seed?: number;
  /** As they were asked for; what a resume of the folder compares beside the fields above. */
  readonly settings: JsonObject;
  readonly reward_stderr: number | null;
  readonly reward_ci95: readonly [number, number] | null;
  /** Lowest and highest reward that a rollout can have, as the environment says it; absent in files of before. */
  readonly reward_range: RewardRange;
  readonly n_clusters: number;
  /** Of each metric: examples, mean of their means, standard error, 95 % interval; only where there are metrics. */
  readonly metric_estimates?: Readonly<Record<string, Estimate>>;
  /** Of a run that scored texts: all of them as one corpus; only of such a run. */
  readonly corpus?: CorpusNumbers;
  /** 95 % intervals by k, resampled over examples; only where an example has several rollouts. */
  readonly pass_at_k_ci95?: PassIntervals;
  readonly pass_all_k_ci95?: PassIntervals;
  /** The mean reward over what was scored, and if all else had scored lowest and highest; only where a rollout ended in an error. */
  readonly error_bounds?: ErrorBounds;
  /** Only where its rule to stop by was met. */
  readonly stopped_early?: StoppedRun;
  readonly errored_rollouts: number;
  readonly truncated_rollouts: number;
  readonly reward_without_errors: number | null;
  readonly tokens_total: { readonly input_tokens: number; readonly output_tokens: number };
  /** Rows that `cost` is not of, since nobody knows theirs; only where there are some beside others. */
  readonly unpriced_rollouts?: number;
  /** What the run's answers are priced by; only where the cost of any is known. `batch_factor`: what of it those of the model cost; only where they came in batches. */
  readonly prices?: RunPrices & { readonly batch_factor?: number };
  /** What judges were asked and answered, apart from the model's; only where any was asked. */
  readonly judges_total?: JudgeFields;
  /** How calls were answered, the model's and, below `judges`, theirs; only of a run that reads the cache. Tokens of cached answers are in the totals above, too. */
  readonly cache_total?: CacheUsage;
  /** Rollouts that are generated, of examples that are not complete, and in no row and no number; only where there are some. */
  readonly open_rollouts?: number;
  /** Examples whose group was scored anew since some of its rollouts were drawn again, as their rows say too; only where there are some. */
  readonly scored_anew?: number;
  /** Only of a run that scores another's rollouts again. */
  readonly rescored_from?: RescoredMetadata;
  /** Why there is neither pass@k nor an interval, though there are several examples; only where that is so. */
  readonly grouping_problem?: string;
  /** Of `results.jsonl`, of a run that has settled; absent in files of before. */
  readonly rows_digest?: RowsDigest;
};

/**
 * `metadata.json` in verifiers' key order, `edgewise` last. Every number is finite as long as the aggregates are, so
 * the text of it is strict JSON.
 *
 * `version_info.vf_version` is "edgewise <version>": its readers take any string, and a bare number would claim to be a release of
 * verifiers. Sampling arguments given as null stay, as upstream.
 */
export function buildMetadata(input: MetadataInput): RunMetadata {
  const { config, aggregates, version, stopped_early: stopped } = input;
  return {
    env_id: config.env_id,
    env_args: config.env_args,
    model: config.model,
    base_url: placesOf(config)
      .map(({ base_url }) => base_url)
      .join(","),
    num_examples: input.num_examples,
    rollouts_per_example: config.rollouts_per_example,
    sampling_args: { n: 1, extra_body: {}, ...mergedSampling(input.env_sampling_args, config.sampling_args) },
    ...(config.results_shape === "0.1.14" ? { time: input.time_ms / 1_000 } : { time_ms: input.time_ms }),
    avg_reward: aggregates.avg_reward,
    avg_metrics: aggregates.avg_metrics,
    avg_error: aggregates.avg_error,
    pass_at_k: aggregates.pass_at_k,
    pass_all_k: aggregates.pass_all_k,
    pass_threshold: input.pass_threshold,
    usage: aggregates.usage,
    version_info: { vf_version: `edgewise ${version}`, vf_commit: null, env_version: config.env_version, env_commit: null },
    state_columns: config.state_columns,
    tools: input.tools,
    ...(aggregates.costs === null ? {} : { cost: dollarsOf(aggregates.costs) }),
    edgewise: {
      run_id: config.run_id,
      status: input.status,
      ...(input.ended_by === undefined ? {} : { ended_by: input.ended_by }),
      version,
      env_version: config.env_version,
      env_digest: input.env_digest,
      ...(input.env_digests === null ? {} : { env_digests: input.env_digests }),
      ...(input.response_models === undefined ? {} : { response_models: input.response_models }),
      dataset_digest: input.dataset_digest,
      ...(input.dataset_name === null ? {} : { dataset_name: input.dataset_name }),
      ...(input.n_not_run === undefined ? {} : { n_not_run: input.n_not_run }),
      ...(config.extra_env_kwargs === undefined ? {} : { extra_env_kwargs: config.extra_env_kwargs }),
      ...(config.shuffle_seed === undefined ? {} : { shuffle_seed: config.shuffle_seed }),
      ...(config.cluster_by === undefined ? {} : { cluster_by: config.cluster_by }),
      ...(config.order_seed === undefined ? {} : { order_seed: config.order_seed }),
      settings: settingsBeside(config),
      reward_stderr: aggregates.reward_stderr,
      // What was looked at until it was narrow, or low, enough has no other interval.
      reward_ci95: stopped?.reward_ci95 ?? aggregates.reward_ci95,
      reward_range: input.reward_range,
      n_clusters: aggregates.n_clusters,
      // Nor have its metrics and rates: those of so many rows are for a run whose size was known before.
      ...certaintyOf(
        stopped === undefined
          ? aggregates
          : { ...aggregates, metric_estimates: {}, corpus: withoutIntervals(aggregates.corpus), pass_at_k_ci95: {}, pass_all_k_ci95: {} },
      ),
      ...(stopped === undefined ? {} : { stopped_early: stoppedRun(stopped, input) }),
      errored_rollouts: aggregates.errored_rollouts,
      truncated_rollouts: aggregates.truncated_rollouts,
      reward_without_errors: aggregates.reward_without_errors,
      tokens_total: aggregates.tokens_total,
      ...costFields(config, aggregates),
      ...(aggregates.judges_total === null ? {} : { judges_total: judgeFields(aggregates.judges_total) }),
      ...(aggregates.cache_total === null ? {} : { cache_total: aggregates.cache_total }),
      ...((input.open_rollouts ?? 0) === 0 ? {} : { open_rollouts: input.open_rollouts }),
      ...((input.scored_anew ?? 0) === 0 ? {} : { scored_anew: input.scored_anew }),
      ...rescoredMetadata(config, input.rescored),
      ...(aggregates.other_prompts === 0 ? {} : { grouping_problem: groupingProblem(aggregates.other_prompts) }),
      ...(input.rows_digest === null || input.rows_digest === undefined ? {} : { rows_digest: input.rows_digest }),
    },
  };
}

function costFields(
  { prices, batch, base_url, model }: RunConfig,
  { costs, judges_total, rollouts }: Aggregates,
): Pick<EdgewiseMetadata, "unpriced_rollouts" | "prices"> {
  const isKnown = costs !== null || judges_total?.priced !== undefined;
  return {
    ...(costs === null || costs.rollouts >= rollouts ? {} : { unpriced_rollouts: rollouts - costs.rollouts }),
    ...(isKnown && prices !== undefined ? { prices: batch === true ? { ...prices, batch_factor: batchFactorOf(prices, { base_url, model }) } : prices } : {}),
  };
}

/** What a run that scores again says of its source, wherever it is shown. */
export function rescoredMetadata(
  { rescored_from }: Pick<RunConfig, "rescored_from">,
  rescored: MetadataInput["rescored"],
): Pick<EdgewiseMetadata, "rescored_from"> {
  if (rescored_from === undefined) return {};
  const { results, ...source } = rescored_from;
  const { avg_reward, avg_metrics } = rescored?.source ?? {};
  const averages = avg_reward === undefined || avg_metrics === undefined ? {} : { avg_reward, avg_metrics };
  return {
    rescored_from: { ...source, ...(results === undefined ? {} : { from_folder: true as const }), ...averages, changed_examples: rescored?.changed ?? 0 },
  };
}

/** How sure the numbers are, as far as there is anything to say: the same wherever those of a run are shown. */
export function certaintyOf({ metric_estimates, corpus, pass_at_k_ci95, pass_all_k_ci95, error_bounds }: Aggregates): Partial<EdgewiseMetadata> {
  const some = (table: object): boolean => Object.keys(table).length > 0;
  return {
    ...(some(metric_estimates) ? { metric_estimates } : {}),
    ...(corpus === null ? {} : { corpus }),
    ...(some(pass_at_k_ci95) ? { pass_at_k_ci95, pass_all_k_ci95 } : {}),
    ...(error_bounds === null || error_bounds.unresolved === 0 ? {} : { error_bounds }),
  };
}

/** Fields whose numbers are floats in the Python library, at any depth below them; ours under `edgewise` follow. */
const FLOATS: ReadonlySet<string> = new Set([
  "cost",
  ...["time_ms", "time", "avg_reward", "avg_metrics", "avg_error", "pass_at_k", "pass_all_k", "pass_threshold", "usage"],
  ...[
    "reward_stderr",
    "reward_ci95",
    "reward_range",
    "reward_without_errors",
    "pass_at_k_ci95",
    "pass_all_k_ci95",
    "error_bounds",
    "metric_estimates",
    "corpus",
    "interval",
  ],
]);
/** Whole numbers below them. */
const COUNTS: Readonly<Record<string, readonly string[]>> = { metric_estimates: ["n"], corpus: ["texts", "tokens", "bytes"] };

/** `metadata.json`: one object on one line, with floats where the Python library has them. */
export function metadataText(metadata: Readonly<Record<string, unknown>>): string {
  return `${fieldsText(metadata, (key, value) => {
    if (key === "edgewise") return fieldsText(value as EdgewiseMetadata, fieldText);
    // `-T 1` is 1.0 there; other sampling arguments are as they were given.
    if (key === "sampling_args") return jsonWithFloats(value, (name) => name === "temperature");
    return fieldText(key, value);
  })}\n`;
}

const fieldText = (key: string, value: unknown): string | undefined => {
  if (!FLOATS.has(key)) return JSON.stringify(value);
  return typeof value === "number" ? floatText(value) : jsonWithFloats(value, (name) => !COUNTS[key]?.includes(name));
};

function fieldsText(object: object, textOf: (key: string, value: unknown) => string | undefined): string {
  const fields = Object.entries(object).flatMap(([key, value]) => {
    const text = textOf(key, value);
    return text === undefined ? [] : [`${JSON.stringify(key)}:${text}`];
  });
  return `{${fields.join(",")}}`;
}
