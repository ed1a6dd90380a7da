import type { ListedRun, RunStanding } from "../../../durable-objects/registry/registry-control.ts";
import type { RunView } from "../../../durable-objects/run/control.ts";
import { evaluationSettings } from "../../config/plan/evaluation-settings.ts";
import { rowOfLimit } from "../../config/endpoints/limit-rows.ts";
import { rowOfPrice } from "../../config/endpoints/price-rows.ts";
import { orderOf, type RunConfig } from "../../config/plan/run-config.ts";
import { shownOrigin } from "../../config/plan/shown-config.ts";
import { prospectsOf, withoutRepairs } from "../../errors/leftovers.ts";
import { failureText } from "../../errors/failure-text.ts";
import { groupingProblem } from "../../metrics/grouping.ts";
import { USUAL_RANGE } from "../../metrics/interval.ts";
import { errorBounds } from "../../metrics/one-run/error-bounds.ts";
import { judgeFields } from "../../metrics/judge-fields.ts";
import type { JudgeUsage } from "../../metrics/rollout-summary.ts";
import { erroredRollouts, type Totals } from "../../metrics/totals.ts";
import { dollarsOf } from "../../prices/nano-cost.ts";
import { freeMetadata, pushedFields, pushedState } from "./pushed-object.ts";
import { hubPushCommand, type HubPushState } from "../../report/hub-push-text.ts";
import { withoutMarkup } from "../../report/text/client-markup.ts";
import { rescoredMetadata } from "../../report/metadata.ts";
import { singleLine } from "../../report/text/printable.ts";
import type { TeamOf } from "../../teams/team-name.ts";

/** A run as the service shows it: the evaluation object that the `prime` client reads, and our own `edgewise` object inside it. */

const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());
const isTerminal = (status: string): boolean => status !== "PENDING" && status !== "RUNNING";
/** A run without a name of its own is called after what it does. */
export const nameOf = ({ name, env_id, model }: Pick<RunConfig, "name" | "env_id" | "model">): string => name ?? `${env_id}-${model}`;

/** What a failed run says for itself, in one line that the `prime` client can print. */
const errorMessage = (text: string | null): string | null => (text === null ? null : withoutMarkup(singleLine(text)));

/** State of a run in our own terms; also the data of the `progress` and `end` events. */
export function edgewiseObject(view: RunView): Record<string, unknown> {
  const { config, units, totals } = view;
  const r = config.rollouts_per_example;
  return {
    run_id: config.run_id,
    phase: view.phase,
    settled: view.phase === "settled",
    suspended: view.suspended,
    ...(view.paused === undefined ? {} : { paused: { at: view.paused.at } }),
    max_concurrent: config.max_concurrent,
    ...(config.max_cost === undefined ? {} : { max_cost: config.max_cost }),
    generation: view.generation,
    done_units: units.done,
    total_units: units.total,
    open_units: units.open,
    done_rollouts: view.pushed?.samples ?? units.done * r,
    total_rollouts: view.pushed?.expected ?? view.pushed?.samples ?? units.total * r,
    finished_rollouts: view.pushed?.samples ?? Math.min(units.total * r, units.done * r + (view.vitals.finished ?? 0) + (view.kept?.waiting ?? 0)),
    ...(view.stopped_early === undefined ? {} : { stopped_early: view.stopped_early }),
    kept_rollouts: view.kept?.rollouts ?? 0,
    ...(view.scoring_until === undefined ? {} : { scoring_until: view.scoring_until }),
    /** Rollouts of units that are not done; a repaired unit counts whole until it is done again. */
    owed_rollouts: view.pushed === undefined ? (units.total - units.done) * r : 0,
    reward: mean(totals.reward_sum, totals.rollouts),
    ...(view.live === undefined ? {} : { live: view.live }),
    errors: totals.errors,
    truncated_rollouts: totals.truncated,
    tokens: { input: totals.input_tokens, output: totals.output_tokens },
    cost: costOfRun(totals),
    ...(totals.judges === undefined ? {} : { judges: judgesOf(totals.judges) }),
    ...(totals.cache === undefined ? {} : { cache: totals.cache }),
    ...(view.batch === undefined ? {} : { batch: view.batch }),
    ...(totals.other_prompts === undefined ? {} : { grouping_problem: groupingProblem(totals.other_prompts) }),
    vitals: view.vitals,
    executors: view.executors,
    grants: view.grants,
    lapses: view.lapses,
    ...(view.importing === true ? { importing: true } : {}),
    ...(view.unscored === undefined ? {} : { unscored: view.unscored }),
    seq: view.seq,
    ...(config.created_by === undefined ? {} : { created_by: config.created_by }),
    ...(config.schedule === undefined ? {} : { schedule: { name: config.schedule.name, due_at: iso(config.schedule.due_at) } }),
    ...(config.evaluator === undefined ? {} : { evaluator: config.evaluator }),
    ...(view.stored_bytes === undefined ? {} : { stored_bytes: view.stored_bytes }),
    ...rescoredMetadata(config, view.rescored),
    env_version: config.env_version,
    env_digest: view.env_digest,
    ...(view.env_digests === undefined ? {} : { env_digests: view.env_digests }),
    ...(view.response_models === undefined ? {} : { response_models: view.response_models }),
    ...(view.waiting_for === undefined ? {} : { waiting_for: view.waiting_for }),
    ...(view.hub_push === undefined ? {} : { hub_push: hubPushOf(config.run_id, view.hub_push) }),
    ...(view.loading === undefined ? {} : { loading: view.loading }),
    dataset_digest: view.dataset_digest,
    dataset_name: view.dataset_name ?? null,
    ...(view.n_not_run === undefined ? {} : { n_not_run: view.n_not_run }),
    reward_ci95: view.scores?.reward_ci95 ?? null,
    pass_at_k: view.scores?.pass_at_k ?? {},
    ...(config.cluster_by === undefined ? {} : { cluster_by: config.cluster_by }),
    ...boundsOf(view),
    ...view.scores,
    ...pushedState(view),
    ...(view.ended_by === undefined ? {} : { ended_by: view.ended_by }),
    ...(view.failure === null ? {} : { failure: view.failure }),
  };
}

/** Null where it is known of no rollout. */
function costOfRun({ costs, rollouts }: Totals): object | null {
  if (costs === undefined) return null;
  return { ...dollarsOf(costs), ...(costs.rollouts >= rollouts ? {} : { unpriced_rollouts: rollouts - costs.rollouts }) };
}

function judgesOf(judges: JudgeUsage): object {
  const { requests, input_tokens, output_tokens, cost } = judgeFields(judges);
  return { requests, input: input_tokens, output: output_tokens, ...(cost === undefined ? {} : { cost }) };
}

/** With what to type where it failed. */
function hubPushOf(run: string, push: HubPushState): Record<string, unknown> {
  const command = hubPushCommand(run, push);
  return { ...push, ...(command === null ? {} : { command }) };
}

/** Where rollouts ended in an error: what the mean reward would be between, had they a score. Of a settled run its `metadata.json` says it. */
function boundsOf({ totals, reward_range = USUAL_RANGE }: RunView): Record<string, unknown> {
  const errored = erroredRollouts(totals);
  return errored === 0 ? {} : { error_bounds: errorBounds({ rollouts: totals.rollouts, errored, sum: totals.reward_sum_without_errors }, reward_range) };
}

/** What a resume of a run that rests would do; `envDigest`: of the code that would go on. */
function resumable({ units, totals, config, phase, suspended, env_digest, pushed, stopped_early }: RunView, envDigest: string | null): Record<string, unknown> {
  if (pushed !== undefined) return {};
  if (phase !== "settled" && !suspended) return {};
  // Nothing, unless its rule is dropped.
  if (stopped_early !== undefined) return { resumable: { rollouts: 0, scores: 0 } };
  const changed = envDigest !== null && env_digest !== null && envDigest !== env_digest;
  const missing = (units.total - units.done) * config.rollouts_per_example;
  const errors = config.rescored_from === undefined ? totals.errors : withoutRepairs(totals.errors);
  return { resumable: prospectsOf({ missing, errors }, changed) };
}

/** `origin`: of the request, where the run's page is too; `envDigest`: of the run's environment as this service has it. */
export function evaluationObject(
  view: RunView,
  origin: string,
  envDigest: string | null = null,
  { budget, ...standing }: Partial<RunStanding> & { readonly budget?: object } = {},
): Record<string, unknown> {
  const { config } = view;
  return {
    ...commonFields(config, origin),
    tags: config.tags ?? [],
    ...movingFields(view),
    eval_config: evalConfig(config),
    metadata: {
      ...freeMetadata(view),
      env_id: config.env_id,
      env_args: config.env_args,
      model: view.pushed?.facts.model_name ?? config.model,
      base_url: config.base_url,
      num_examples: view.dataset_digest === null ? config.num_examples : view.units.total,
      rollouts_per_example: config.rollouts_per_example,
      sampling_args: config.sampling_args,
      ...(config.extra_env_kwargs === undefined ? {} : { extra_env_kwargs: config.extra_env_kwargs }),
      ...(config.shuffle_seed === undefined ? {} : { shuffle_seed: config.shuffle_seed }),
      ...(config.cluster_by === undefined ? {} : { cluster_by: config.cluster_by }),
      pass_threshold: view.pass_threshold,
      ...(view.reward_range === undefined ? {} : { reward_range: view.reward_range }),
      ...(view.reward_weights === undefined ? {} : { reward_weights: view.reward_weights }),
      state_columns: config.state_columns,
    },
    ...pushedFields(view),
    team_id: config.team ?? config.hosted.team_id ?? null,
    edgewise: {
      ...edgewiseObject(view),
      ...resumable(view, envDigest),
      ...standingFields(standing),
      ...(budget === undefined ? {} : { budget }),
      settings: evaluationSettings(config),
    },
  };
}

/** What of a run moves while it works: what a page that shows it needs to be told again. */
export function liveEvaluation(view: RunView): Record<string, unknown> {
  const { total_samples, name } = pushedFields(view);
  return {
    evaluation_id: view.config.run_id,
    name: name ?? nameOf(view.config),
    ...movingFields(view),
    ...(total_samples === undefined ? {} : { total_samples }),
    edgewise: edgewiseObject(view),
  };
}

const movingFields = (view: RunView): Record<string, unknown> => ({
  is_public: view.link_digest !== undefined,
  status: view.status,
  error_message: errorMessage(view.failure === null ? null : failureText(view.failure, view.config.run_id)),
  metrics: metricsOf(view.totals),
  total_samples: view.totals.rollouts,
  created_at: iso(view.created_at),
  updated_at: iso(view.updated_at),
  started_at: iso(view.started_at),
  finalized_at: isTerminal(view.status) ? iso(view.ended_at) : null,
});

/** A row of the list: what the projection knows, in the same shape. */
export function listedEvaluation(run: ListedRun & TeamOf, origin: string): Record<string, unknown> {
  return {
    ...commonFields(run, origin),
    is_public: run.is_public === true,
    is_hosted: run.pushed !== true,
    status: run.status,
    error_message: errorMessage(run.error_message),
    metadata: {
      env_id: run.env_id,
      model: run.model,
      num_examples: run.num_examples,
      rollouts_per_example: run.rollouts_per_example,
      extra_env_kwargs: run.extra_env_kwargs ?? {},
    },
    metrics: run.avg_reward === null ? {} : { reward: run.avg_reward },
    total_samples: run.done_rollouts,
    team_id: run.team ?? null,
    tags: run.tags ?? [],
    created_at: iso(run.created_at),
    updated_at: iso(run.updated_at),
    started_at: iso(run.started_at ?? null),
    finalized_at: isTerminal(run.status) ? iso(run.ended_at ?? null) : null,
    edgewise: {
      run_id: run.run_id,
      active: run.active,
      settled: run.settled,
      suspended: !run.active && !run.settled,
      ...(run.pushed === true ? { origin: "pushed" } : {}),
      ...(run.waiting === true ? { waiting: true } : {}),
      ...(run.paused === true ? { paused: true } : {}),
      ...(run.stopped_early === true ? { stopped_early: true } : {}),
      done_rollouts: run.done_rollouts,
      total_rollouts: run.total_rollouts,
      reward: run.avg_reward,
      dataset_name: run.dataset_name ?? null,
      errored_rollouts: run.errored_rollouts ?? null,
      reward_ci95: run.reward_ci95 ?? null,
      pass_at_k: run.pass_at_k ?? {},
      ...(run.pass_at_k_ci95 === undefined ? {} : { pass_at_k_ci95: run.pass_at_k_ci95 }),
      ...(run.metric_estimates === undefined ? {} : { metric_estimates: run.metric_estimates }),
      ...(run.cost === undefined ? {} : { cost: run.cost }),
      ...(run.tokens === undefined ? {} : { tokens: run.tokens }),
      ...(run.created_by === undefined ? {} : { created_by: run.created_by }),
      ...(run.judges_cost_usd === undefined ? {} : { judges_cost_usd: run.judges_cost_usd }),
      ...(run.stored_bytes === undefined ? {} : { stored_bytes: run.stored_bytes }),
      ...standingFields(run),
    },
  };
}

/** Of a run that is kept, or has its notice. */
const standingFields = ({ kept = false, removal_at = null }: Partial<RunStanding>): Record<string, unknown> => ({
  ...(kept ? { kept } : {}),
  ...(removal_at === null ? {} : { removal_at: iso(removal_at) }),
});

/** Fields that say the same of every run of this service. */
function commonFields(run: Pick<RunConfig, "run_id" | "name" | "env_id" | "model">, origin: string): Record<string, unknown> {
  return {
    evaluation_id: run.run_id,
    name: nameOf(run),
    // A cell of the client's table, which reads markup too; `metadata` has the name as it is.
    model_name: withoutMarkup(run.model),
    dataset: run.env_id,
    framework: "verifiers",
    task_type: null,
    eval_type: null,
    description: null,
    environment_ids: [run.env_id],
    environment_names: [run.env_id],
    suite_id: null,
    run_id: null,
    version_id: null,
    tags: [],
    is_hosted: true,
    viewer_url: `${origin}/dashboard/evaluations/${run.run_id}`,
    user_id: null,
  };
}

/** The settings in the form in which they were asked for. */
function evalConfig(config: RunConfig): Record<string, unknown> {
  const { team_id: _, ...allowed } = config.hosted;
  return {
    num_examples: config.num_examples,
    rollouts_per_example: config.rollouts_per_example,
    env_args: config.env_args,
    sampling_args: config.sampling_args,
    max_concurrent: config.max_concurrent,
    max_retries: config.max_retries,
    timeout_minutes: config.timeout_minutes,
    state_columns: config.state_columns,
    independent_scoring: config.independent_scoring,
    ...(config.replicas === undefined
      ? { api_base_url: config.base_url }
      : { replicas: config.replicas.map(({ base_url, ...place }) => ({ api_base_url: base_url, ...place })) }),
    api_key_var: config.api_key_var,
    api_client_type: config.api_client_type,
    ...(config.headers === undefined ? {} : { headers: Object.entries(config.headers).map(([name, value]) => `${name}: ${value}`) }),
    ...(config.headers_from_state === undefined ? {} : { headers_from_state: config.headers_from_state }),
    ...(config.extra_env_kwargs === undefined ? {} : { extra_env_kwargs: config.extra_env_kwargs }),
    ...(config.shuffle_seed === undefined ? {} : { shuffle: true, shuffle_seed: config.shuffle_seed }),
    ...(config.cluster_by === undefined ? {} : { cluster_by: config.cluster_by }),
    ...(config.origin === "pushed" ? {} : { order: orderOf(config) }),
    ...(config.stop_when === undefined ? {} : { stop_when: config.stop_when, stop_alpha: config.stop_alpha }),
    ...(config.max_concurrent_generation === undefined ? {} : { max_concurrent_generation: config.max_concurrent_generation }),
    ...(config.max_concurrent_scoring === undefined ? {} : { max_concurrent_scoring: config.max_concurrent_scoring }),
    ...(config.priority === undefined ? {} : { priority: config.priority }),
    ...(config.limits === undefined ? {} : { limits: config.limits.map(rowOfLimit) }),
    ...(config.max_cost === undefined ? {} : { max_cost: config.max_cost }),
    ...(config.prices === undefined || config.prices.given.length === 0 ? {} : { prices: config.prices.given.map(rowOfPrice) }),
    ...(config.common_limit === undefined ? {} : { common_limit: config.common_limit }),
    ...(config.cache === undefined ? {} : { cache: config.cache.mode, cache_days: config.cache.days }),
    ...(config.batch === undefined ? {} : { batch: config.batch }),
    ...(config.num_workers === undefined ? {} : { num_workers: config.num_workers }),
    ...(config.no_interleave_scoring === undefined ? {} : { no_interleave_scoring: config.no_interleave_scoring }),
    ...(config.sandbox === undefined ? {} : { sandbox: config.sandbox }),
    ...(config.heartbeat_url === undefined ? {} : { heartbeat_url: shownOrigin(config.heartbeat_url) }),
    ...(config.monitor === undefined ? {} : { monitor: config.monitor.name }),
    ...(config.stall_minutes === undefined ? {} : { stall_minutes: config.stall_minutes }),
    ...(config.tags === undefined ? {} : { tags: config.tags }),
    ...(config.verbose === undefined ? {} : { verbose: config.verbose }),
    ...allowed,
  };
}

const mean = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);

/** As `prime eval push` sends them: `reward`, `metrics` by name, `error` = share of rollouts that ended in one. */
function metricsOf(totals: Totals): Record<string, unknown> {
  const { rollouts, reward_sum, metrics } = totals;
  if (rollouts === 0) return {};
  const means = Object.entries(metrics).flatMap(([name, { sum, count }]) => (count === 0 ? [] : [[name, sum / count] as const]));
  return { reward: reward_sum / rollouts, metrics: Object.fromEntries(means), error: erroredRollouts(totals) / rollouts };
}
