/** `edgewise eval stop ID`. */
import { printableJson } from "../../report/text/printable.ts";
import { aboutRun, askService, mustBeRunId, type Output } from "./ask-service.ts";
import { ServiceError } from "../connection/http-client.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";

export async function evalStop(context: CommandContext, options: { readonly runId: string; readonly output: Output }): Promise<ExitCode> {
  const { terminal } = context;
  const runId = mustBeRunId(options.runId);
  const { answer, run, role } = await askService(context, "edgewise eval stop", async (service) => {
    const answer = await aboutRun(runId, service, service.client.cancelRun(runId)).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.code !== "illegal_transition") throw error;
      throw new CliError(error.message, { hints: [`See what it left: npx edgewise eval get ${runId}`], cause: error });
    });
    return { answer, run: await service.client.run(runId), role: service.role };
  });
  if (options.output === "json") terminal.print(printableJson(answer, 2));
  else if (run.edgewise.settled) terminal.print(`Run ${runId} is cancelled.`);
  else if (role !== "owner") terminal.print(`Run ${runId} is cancelled: what is in progress is finished, nothing new is begun.`);
  // Nothing was in progress where this command had to start the service.
  else terminal.print(`Run ${runId} is cancelled; its files are written when a service of this folder works again.`);
  return EXIT.completed;
}
