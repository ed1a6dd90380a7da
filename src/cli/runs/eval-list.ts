/** `edgewise eval list`: runs of the service, the newest first. */
import { isNothingScored } from "../../metrics/one-run/error-bounds.ts";
import type { PassIntervals } from "../../metrics/pass-at-k.ts";
import { type Column, columnLines } from "../../report/text/columns.ts";
import { dollarsText } from "../../report/text/cost-text.ts";
import { formatSeconds } from "../../report/text/format.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { optionsText } from "../../report/settings.ts";
import { cutTo, textWidth } from "../../report/text/text-width.ts";
import { intervalText } from "../../report/statistics/uncertainty.ts";
import type { EvaluationPage, KnownCost, ListedEvaluation, RunFilters } from "../connection/api-types.ts";
import { shortPath } from "../command-line/typed-commands.ts";
import { rememberedFolder } from "../state/state-folder.ts";
import { askService, type Output } from "./ask-service.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";

export interface ListOptions {
  /** Runs on a page. */
  readonly num: number;
  /** From 1. */
  readonly page: number;
  readonly filters: RunFilters;
  readonly output: Output;
}

export async function evalList(context: CommandContext, options: ListOptions): Promise<ExitCode> {
  const { terminal } = context;
  const { num, page, filters, output } = options;
  const { answer, stateFolder } = await askService(context, "edgewise eval list", async ({ client, stateFolder }) => {
    return { answer: await client.runs((page - 1) * num, num, filters), stateFolder };
  });
  const folderOf = (runId: string): string | null => {
    const folder = stateFolder === null ? null : rememberedFolder(stateFolder, runId);
    return folder === null ? null : shortPath(folder, context.cwd);
  };
  if (output === "json") terminal.print(printableJson(answer, 2));
  else for (const line of listLines(answer, terminal.columns, Date.now(), folderOf)) terminal.print(line);
  const rest = restLine(answer, options);
  if (output === "table" && rest !== null) terminal.tell(rest);
  return EXIT.completed;
}

/** Facts that are shown where the terminal has room for them, the most wanted first. */
const FACTS: readonly (Column & { readonly fact: (run: ListedEvaluation, folder: string | null) => string })[] = [
  { title: "REMOVAL", fact: ({ edgewise: { kept, removal_at } }) => (kept === true ? "kept" : (removal_at?.slice(0, 10) ?? "-")) },
  {
    title: "95% INTERVAL",
    align: "right",
    fact: ({ edgewise: { reward_ci95 } }) => (reward_ci95 ? intervalText(reward_ci95) : "-"),
  },
  { title: "COST", align: "right", fact: ({ edgewise: { cost } }) => listedCost(cost) },
  { title: "JUDGES", align: "right", fact: ({ edgewise: { judges_cost_usd } }) => (judges_cost_usd === undefined ? "-" : dollarsText(judges_cost_usd)) },
  { title: "ERRORS", align: "right", fact: ({ edgewise: { errored_rollouts } }) => String(errored_rollouts ?? "-") },
  { title: "PASS@K", align: "right", fact: ({ edgewise: { pass_at_k = {} } }) => lastRate(pass_at_k) },
  { title: "PASS@K 95%", align: "right", fact: ({ edgewise: { pass_at_k = {}, pass_at_k_ci95 = {} } }) => lastInterval(pass_at_k, pass_at_k_ci95) },
  { title: "TAGS", fact: ({ tags = [] }) => (tags.length === 0 ? "-" : singleLine(tags.join(", "))) },
  { title: "DATASET", fact: ({ edgewise: { dataset_name } }) => dataset_name ?? "-" },
  { title: "OPTIONS", fact: ({ metadata: { extra_env_kwargs } }) => optionsText(extra_env_kwargs) ?? "-" },
  { title: "FOLDER", fact: (_, folder) => folder ?? "-" },
  { title: "BY", fact: ({ edgewise: { created_by } }) => (created_by === undefined ? "-" : singleLine(created_by)) },
];

/** With a + where it is not of all rollouts. */
const listedCost = (cost: KnownCost | undefined): string =>
  cost === undefined ? "-" : `${dollarsText(cost.total_usd)}${(cost.unpriced_rollouts ?? 0) > 0 ? "+" : ""}`;

/** Of the most attempts. */
function lastRate(rates: Readonly<Record<string, number>>): string {
  const [k, rate] = Object.entries(rates).at(-1) ?? [];
  return k === undefined || rate === undefined ? "-" : `${k}=${rate.toFixed(3)}`;
}

function lastInterval(rates: Readonly<Record<string, number>>, intervals: PassIntervals): string {
  const interval = intervals[Object.keys(rates).at(-1) ?? ""];
  return interval ? intervalText(interval) : "-";
}

/** `now`: Unix milliseconds. `folderOf`: where the results of a run are on this machine. */
export function listLines(page: EvaluationPage, width: number, now: number, folderOf: (runId: string) => string | null = () => null): readonly string[] {
  let lines = tableLines(page, width, now, []);
  const [first] = page.evaluations;
  if (first === undefined) return lines;
  const folders = new Map(page.evaluations.map(({ evaluation_id }) => [evaluation_id, folderOf(evaluation_id)]));
  const facts: Fact[] = [];
  for (const { fact, ...column } of FACTS) {
    const cells = page.evaluations.map((run) => fact(run, folders.get(run.evaluation_id) ?? null));
    if (cells.every((cell) => cell === "-")) continue;
    const wider = tableLines(page, Number.POSITIVE_INFINITY, now, [...facts, { column, cells }]);
    if (wider.some((line) => textWidth(line) > width)) break;
    facts.push({ column, cells });
    lines = wider;
  }
  return lines;
}

interface Fact {
  readonly column: Column;
  readonly cells: readonly string[];
}

function tableLines({ evaluations }: EvaluationPage, width: number, now: number, facts: readonly Fact[]): readonly string[] {
  if (evaluations.length === 0) return [];
  const columns = [
    { title: "RUN" },
    { title: "ENVIRONMENT", flexible: true },
    ...(evaluations.some((run) => ownName(run) !== "") ? [{ title: "NAME" }] : []),
    { title: "MODEL", flexible: true },
    { title: "STATUS" },
    { title: "ROLLOUTS", align: "right" },
    { title: "REWARD", align: "right" },
    { title: "AGE", align: "right" },
    ...facts.map(({ column }) => column),
  ] as const satisfies readonly Column[];
  const named = columns.some(({ title }) => title === "NAME");
  const rows = evaluations.map((run, index) => {
    const { evaluation_id, metadata, created_at, edgewise } = run;
    const { done_rollouts, total_rollouts, reward } = edgewise;
    const rollouts = total_rollouts === 0 ? "-" : `${done_rollouts}/${total_rollouts}`;
    const seconds = Math.floor((now - Date.parse(created_at)) / 1000);
    const age = seconds < 1 ? "0s" : formatSeconds(seconds);
    const names = [metadata.env_id, ...(named ? [ownName(run)] : []), metadata.model];
    return [
      evaluation_id,
      ...names,
      statusOf(run),
      rollouts,
      reward === null || isNothingScored(done_rollouts, edgewise.errored_rollouts) ? "-" : reward.toFixed(3),
      age.split(" ")[0] ?? "",
      ...facts.map(({ cells }) => cells[index] ?? "-"),
    ];
  });
  return columnLines(columns, rows, width);
}

/** Columns of a name: it is there to tell runs apart, so that others are cut first. */
const NAME = 40;

/** What it was called, or what tells it from the others of its sweep; empty where nothing does. */
function ownName({ name = "", metadata: { env_id, model } }: ListedEvaluation): string {
  if (name === `${env_id}-${model}`) return "";
  return cutTo(singleLine(name.startsWith(`${env_id} `) ? name.slice(env_id.length + 1) : name), NAME);
}

/** A run that waits, for a resume or for its code, does not look like one that works. */
export const statusOf = ({ status, edgewise }: Pick<ListedEvaluation, "status"> & { readonly edgewise: Waits }): string =>
  edgewise.suspended
    ? "SUSPENDED"
    : edgewise.paused
      ? "PAUSED"
      : edgewise.waiting === true
        ? "WAITING"
        : edgewise.stopped_early && status === "COMPLETED"
          ? "COMPLETED (early)"
          : status;

type Waits = Pick<ListedEvaluation["edgewise"], "suspended" | "waiting"> & { readonly paused?: unknown; readonly stopped_early?: unknown };

/** What this page does not show, and how to see it; null when it shows all. */
export function restLine({ evaluations, total }: EvaluationPage, { num, page, filters }: ListOptions): string | null {
  const { environment_name, tag, created_by } = filters;
  const filter = [
    ...(environment_name === undefined ? [] : [` of ${environment_name}`]),
    ...(tag === undefined ? [] : [` tagged ${tag}`]),
    ...(created_by === undefined ? [] : [` by ${created_by}`]),
  ].join("");
  if (total === 0) return `There are no runs${filter}.`;
  if (evaluations.length === 0) return `There are ${total} runs${filter}; page ${page} lies behind the last one.`;
  return total > page * num ? `Page ${page} of ${Math.ceil(total / num)} (${total} runs${filter}). The next one: -p ${page + 1}` : null;
}
