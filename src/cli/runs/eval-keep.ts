/** `edgewise eval keep ID`: a run that is not removed for its age. */
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";
import { aboutRun, askService, mustBeRunId, type Output } from "./ask-service.ts";

export interface KeepWish {
  readonly runId: string;
  readonly kept: boolean;
  readonly output: Output;
}

export async function evalKeep(context: CommandContext, { kept, output, ...wish }: KeepWish): Promise<ExitCode> {
  const { terminal } = context;
  const runId = mustBeRunId(wish.runId);
  const method = kept ? "PUT" : "DELETE";
  const answer = await askService(context, "edgewise eval keep", (service) => {
    const asked = service.client.json<{ readonly message: string }>(method, `/evaluations/${runId}/keep`, { retries: 2, ...(kept ? { body: {} } : {}) });
    return aboutRun(runId, service, asked);
  });
  terminal.print(output === "json" ? printableJson(answer, 2) : singleLine(answer.message));
  return EXIT.completed;
}
