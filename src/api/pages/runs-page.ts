import { html } from "hono/html";
import type { ListedRun } from "../../../durable-objects/registry/registry-control.ts";
import { isNothingScored } from "../../metrics/one-run/error-bounds.ts";
import { panelNumber, thousands } from "../../report/text/format.ts";
import { intervalText } from "../../report/statistics/uncertainty.ts";
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
  /** Whose runs they are, and the teams of who looks. */
  readonly team: string;
  readonly teams: readonly string[];
  readonly signedIn: SignedIn | null;
}

/** All runs, as far as the Registry knows them: numbers of a run that works may be a minute old. */
export function runsPage({ runs, total, number, team, teams, signedIn }: RunsPage): Html {
  const last = Math.max(1, Math.ceil(total / RUNS_PER_PAGE));
  // Said only where there is a choice.
  const of = teams.length > 1 ? `team=${encodeURIComponent(team)}` : "";
  const body = html`<h1>Runs</h1>
${teams.length > 1 ? choice(team, teams) : ""}
${total === 0 ? EMPTY : runs.length === 0 ? html`<p>The list has ${thousands(last)} pages. <a href="${pageAt(1, of)}">The newest runs</a></p>` : table(runs, of)}
${last === 1 ? "" : pages(number, last, of)}`;
  return page({ title: "Edgewise: runs", refreshes: runs.some(({ active }) => active), body, signedIn });
}

const EMPTY = html`<p>No run yet. In a terminal of this folder:</p>
<pre>npx edgewise eval run arithmetic --provider embedded</pre>`;

const choice = (team: string, teams: readonly string[]): Html =>
  html`<p>Team: ${teams.map((each) => (each === team ? html`<b>${pageText(each)}</b> ` : html`<a href="/dashboard/?team=${encodeURIComponent(each)}">${pageText(each)}</a> `))}</p>`;

/** `of`: the team as a query says it; "" where there is no choice. */
const pageAt = (number: number, of: string): string => `?page=${number}${of === "" ? "" : `&${of}`}`;

const table = (runs: readonly ListedRun[], of: string): Html => html`<table class="list">
<tr><th>Run</th><th>Name</th><th>Environment</th><th>Model</th><th>Status</th><th>Rollouts</th><th>Reward (95 % interval)</th><th>Created</th></tr>
${runs.map((run) => row(run, of))}</table>`;

const row = (run: ListedRun, of: string): Html => html`<tr><td><a href="/dashboard/evaluations/${run.run_id}${of === "" ? "" : `?${of}`}">${run.run_id}</a></td>
<td>${pageText(nameOf(run))}</td><td>${pageText(run.env_id)}</td><td>${pageText(run.model)}</td>
<td><span class="status">${run.status}</span>${!run.active && !run.settled ? ", waiting to be resumed" : run.waiting === true ? ", waiting for its code" : ""}${run.removal_at ? html`, removed on ${pageTime(run.removal_at)}` : ""}</td>
<td>${thousands(run.done_rollouts)} of ${thousands(run.total_rollouts)}</td>
<td>${run.avg_reward === null || isNothingScored(run.done_rollouts, run.errored_rollouts) ? "" : panelNumber(run.avg_reward)}${run.reward_ci95 ? ` (${intervalText(run.reward_ci95)})` : ""}</td><td>${pageTime(run.created_at)}</td></tr>
`;

const pages = (number: number, last: number, of: string): Html => html`<p>Page ${thousands(number)} of ${thousands(last)}
${number > 1 ? html`<a href="${pageAt(number - 1, of)}">Newer</a>` : ""} ${number < last ? html`<a href="${pageAt(number + 1, of)}">Older</a>` : ""}</p>`;
