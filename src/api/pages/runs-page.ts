import { html } from "hono/html";
import type { ListedRun } from "../../../durable-objects/registry/registry-control.ts";
import { panelNumber, thousands } from "../../report/format.ts";
import { nameOf } from "../runs/evaluation-object.ts";
import { type Html, page, pageText, pageTime, type SignedIn } from "./page.ts";

/** Runs on one page. */
export const RUNS_PER_PAGE = 50;

export interface RunsPage {
  /** The newest first. */
  readonly runs: readonly ListedRun[];
  /** Of the whole list. */
  readonly total: number;
  /** From 1. */
  readonly number: number;
  readonly signedIn: SignedIn | null;
}

/** All runs, as far as the Registry knows them: numbers of a run that works may be a minute old. */
export function runsPage({ runs, total, number, signedIn }: RunsPage): Html {
  const last = Math.max(1, Math.ceil(total / RUNS_PER_PAGE));
  const body = html`<h1>Runs</h1>
${total === 0 ? EMPTY : runs.length === 0 ? html`<p>The list has ${thousands(last)} pages. <a href="?page=1">The newest runs</a></p>` : table(runs)}
${last === 1 ? "" : pages(number, last)}`;
  return page({ title: "Edgewise: runs", refreshes: runs.some(({ active }) => active), body, signedIn });
}

const EMPTY = html`<p>No run yet. In a terminal of this folder:</p>
<pre>npx edgewise eval run arithmetic --provider embedded</pre>`;

const table = (runs: readonly ListedRun[]): Html => html`<table class="list">
<tr><th>Run</th><th>Name</th><th>Environment</th><th>Model</th><th>Status</th><th>Rollouts</th><th>Reward</th><th>Created</th></tr>
${runs.map(row)}</table>`;

const row = (run: ListedRun): Html => html`<tr><td><a href="/dashboard/evaluations/${run.run_id}">${run.run_id}</a></td>
<td>${pageText(nameOf(run))}</td><td>${pageText(run.env_id)}</td><td>${pageText(run.model)}</td>
<td><span class="status">${run.status}</span>${!run.active && !run.settled ? ", waiting to be resumed" : run.waiting === true ? ", waiting for its code" : ""}${run.removal_at ? html`, removed on ${pageTime(run.removal_at)}` : ""}</td>
<td>${thousands(run.done_rollouts)} of ${thousands(run.total_rollouts)}</td>
<td>${run.avg_reward === null ? "" : panelNumber(run.avg_reward)}</td><td>${pageTime(run.created_at)}</td></tr>
`;

const pages = (number: number, last: number): Html => html`<p>Page ${thousands(number)} of ${thousands(last)}
${number > 1 ? html`<a href="?page=${number - 1}">Newer</a>` : ""} ${number < last ? html`<a href="?page=${number + 1}">Older</a>` : ""}</p>`;
