import { html } from "hono/html";
import type { RunView } from "../../../durable-objects/run/control.ts";
import type { StoredEvent } from "../../logging/stored-event.ts";
import { OUTPUT_FILES } from "../../../r2-layout/keys.ts";
import { USUAL_RANGE } from "../../metrics/interval.ts";
import { errorBounds, leadsWithRange } from "../../metrics/one-run/error-bounds.ts";
import { stoppedText } from "../../metrics/sequential/stopped-early.ts";
import { averageReward, erroredRollouts } from "../../metrics/totals.ts";
import { batchesText } from "../../report/text/batch-text.ts";
import { codesText, limitedText, waitText } from "../../report/text/code-text.ts";
import { severalModelsText } from "../../report/text/response-models-text.ts";
import { corpusText } from "../../report/statistics/corpus-lines.ts";
import { liveText } from "../../report/statistics/live-text.ts";
import { hubPushText } from "../../report/hub-push-text.ts";
import { panelNumber, thousands } from "../../report/text/format.ts";
import { boundsText, intervalText, observedText } from "../../report/statistics/uncertainty.ts";
import { logLine } from "../../report/logs/log-tail.ts";
import { datasetText, optionsText } from "../../report/settings.ts";
import { nameOf } from "../runs/evaluation-object.ts";
import { type Html, page, pageText, pageTime, type SignedIn } from "./page.ts";

/** Log lines shown. */
export const PAGE_LOG_LINES = 200;

type Cell = readonly [name: string, value: string | number | null];

export interface RunReader {
  readonly signedIn: SignedIn | null;
  /** Path of the link by which the run is read, by whoever has it; absent for its team. */
  readonly link?: string;
}

/** One run. `log`: the newest events, oldest first. */
export function runPage(view: RunView, log: readonly StoredEvent[], { signedIn, link }: RunReader): Html {
  const { config, failure } = view;
  const settled = view.phase === "settled";
  const name = pageText(nameOf(config));
  const place = link ?? `/dashboard/evaluations/${config.run_id}`;
  const body = html`${link === undefined ? html`<p><a href="/dashboard/">All runs</a></p>` : ""}
<h1>${name}</h1>
<p><span class="status">${view.status}</span>${view.suspended ? ", waiting to be resumed" : settled ? "" : `, ${view.phase}`}</p>
${failure === null ? "" : html`<p class="error">${pageText(failure.hint === undefined ? failure.message : `${failure.message} ${failure.hint}`)}</p>`}
${table(identity(view))}
<h2>Totals</h2>
${table(totals(view))}
<h2>Files</h2>
<ul>
${OUTPUT_FILES.map((file) => html`<li>${settled || file !== "results.jsonl" ? html`<a href="${place}/files/${file}">${file}</a>` : `${file} (when the run is over)`}</li>\n`)}${link === undefined ? "" : html`<li><a href="${place}/samples">samples</a></li>\n`}</ul>
<h2>Log</h2>
<pre>${log.map((event) => `${logLine(event)}\n`).join("")}</pre>`;
  return page({ title: `${name}: ${view.status}`, refreshes: (!settled && !view.suspended) || view.hub_push?.status === "pushing", body, signedIn });
}

const table = (cells: readonly Cell[]): Html =>
  html`<table>${cells.filter(([, value]) => value !== null).map(([name, value]) => html`<tr><th>${pageText(name)}</th><td>${typeof value === "string" ? pageText(value) : value}</td></tr>\n`)}</table>`;

const identity = ({
  config,
  hub_push,
  dataset_name,
  dataset_digest,
  started_at,
  created_at,
  ended_at,
  env_digests,
  response_models,
  paused,
  waiting_for,
  loading,
  vitals,
  batch,
  phase,
}: RunView): Cell[] => [
  [
    "Waiting",
    waitText(
      {
        vitals,
        ...(paused === undefined ? {} : { paused }),
        ...(waiting_for === undefined ? {} : { waiting_for }),
        ...(loading === undefined ? {} : { loading }),
        ...(batch === undefined ? {} : { batch, settled: phase === "settled" }),
      },
      (at) => pageTime(at) ?? "",
    ) ?? limitedText(vitals),
  ],
  ["Run", config.run_id],
  ["Environment", `${config.env_id} ${config.env_version}`],
  ["Code", codesText(env_digests)],
  ["Data set", datasetText(dataset_name, dataset_digest)],
  ["Options", optionsText(config.extra_env_kwargs)],
  ["Clustered by", config.cluster_by ?? null],
  ["Model", config.model],
  ["Answered by", severalModelsText(response_models)],
  ["Endpoint", config.base_url],
  ["Batches", batch === undefined ? null : batchesText(batch)],
  ["Created", pageTime(created_at)],
  ["Started", pageTime(started_at)],
  ["Ended", pageTime(ended_at)],
  ["Push", hubPushText(config.run_id, hub_push, (at) => pageTime(at) ?? "")],
];

type Interval = readonly [number, number] | null | undefined;
const sureText = (interval: Interval, over = ""): string => (interval ? ` (95 % interval ${intervalText(interval)}${over})` : "");

/** `pass@1`, `pass@2` … */
const rateCells = (name: string, rates: Readonly<Record<string, number>> = {}, intervals: Readonly<Record<string, Interval>> = {}): Cell[] =>
  Object.entries(rates).map(([k, rate]) => [`${name}${k}`, `${panelNumber(rate)}${sureText(intervals[k])}`]);

function totals({ config, units, totals: sums, live, kept, executors, vitals, scores, reward_range = USUAL_RANGE, stopped_early: stopped }: RunView): Cell[] {
  const bounds =
    scores?.error_bounds ?? errorBounds({ rollouts: sums.rollouts, errored: erroredRollouts(sums), sum: sums.reward_sum_without_errors }, reward_range);
  const reward = averageReward(sums);
  const r = config.rollouts_per_example;
  const over = scores?.n_clusters === undefined ? "" : ` over ${observedText(scores.n_clusters, config.cluster_by)}`;
  const errors = Object.entries(sums.errors).map(([code, times]) => `${code} (${thousands(times)})`);
  return [
    ["Examples", `${thousands(units.done)} of ${thousands(units.total)} done`],
    ["Rollouts", `${thousands(units.done * r)} of ${thousands(units.total * r)} done`],
    ["Open", kept === undefined ? null : `${thousands(kept.rollouts)} more rollouts are generated, of examples that are not done: no number counts them yet`],
    ["So far", live === undefined ? null : liveText(live)],
    [
      "Reward",
      reward === null
        ? null
        : leadsWithRange(bounds)
          ? boundsText(bounds)
          : `${panelNumber(reward)}${stopped === undefined ? sureText(scores?.reward_ci95, over) : sureText(stopped.reward_ci95, " at any time")}`,
    ],
    ["Stopped early", stopped === undefined ? null : `${stoppedText(stopped)}; ${thousands(stopped.saved)} rollouts saved`],
    ["Between", bounds === null || bounds.unresolved === 0 || leadsWithRange(bounds) ? null : boundsText(bounds)],
    [
      "Interval",
      leadsWithRange(bounds) && scores?.reward_ci95 ? `${intervalText(scores.reward_ci95)}${over}, where those without a score count as in their rows` : null,
    ],
    ["Perplexity", scores?.corpus === undefined ? null : corpusText(scores.corpus)],
    ...rateCells("pass@", scores?.pass_at_k, scores?.pass_at_k_ci95),
    ...rateCells("pass^", scores?.pass_all_k, scores?.pass_all_k_ci95),
    ...Object.entries(sums.metrics).map(([name, { sum, count }]): Cell => {
      const estimate = scores?.metric_estimates?.[name];
      return [name, count === 0 ? null : `${panelNumber(sum / count)}${sureText(estimate?.ci95)}`];
    }),
    ["Errors", erroredRollouts(sums) === 0 ? "none" : errors.join(", ")],
    ["Tokens", `${thousands(sums.input_tokens)} in, ${thousands(sums.output_tokens)} out`],
    ["Executors", executors === 0 ? null : `${executors}, ${vitals.in_flight} requests in flight`],
  ];
}
