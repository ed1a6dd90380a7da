import { html, raw } from "hono/html";
import type { RunView, StoredEvent } from "../../durable-objects/run/control.ts";
import { OUTPUT_FILES } from "../../r2-layout/keys.ts";
import { averageReward, erroredRollouts } from "../metrics/totals.ts";
import { panelNumber, thousands } from "../report/format.ts";
import { logLine } from "../report/log-tail.ts";
import { printable } from "../report/printable.ts";
import { nameOf } from "./evaluation-object.ts";

/** One run as a page for people: no script, nothing loaded, every value escaped by `html`. */

/** Log lines shown. */
export const PAGE_LOG_LINES = 200;
/** Seconds between two looks of a browser at a run that goes on. */
const REFRESH_S = 5;
/** Characters of a text that came from outside. */
const MAX_TEXT = 4_000;

/** The page's only style; the content security policy admits it by its digest. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin-top: 2rem; }
th { text-align: left; font-weight: normal; opacity: 0.7; min-width: 8rem; vertical-align: top; }
td { overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0.75rem; border: 1px solid #8886; font-size: 13px; }
.status { font-weight: 600; }
.error { border-left: 3px solid #c33; padding-left: 0.75rem; overflow-wrap: anywhere; white-space: pre-wrap; }
`;

type Html = ReturnType<typeof html>;
type Cell = readonly [name: string, value: string | number | null];

const text = (value: string): string => {
  const clean = printable(value);
  return clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT)}…` : clean;
};
const time = (at: number | null): string | null => (at === null ? null : `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`);

/** `log`: the newest events, oldest first. */
export function runPage(view: RunView, log: readonly StoredEvent[]): Html {
  const { config, failure } = view;
  const settled = view.phase === "settled";
  const name = text(nameOf(config));
  // The browser asks again by itself: there is no script that could.
  const refresh = settled || view.suspended ? "" : html`<meta http-equiv="refresh" content="${REFRESH_S}">`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
${refresh}
<title>${name}: ${view.status}</title>
<style>${raw(PAGE_STYLE)}</style>
</head>
<body>
<h1>${name}</h1>
<p><span class="status">${view.status}</span>${view.suspended ? ", waiting to be resumed" : settled ? "" : `, ${view.phase}`}</p>
${failure === null ? "" : html`<p class="error">${text(failure.hint === undefined ? failure.message : `${failure.message} ${failure.hint}`)}</p>`}
${table(identity(view))}
<h2>Totals</h2>
${table(totals(view))}
<h2>Files</h2>
<ul>
${OUTPUT_FILES.map((file) => html`<li>${settled || file !== "results.jsonl" ? html`<a href="/dashboard/evaluations/${config.run_id}/files/${file}">${file}</a>` : `${file} (when the run is over)`}</li>\n`)}</ul>
<h2>Log</h2>
<pre>${log.map((event) => `${logLine(event)}\n`).join("")}</pre>
</body>
</html>
`;
}

const table = (cells: readonly Cell[]): Html =>
  html`<table>${cells.filter(([, value]) => value !== null).map(([name, value]) => html`<tr><th>${text(name)}</th><td>${typeof value === "string" ? text(value) : value}</td></tr>\n`)}</table>`;

const identity = ({ config, started_at, created_at, ended_at }: RunView): Cell[] => [
  ["Run", config.run_id],
  ["Environment", `${config.env_id} ${config.env_version}`],
  ["Model", config.model],
  ["Endpoint", config.base_url],
  ["Created", time(created_at)],
  ["Started", time(started_at)],
  ["Ended", time(ended_at)],
];

function totals({ config, units, totals: sums, executors, vitals }: RunView): Cell[] {
  const reward = averageReward(sums);
  const r = config.rollouts_per_example;
  const errors = Object.entries(sums.errors).map(([code, times]) => `${code} (${thousands(times)})`);
  return [
    ["Examples", `${thousands(units.done)} of ${thousands(units.total)} done`],
    ["Rollouts", `${thousands(units.done * r)} of ${thousands(units.total * r)} done`],
    ["Reward", reward === null ? null : panelNumber(reward)],
    ...Object.entries(sums.metrics).map(([name, { sum, count }]): Cell => [name, count === 0 ? null : panelNumber(sum / count)]),
    ["Errors", erroredRollouts(sums) === 0 ? "none" : errors.join(", ")],
    ["Tokens", `${thousands(sums.input_tokens)} in, ${thousands(sums.output_tokens)} out`],
    ["Executors", executors === 0 ? null : `${executors}, ${vitals.in_flight} requests in flight`],
  ];
}
