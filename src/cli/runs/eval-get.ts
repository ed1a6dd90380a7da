/** `edgewise eval get ID`: one run in full. */
import type { JsonObject } from "../../config/plan/run-config.ts";
import { EMBEDDED_BASE_URL } from "../../config/endpoints/providers.ts";
import { NO_STOP_RULE } from "../../config/options/stop-rule.ts";
import { stoppedText } from "../../metrics/sequential/stopped-early.ts";
import { codesText, limitedText, waitText } from "../../report/text/code-text.ts";
import { responseModelsText } from "../../report/text/response-models-text.ts";
import { fieldLines } from "../../report/text/columns.ts";
import { readJudges } from "../../metrics/judge-fields.ts";
import { NO_JUDGES } from "../../rollouts/state/judge-usage.ts";
import { costText, dollarsText } from "../../report/text/cost-text.ts";
import { formatSeconds, thousands } from "../../report/text/format.ts";
import { hubPushText } from "../../report/hub-push-text.ts";
import { leadsWithRange } from "../../metrics/one-run/error-bounds.ts";
import { corpusText } from "../../report/statistics/corpus-lines.ts";
import { liveText } from "../../report/statistics/live-text.ts";
import { judgesText } from "../../report/plain-report.ts";
import { batchesText } from "../../report/text/batch-text.ts";
import { cacheText } from "../../report/text/cache-text.ts";
import type { RunMetadata } from "../../report/metadata.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { argumentsText, datasetText, notRunText, optionsText } from "../../report/settings.ts";
import type { Evaluation, KnownCost } from "../connection/api-types.ts";
import { aboutRun, askService, mustBeRunId, type Output } from "./ask-service.ts";
import { boundsText, intervalText, observedText, ratesText } from "../../report/statistics/uncertainty.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";
import type { Service } from "../service/service.ts";
import { rememberedFolder } from "../state/state-folder.ts";
import { resumeCommand } from "../command-line/typed-commands.ts";
import { nextStepOf, stepText } from "./next-step.ts";
import { statusOf } from "./eval-list.ts";

export async function evalGet(context: CommandContext, options: { readonly runId: string; readonly output: Output }): Promise<ExitCode> {
  const { terminal } = context;
  const runId = mustBeRunId(options.runId);
  const { run, more } = await askService(context, "edgewise eval get", async (service) => {
    const run = await aboutRun(runId, service, service.client.run(runId));
    return { run, more: options.output === "json" ? NOTHING_MORE : await moreOf(run, service) };
  });
  if (options.output === "json") terminal.print(printableJson(run, 2));
  else for (const line of runLines(run, more)) terminal.print(line);
  return EXIT.completed;
}

/** What the evaluation itself does not say. */
export interface MoreOfRun {
  readonly scores: Pick<RunMetadata, "pass_at_k" | "pass_all_k"> & {
    readonly edgewise: Pick<
      RunMetadata["edgewise"],
      "reward_ci95" | "n_clusters" | "cluster_by" | "metric_estimates" | "pass_at_k_ci95" | "pass_all_k_ci95" | "error_bounds" | "corpus"
    >;
  };
  /** Where its results are on this machine; null = nowhere that is known. */
  readonly folder: string | null;
}
const NOTHING_MORE: MoreOfRun = { scores: { pass_at_k: {}, pass_all_k: {}, edgewise: { reward_ci95: null, n_clusters: 0 } }, folder: null };

async function moreOf({ evaluation_id, edgewise }: Evaluation, { client, stateFolder }: Service): Promise<MoreOfRun> {
  const folder = stateFolder === null ? null : rememberedFolder(stateFolder, evaluation_id);
  if (edgewise.done_rollouts === 0) return { ...NOTHING_MORE, folder };
  return { scores: (await (await client.file(evaluation_id, "metadata.json")).json()) as RunMetadata, folder };
}

/** What is empty is left out. */
export function runLines(run: Evaluation, { scores, folder }: MoreOfRun = NOTHING_MORE): readonly string[] {
  const { metadata, edgewise, metrics, eval_config, error_message } = run;
  const { done_rollouts, total_rollouts, tokens, errors } = edgewise;
  const { api_key_var } = eval_config;
  const bounds = scores.edgewise.error_bounds ?? null;
  const leads = leadsWithRange(bounds);
  const fields: readonly (readonly [string, string | null])[] = [
    ["Run", run.evaluation_id],
    ["Name", run.name],
    ["Status", statusOf(run)],
    ["Waiting", waitText(edgewise, (at) => timeText(new Date(at).toISOString()) ?? "") ?? limitedText(edgewise.vitals)],
    ["Error", error_message],
    ["Environment", `${metadata.env_id} (version ${edgewise.env_version})`],
    ["Code", codesText(edgewise.env_digests)],
    ["Dataset", datasetText(edgewise.dataset_name, edgewise.dataset_digest)],
    ["Not run", notRunText(edgewise.n_not_run)],
    ["Arguments", argumentsText(metadata.env_args, edgewise.dataset_name)],
    ["Options", optionsText(metadata.extra_env_kwargs)],
    ["Model", metadata.model],
    ["Answered by", responseModelsText(edgewise.response_models)],
    [
      "Endpoint",
      typeof api_key_var === "string" && metadata.base_url !== EMBEDDED_BASE_URL ? `${metadata.base_url} (key in ${api_key_var})` : metadata.base_url,
    ],
    ["Sampling", objectText(Object.fromEntries(Object.entries(metadata.sampling_args).filter(([, value]) => value !== null)))],
    ["Examples", metadata.num_examples < 1 ? "all" : thousands(metadata.num_examples)],
    ["Rollouts", `${thousands(done_rollouts)} of ${total_rollouts === 0 ? "?" : thousands(total_rollouts)} (${metadata.rollouts_per_example} per example)`],
    ["Open", openText(edgewise.kept_rollouts)],
    ["So far", edgewise.live === undefined ? null : liveText(edgewise.live)],
    ["Reward", leads ? boundsText(bounds) : metrics.reward === undefined ? null : metrics.reward.toFixed(3)],
    ["Between", leads || bounds === null ? null : boundsText(bounds)],
    [
      "Interval",
      edgewise.stopped_early === undefined ? sureText(scores.edgewise) : `95 % from ${intervalText(edgewise.stopped_early.reward_ci95)} at any time`,
    ],
    [
      "Stopped",
      edgewise.stopped_early === undefined ? null : `${stoppedText(edgewise.stopped_early)}; ${thousands(edgewise.stopped_early.saved)} rollouts saved`,
    ],
    ["Perplexity", scores.edgewise.corpus === undefined ? null : corpusText(scores.edgewise.corpus)],
    ["pass@k", listText(scores.pass_at_k, (value) => value.toFixed(3))],
    ["pass@k 95%", ratesText(scores.edgewise.pass_at_k_ci95 ?? {})],
    ["pass^k", listText(scores.pass_all_k, (value) => value.toFixed(3))],
    ["pass^k 95%", ratesText(scores.edgewise.pass_all_k_ci95 ?? {})],
    ["Metrics", listText(metrics.metrics, (value) => value.toFixed(3))],
    ["Metrics 95%", ratesText(Object.fromEntries(Object.entries(scores.edgewise.metric_estimates ?? {}).map(([name, { ci95 }]) => [name, ci95])))],
    ["Errors", listText(errors, String) ?? (done_rollouts === 0 ? null : "none")],
    ["Tokens", tokens.input + tokens.output === 0 ? null : `${thousands(tokens.input)} input, ${thousands(tokens.output)} output`],
    ["Cost", edgewise.cost === undefined || tokens.input + tokens.output === 0 ? null : costOf(edgewise.cost, run.metadata.model, done_rollouts)],
    ["Budget", budgetText(edgewise)],
    ["Judges", edgewise.judges === undefined ? null : judgesOf(edgewise.judges)],
    ["Cached", edgewise.cache === undefined ? null : cacheText(edgewise.cache)],
    ["Batches", edgewise.batch === undefined ? null : batchesText(edgewise.batch)],
    ["Groups", edgewise.grouping_problem ?? null],
    ["Created", timeText(run.created_at)],
    ["Started", timeText(run.started_at)],
    ["Ended", timeText(run.finalized_at)],
    ["Took", durationText(run.started_at, run.finalized_at)],
    ["Kept", edgewise.kept === true ? "yes, however old" : null],
    ["Removal", removalText(run)],
    ["Folder", folder],
    ["Push", hubPushText(run.evaluation_id, edgewise.hub_push, (at) => timeText(new Date(at).toISOString()) ?? "")],
    ["Resume", resumeText(run)],
  ];
  return fieldLines(fields.flatMap(([name, value]) => (value === null || value === "" ? [] : [[name, value] as const])));
}

const sureText = ({ reward_ci95, n_clusters, cluster_by }: MoreOfRun["scores"]["edgewise"]): string | null =>
  reward_ci95 === null ? null : `95 % from ${intervalText(reward_ci95)} over ${observedText(n_clusters, cluster_by)}`;

/** What is spent of what it may spend. */
function budgetText({ max_cost, budget }: Evaluation["edgewise"]): string | null {
  if (max_cost === undefined) return null;
  if (budget === undefined) return `${dollarsText(max_cost)} at most`;
  const { settled_usd, unseen_usd, unseen_calls, batches_usd, batches } = budget;
  const calls = unseen_calls === 1 ? "1 call" : `${thousands(unseen_calls)} calls`;
  const unseen = unseen_calls === 0 ? "" : `, and at most ${dollarsText(unseen_usd)} by ${calls} whose end nobody saw`;
  const held =
    batches_usd === undefined
      ? ""
      : `; ${dollarsText(batches_usd)} are held for ${batches === 1 ? "1 batch" : `${batches} batches`}, at the most that may cost`;
  return `${dollarsText(settled_usd)} of ${dollarsText(max_cost)}${unseen}${held}`;
}

const judgesOf = ({ requests, input, output, cost }: NonNullable<Evaluation["edgewise"]["judges"]>): string =>
  judgesText(readJudges({ requests, input_tokens: input, output_tokens: output, cost }) ?? NO_JUDGES);

/** With what to type where nobody knows it. */
function costOf(cost: KnownCost | null, model: string, rollouts: number): string {
  if (cost === null) return `unknown: there is no price of ${singleLine(model)} there; a [[price]] in the endpoint registry gives new runs one`;
  const known = rollouts - (cost.unpriced_rollouts ?? 0);
  return `${costText(cost.total_usd, known, rollouts, "rollouts")}: ${dollarsText(cost.input_usd)} input, ${dollarsText(cost.output_usd)} output`;
}

/** Rollouts that are there and count nowhere. */
const openText = (kept = 0): string | null =>
  kept === 0 ? null : `${thousands(kept)} more are generated, of examples that are not complete: no number counts them yet`;

/** How it goes on; null where it works, or there is nothing to go on with. */
function resumeText(run: Evaluation): string | null {
  const { edgewise, metadata, evaluation_id } = run;
  if (edgewise.settled && edgewise.stopped_early !== undefined)
    return `${resumeCommand(metadata.env_id, evaluation_id, undefined)} --stop-when ${NO_STOP_RULE} (plays the other examples too)`;
  const next = edgewise.settled || edgewise.suspended ? nextStepOf(run) : null;
  return next === null ? null : `${resumeCommand(metadata.env_id, evaluation_id, undefined)}${stepText(next)}`;
}

const objectText = (value: JsonObject): string | null => (Object.keys(value).length === 0 ? null : JSON.stringify(value));

function listText(values: Readonly<Record<string, number>> | undefined, text: (value: number) => string): string | null {
  const entries = Object.entries(values ?? {}).filter(([, value]) => value !== null);
  return entries.length === 0 ? null : entries.map(([name, value]) => `${name} ${text(value)}`).join(", ");
}

/** The notice of a run whose time is nearly over. */
const removalText = ({ evaluation_id, edgewise: { removal_at } }: Evaluation): string | null =>
  removal_at ? `${timeText(removal_at)}; npx edgewise eval keep ${evaluation_id} keeps it` : null;

/** As log lines write it: UTC, to the second. */
const timeText = (iso: string | null | undefined): string | null => (iso ? `${iso.slice(0, 19).replace("T", " ")} UTC` : null);

function durationText(start: string | null | undefined, end: string | null | undefined): string | null {
  return start && end ? formatSeconds((Date.parse(end) - Date.parse(start)) / 1000) : null;
}
