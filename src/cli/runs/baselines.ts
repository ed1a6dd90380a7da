/** `edgewise baseline set | list | delete`: runs that others are held against, by name. */
import { BASELINE_RULE, isBaselineName } from "../../config/baseline-name.ts";
import { columnLines } from "../../report/text/columns.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { type ServiceClient, ServiceError } from "../connection/http-client.ts";
import { namedPath } from "../connection/named-path.ts";
import type { CommandContext } from "../service/command-context.ts";
import { CliError, EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { askService, mustBeRunId, type Output } from "./ask-service.ts";

interface Wish {
  readonly team?: string | undefined;
  readonly output: Output;
}

/** As the service tells it. */
interface Baseline {
  readonly name: string;
  readonly run_id: string;
  readonly updated_at: string;
  readonly updated_by: string;
}

const pathOf = namedPath("baselines");

export async function baselineSet(
  context: CommandContext,
  { name, run, team, output }: Wish & { readonly name: string; readonly run: string },
): Promise<ExitCode> {
  if (!isBaselineName(name)) throw usageError(`${JSON.stringify(name)} is no name of a baseline: it ${BASELINE_RULE}`);
  const body = { run_id: mustBeRunId(run) };
  const answer = await askService(context, "edgewise baseline set", ({ client }) =>
    client.json<{ data: Baseline }>("PUT", pathOf(name, team), { body, retries: 2 }),
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else
    context.terminal.print(
      `${singleLine(answer.data.name)} is run ${singleLine(answer.data.run_id)}: npx edgewise gate RUN --baseline ${singleLine(answer.data.name)} --max-drop 0.02`,
    );
  return EXIT.completed;
}

export async function baselineList(context: CommandContext, { team, output }: Wish): Promise<ExitCode> {
  const answer = await askService(context, "edgewise baseline list", ({ client }) =>
    client.json<{ data: readonly Baseline[] }>("GET", pathOf(null, team), { retries: 2 }),
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else if (answer.data.length === 0) context.terminal.tell("There are no baselines. One is set by `npx edgewise baseline set NAME RUN`.");
  else {
    const columns = [{ title: "BASELINE" }, { title: "RUN" }, { title: "SINCE" }, { title: "BY" }];
    const rows = answer.data.map(({ name, run_id, updated_at, updated_by }) => [name, run_id, updated_at, updated_by]);
    for (const line of columnLines(columns, rows, context.terminal.columns)) context.terminal.print(line);
  }
  return EXIT.completed;
}

export async function baselineDelete(context: CommandContext, { name, team, output }: Wish & { readonly name: string }): Promise<ExitCode> {
  const answer = await askService(context, "edgewise baseline delete", ({ client }) => client.json<{ message: string }>("DELETE", pathOf(name, team)));
  context.terminal.print(output === "json" ? printableJson(answer, 2) : singleLine(answer.message));
  return EXIT.completed;
}

/** The run that has this name. Throws a `CliError` where the service knows none. */
export async function runOfBaseline(client: ServiceClient, name: string): Promise<string> {
  try {
    return (await client.json<{ data: Baseline }>("GET", pathOf(name, undefined), { retries: 2 })).data.run_id;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
    throw new CliError(`${JSON.stringify(name)} is neither a run id, nor a folder that is there, nor a baseline of the service`, {
      exitCode: EXIT.usage,
      hints: ["Runs: npx edgewise eval list. Baselines: npx edgewise baseline list. Results folders: npx edgewise eval view"],
    });
  }
}
