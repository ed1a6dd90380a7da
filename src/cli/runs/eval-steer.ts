/** `edgewise eval pause ID`, `eval continue ID` and `eval set ID`: a run that works. */
import type { SteeredSettings } from "../../config/plan/steered.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { ServiceError } from "../connection/http-client.ts";
import type { CommandContext } from "../service/command-context.ts";
import type { Service } from "../service/service.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { aboutRun, askService, mustBeRunId, type Output } from "./ask-service.ts";

export interface SteerWish {
  readonly runId: string;
  readonly output: Output;
}

/** An answer about a run that works; one that does not is told with what to do instead. */
async function steered<T>(context: CommandContext, command: string, named: string, ask: (service: Service, runId: string) => Promise<T>): Promise<T> {
  const runId = mustBeRunId(named);
  return askService(context, command, (service) =>
    aboutRun(runId, service, ask(service, runId)).catch((error: unknown) => {
      if (!(error instanceof ServiceError) || error.code !== "illegal_transition") throw error;
      throw new CliError(error.message, { hints: [error.hint ?? `See what it left: npx edgewise eval get ${runId}`], cause: error });
    }),
  );
}

export async function evalPause(context: CommandContext, { runId, output }: SteerWish): Promise<ExitCode> {
  const answer = await steered(context, "edgewise eval pause", runId, ({ client }, id) => client.pauseRun(id));
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else context.terminal.print(`Run ${runId} is paused: what is in progress is finished first. It goes on with: npx edgewise eval continue ${runId}`);
  return EXIT.completed;
}

export async function evalContinue(context: CommandContext, { runId, output }: SteerWish): Promise<ExitCode> {
  const answer = await steered(context, "edgewise eval continue", runId, ({ client }, id) => client.continueRun(id));
  context.terminal.print(output === "json" ? printableJson(answer, 2) : `Run ${runId} goes on.`);
  return EXIT.completed;
}

export async function evalSet(context: CommandContext, { runId, output, settings }: SteerWish & { readonly settings: SteeredSettings }): Promise<ExitCode> {
  const { terminal } = context;
  const answer = await steered(context, "edgewise eval set", runId, ({ client }, id) => client.setRun(id, settings));
  if (output === "json") {
    terminal.print(printableJson(answer, 2));
    return EXIT.completed;
  }
  for (const warning of answer.warnings) terminal.tell(`warning: ${singleLine(warning)}`);
  const now = Object.keys(settings).map((name) => `${name} ${answer.settings[name] ?? "none"}`);
  terminal.print(`Run ${runId} goes on with ${now.join(", ")}.`);
  return EXIT.completed;
}
