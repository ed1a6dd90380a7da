/** `edgewise eval list`: runs of the service, the newest first. */
import { type Column, columnLines } from "../../report/columns.ts";
import { formatSeconds } from "../../report/format.ts";
import { printableJson, singleLine } from "../../report/printable.ts";
import { cutTo } from "../../report/text-width.ts";
import type { EvaluationPage, ListedEvaluation } from "../connection/api-types.ts";
import { askService, type Output } from "./ask-service.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";

export interface ListOptions {
  /** Runs on a page. */
  readonly num: number;
  /** From 1. */
  readonly page: number;
  /** `gsm8k` or `owner/gsm8k`; null = all. */
  readonly environment: string | null;
  readonly output: Output;
}

export async function evalList(context: CommandContext, options: ListOptions): Promise<ExitCode> {
  const { terminal } = context;
  const { num, page, environment, output } = options;
  const answer = await askService(context, "edgewise eval list", ({ client }) => client.runs((page - 1) * num, num, environment));
  if (output === "json") terminal.print(printableJson(answer, 2));
  else for (const line of listLines(answer, terminal.columns, Date.now())) terminal.print(line);
  const rest = restLine(answer, options);
  if (output === "table" && rest !== null) terminal.tell(rest);
  return EXIT.completed;
}

/** `now`: Unix milliseconds. */
export function listLines({ evaluations }: EvaluationPage, width: number, now: number): readonly string[] {
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
  ] as const satisfies readonly Column[];
  const named = columns.some(({ title }) => title === "NAME");
  const rows = evaluations.map((run) => {
    const { evaluation_id, metadata, created_at, edgewise } = run;
    const { done_rollouts, total_rollouts, reward } = edgewise;
    const rollouts = total_rollouts === 0 ? "-" : `${done_rollouts}/${total_rollouts}`;
    const age = formatSeconds(Math.max(0, Math.floor((now - Date.parse(created_at)) / 1000)));
    const names = [metadata.env_id, ...(named ? [ownName(run)] : []), metadata.model];
    return [evaluation_id, ...names, statusOf(run), rollouts, reward === null ? "-" : reward.toFixed(3), age.split(" ")[0] ?? ""];
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

/** A run that waits for a resume does not look like one that works. */
export const statusOf = ({ status, edgewise }: Pick<ListedEvaluation, "status"> & { readonly edgewise: { readonly suspended: boolean } }): string =>
  edgewise.suspended ? "SUSPENDED" : status;

/** What this page does not show, and how to see it; null when it shows all. */
export function restLine({ evaluations, total }: EvaluationPage, { num, page, environment }: ListOptions): string | null {
  const filter = environment === null ? "" : ` of ${environment}`;
  if (total === 0) return `There are no runs${filter}.`;
  if (evaluations.length === 0) return `There are ${total} runs${filter}; page ${page} lies behind the last one.`;
  return total > page * num ? `Page ${page} of ${Math.ceil(total / num)} (${total} runs${filter}). The next one: -p ${page + 1}` : null;
}
