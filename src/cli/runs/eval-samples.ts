/** `edgewise eval samples ID`: rows of a run, also of one that goes on. */
import { columnLines } from "../../report/text/columns.ts";
import { exampleOf } from "../../report/statistics/example-table.ts";
import { printableJson } from "../../report/text/printable.ts";
import type { SamplePage } from "../connection/api-types.ts";
import { ServiceError } from "../connection/http-client.ts";
import { aboutRun, askService, mustBeRunId, type Output } from "./ask-service.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";

export interface SamplesOptions {
  readonly runId: string;
  /** Rows on a page. */
  readonly num: number;
  /** From 1. */
  readonly page: number;
  readonly output: Output;
  /** Also with JSON, which others read: rollouts of examples that are not complete, which count nowhere yet. */
  readonly open: boolean;
}

export async function evalSamples(context: CommandContext, options: SamplesOptions): Promise<ExitCode> {
  const { terminal } = context;
  const { num, page, output } = options;
  const open = options.open || output !== "json";
  const runId = mustBeRunId(options.runId);
  const answer = await askService(context, "edgewise eval samples", (service) => {
    const { client } = service;
    const asked = client.samples(runId, page, num, open);
    // A service of before knows no open rollouts, and refuses the question.
    const isUnknown = (thrown: unknown): boolean => thrown instanceof ServiceError && thrown.status === 422 && open && !options.open;
    return aboutRun(
      runId,
      service,
      asked.catch((thrown: unknown) => (isUnknown(thrown) ? client.samples(runId, page, num) : Promise.reject(thrown))),
    );
  });
  if (output === "json") terminal.print(printableJson(answer, 2));
  else {
    for (const line of sampleLines(answer, terminal.columns)) terminal.print(line);
    const rest = restLine(answer, options);
    if (rest !== null) terminal.tell(rest);
  }
  return EXIT.completed;
}

/** One line per row: the last message of the prompt, and what came of it. */
export function sampleLines({ samples }: SamplePage, width: number): readonly string[] {
  if (samples.length === 0) return [];
  const failed = samples.some(({ error }) => error !== null && error !== undefined);
  const open = samples.some((row) => row.open === true);
  const columns = [
    { title: "EXAMPLE", align: "right" },
    { title: "ROLLOUT", align: "right" },
    { title: "REWARD", align: "right" },
    ...(open ? [{ title: "STATE" }] : []),
    ...(failed ? [{ title: "ERROR" }] : []),
    { title: "PROMPT", flexible: true },
    { title: "COMPLETION", flexible: true },
  ] as const;
  const rows = samples.map((row) => {
    const { example_id, rollout_index, reward, error, prompt } = row;
    const { prompt: asked, completion } = exampleOf({ prompt: Array.isArray(prompt) ? prompt.slice(-1) : prompt, completion: row.completion }, 0);
    const number = (value: unknown): string => (typeof value === "number" ? String(value) : "-");
    const cells = [number(example_id), number(rollout_index), typeof reward === "number" ? reward.toFixed(3) : "-"];
    return [...cells, ...(open ? [row.open === true ? "open" : ""] : []), ...(failed ? [errorText(error)] : []), asked, completion];
  });
  return columnLines(columns, rows, width);
}

/** The code of ours, or the class of a row that Python wrote. */
function errorText(error: unknown): string {
  if (error === null || error === undefined) return "";
  const { code, error: name } = error as { code?: unknown; error?: unknown };
  return typeof code === "string" ? code : typeof name === "string" ? name : String(error);
}

function restLine({ samples, total, has_more, open = 0 }: SamplePage, { num, page }: SamplesOptions): string | null {
  if (total === 0) return "No rollout has finished.";
  if (samples.length === 0) return `There are ${total} rows; page ${page} lies behind the last one.`;
  const rest = has_more ? `Page ${page} of ${Math.ceil(total / num)} (${total} rows). The next one: -p ${page + 1}` : null;
  const unfinished = open === 0 ? null : `${open} ${open === 1 ? "row is" : "rows are"} open: no number counts them before their examples are complete.`;
  return unfinished === null ? rest : [unfinished, ...(rest === null ? [] : [rest])].join(" ");
}
