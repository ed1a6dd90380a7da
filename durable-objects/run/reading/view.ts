import { failureText } from "../../../src/errors/failure-text.ts";
import type { LiveMean } from "../../../src/metrics/one-run/live-mean.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { KIB } from "../../../src/limits.ts";
import { averageReward, erroredRollouts, type Totals } from "../../../src/metrics/totals.ts";
import { dollarsOf } from "../../../src/prices/nano-cost.ts";
import { defaultName } from "../../../src/hub/target.ts";
import type { RunScores } from "../../../src/report/run-scores.ts";
import type { RunProjection } from "../../registry/registry-control.ts";
import { endedByField } from "../course/ended-by.ts";
import { rolloutsByCode, waitingFor } from "../grants/code.ts";
import { batchView } from "../batching/batch-view.ts";
import { inBatches, openUnits } from "./open-units.ts";
import type { RunContext } from "../state/context.ts";
import type { LoadingAgain, RunView } from "../control.ts";
import type { RunHead } from "../state/head.ts";
import { differencesOf } from "../../../src/pushed/pushed-averages.ts";
import { stoppedRun } from "../../../src/metrics/sequential/stopped-early.ts";
import type { Ledger } from "../state/ledger.ts";
import { isSuspended } from "../grants/offers.ts";
import type { Vitals } from "../protocol.ts";
import { storedBytes } from "../state/row-bytes.ts";

export function viewOf(ledger: Ledger, head: RunHead, vitals: Vitals, context: RunContext, live: LiveMean | null = null): RunView {
  const config = ledger.config();
  const codes = rolloutsByCode(head);
  const waiting = waitingFor(head, context);
  // While further units are being pinned there are as many as were asked for, as far as anybody knows.
  const pinned = head.n === null || head.pinning === true ? Math.max(head.n ?? 0, config.num_examples) : head.n;
  // What is not handed out when the run stops early is none of it.
  const [total, pending] = head.stopped === undefined ? [pinned, head.pending] : [pinned - head.pending, 0];
  const unplayed = pending + inBatches(ledger, head);
  const batch = batchView(ledger, head);
  return {
    config,
    status: head.status,
    phase: head.phase,
    suspended: isSuspended(config, head, context),
    ...(head.paused === undefined ? {} : { paused: head.paused }),
    generation: head.generation,
    failure: head.failure,
    ...endedByField(head.failure),
    units: { total, done: head.done, open: openUnits(ledger, head), pending: unplayed },
    totals: head.totals,
    ...(live === null ? {} : { live }),
    ...keptOf(ledger, head),
    ...(head.last_scores === undefined ? {} : { scoring_until: head.last_scores.until }),
    ...pushedOf(ledger, head),
    ...(batch === null ? {} : { batch }),
    ...(head.stopped === undefined ? {} : { stopped_early: stoppedRun(head.stopped, { num_examples: total, config }) }),
    vitals,
    executors: ledger.tickets().length,
    grants: head.epoch,
    lapses: head.lapses,
    importing: head.import !== null,
    lanes: ledger.tickets().reduce((sum, ticket) => sum + ticket.lanes, 0),
    ...(head.unscored === undefined ? {} : { unscored: head.unscored }),
    ...(head.rescored === undefined ? {} : { rescored: head.rescored }),
    env_digest: head.env_digest,
    ...(codes === null ? {} : { env_digests: codes }),
    ...(head.response_models === undefined ? {} : { response_models: head.response_models }),
    ...(waiting === null ? {} : { waiting_for: waiting }),
    ...(head.loading === undefined || head.loading.retry_at === 0 ? {} : { loading: loadingOf(head.loading) }),
    ...(head.phase === "finalising" && head.finalise.failed?.failure ? { writing_failure: head.finalise.failed.failure } : {}),
    dataset_digest: head.dataset_digest,
    dataset_name: datasetNameOf(config, head),
    ...(head.n_not_run === undefined ? {} : { n_not_run: head.n_not_run }),
    ...(head.scores === undefined ? {} : { scores: head.scores }),
    pass_threshold: head.pass_threshold,
    ...(head.reward_range === undefined ? {} : { reward_range: head.reward_range }),
    ...(head.reward_weights === undefined ? {} : { reward_weights: head.reward_weights }),
    stored_bytes: storedBytes(head),
    ...(head.link_digest === undefined ? {} : { link_digest: head.link_digest }),
    ...hubPushOf(config, head, total),
    seq: head.seq,
    created_at: head.created_at,
    started_at: head.started_at,
    ended_at: head.ended_at,
    updated_at: head.updated_at,
  };
}

const loadingOf = ({ count, failure, retry_at }: NonNullable<RunHead["loading"]>): LoadingAgain => ({ attempts: count, message: failure.message, retry_at });

/** Of a run that was resumed before it was pushed nothing is owed until it has settled again. */
function hubPushOf(config: RunConfig, { hub_push, phase }: RunHead, examples: number): Pick<RunView, "hub_push"> {
  const asked = config.hub_push;
  if (hub_push === undefined || asked === undefined || (hub_push.due && phase !== "settled")) return {};
  const { due, url, commit, failure, retry_at } = hub_push;
  return {
    hub_push: {
      status: due ? "pushing" : url === undefined ? "failed" : "pushed",
      dataset: `${asked.owner}/${asked.name ?? defaultName({ ...config, num_examples: examples })}`,
      ...(asked.public === undefined ? {} : { public: asked.public }),
      ...(url === undefined ? {} : { url }),
      ...(commit === undefined ? {} : { commit }),
      ...(failure === undefined ? {} : { failure }),
      ...(due ? { retry_at } : {}),
    },
  };
}

function keptOf(ledger: Ledger, { n }: RunHead): Pick<RunView, "kept"> {
  const rollouts = ledger.keptRollouts();
  if (rollouts === 0) return {};
  const all = { lo: 0, hi: n ?? 0 };
  const claims = ledger.claimsIn(all);
  const divided = ledger.spans.byUnit();
  const isHeld = (unit: number, rollout: number): boolean =>
    divided.get(unit)?.some(({ lo, hi }) => lo <= rollout && rollout < hi) ?? claims.some(({ lo, hi }) => lo <= unit && unit < hi);
  const waiting = ledger.piecesIn(all).map(({ unit, rollouts: kept }) => kept.filter((rollout) => !isHeld(unit, rollout)).length);
  return { kept: { rollouts, waiting: waiting.reduce((sum, count) => sum + count, 0) } };
}

function pushedOf(ledger: Ledger, { pushed, totals, phase }: RunHead): Pick<RunView, "pushed"> {
  if (pushed === undefined) return {};
  const facts = ledger.pushed.facts();
  const { batches, samples, examples, unread, closing } = pushed;
  // While rows are put into their order, averages are those of some of them.
  return { pushed: { facts, batches, samples, examples, unread, closing, differences: phase === "open" ? [] : differencesOf(facts.metrics, totals) } };
}

/** The name of the file that was uploaded, or what the environment calls what it was given. */
export const datasetNameOf = ({ dataset_name }: RunConfig, head: RunHead): string | null => dataset_name ?? head.dataset_name ?? null;

/** Bytes of metrics in a row of a list: a list has thousands of rows. */
const MOST_LISTED = 2 * KIB;

function listedScores({ pass_at_k_ci95, metric_estimates }: RunScores): Pick<RunProjection, "pass_at_k_ci95" | "metric_estimates"> {
  let left = MOST_LISTED;
  const listed = Object.entries(metric_estimates ?? {}).filter((entry) => {
    left -= JSON.stringify(entry).length;
    return left >= 0;
  });
  return {
    ...(pass_at_k_ci95 === undefined ? {} : { pass_at_k_ci95 }),
    ...(listed.length === 0 ? {} : { metric_estimates: Object.fromEntries(listed) }),
  };
}

/** What lists show of the run. */
export function projectionOf(view: RunView, version: number): RunProjection {
  const { config, units } = view;
  return {
    run_id: config.run_id,
    version,
    env_id: config.env_id,
    model: view.pushed?.facts.model_name ?? config.model,
    name: view.pushed?.facts.name ?? config.name,
    ...(view.pushed === undefined ? {} : { pushed: true as const }),
    status: view.status,
    active: view.phase !== "settled" && !view.suspended,
    settled: view.phase === "settled",
    generation: view.generation,
    ...(view.waiting_for === undefined ? {} : { waiting: true as const }),
    ...(view.paused === undefined ? {} : { paused: true as const }),
    ...(view.stopped_early === undefined ? {} : { stopped_early: true as const }),
    ...(view.link_digest === undefined ? {} : { is_public: true as const }),
    ...(view.hub_push?.status === "pushing" ? { owes_push: true as const } : {}),
    num_examples: units.total,
    rollouts_per_example: config.rollouts_per_example,
    total_rollouts: view.pushed?.expected ?? view.pushed?.samples ?? units.total * config.rollouts_per_example,
    done_rollouts: view.pushed?.samples ?? units.done * config.rollouts_per_example,
    avg_reward: averageReward(view.totals),
    dataset_name: view.dataset_name ?? null,
    extra_env_kwargs: config.extra_env_kwargs ?? {},
    errored_rollouts: erroredRollouts(view.totals),
    reward_ci95: view.scores?.reward_ci95 ?? null,
    pass_at_k: view.scores?.pass_at_k ?? {},
    ...(view.scores === undefined ? {} : listedScores(view.scores)),
    ...listedCost(view.totals),
    tokens: { input: view.totals.input_tokens, output: view.totals.output_tokens },
    ...(view.stored_bytes === undefined ? {} : { stored_bytes: view.stored_bytes }),
    error_message: view.failure === null ? null : failureText(view.failure, config.run_id),
    ...listedTags(view),
    ...(config.created_by === undefined ? {} : { created_by: config.created_by }),
    started_at: view.started_at,
    ended_at: view.ended_at,
    created_at: view.created_at,
    updated_at: view.updated_at,
  };
}

function listedTags({ pushed, config }: RunView): Pick<RunProjection, "tags"> {
  const tags = pushed?.facts.tags ?? config.tags ?? [];
  return tags.length === 0 ? {} : { tags };
}

function listedCost({ costs, judges, rollouts }: Totals): Pick<RunProjection, "cost" | "judges_cost_usd"> {
  const unpriced = costs === undefined ? 0 : rollouts - costs.rollouts;
  return {
    ...(costs === undefined ? {} : { cost: { ...dollarsOf(costs), ...(unpriced > 0 ? { unpriced_rollouts: unpriced } : {}) } }),
    ...(judges?.priced === undefined ? {} : { judges_cost_usd: dollarsOf(judges.priced).total_usd }),
  };
}
