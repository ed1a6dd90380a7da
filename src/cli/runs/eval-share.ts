/** `edgewise eval share ID` and `eval unshare ID`. */
import { printableJson, singleLine } from "../../report/text/printable.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { aboutRun, askService, mustBeRunId, type Output } from "./ask-service.ts";

interface Link {
  readonly is_public: boolean;
  readonly link: string | null;
}

/** `shared`: a new link is made, and a former one ends; else there is none from now on. */
export async function evalShare(
  context: CommandContext,
  options: { readonly runId: string; readonly shared: boolean; readonly output: Output },
): Promise<ExitCode> {
  const { terminal } = context;
  const runId = mustBeRunId(options.runId);
  const [command, method] = options.shared ? ["edgewise eval share", "PUT"] : ["edgewise eval unshare", "DELETE"];
  const answer = await askService(context, command, (service) =>
    aboutRun(runId, service, service.client.json<Link>(method, `/evaluations/${runId}/link`, options.shared ? { body: {} } : {})),
  );
  if (options.output === "json") terminal.print(printableJson(answer, 2));
  else if (answer.link === null) terminal.print(`Run ${runId} is read by its team alone; a link that there was leads nowhere.`);
  else {
    // The link alone on what may go into a file or another command.
    terminal.print(singleLine(answer.link));
    terminal.tell(
      `Whoever has this link reads run ${runId}: its page, samples and files, and nothing else. It is shown this once; to take it back: npx edgewise eval unshare ${runId}`,
    );
  }
  return EXIT.completed;
}
