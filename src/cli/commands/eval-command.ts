import { resolve } from "node:path";
import { Command } from "commander";
import type { ExitCode } from "../terminal/cli-error.ts";
import { addFlags, givenOptions } from "../command-line/flags.ts";
import type { CommandContext } from "../service/command-context.ts";
import { reportCommand } from "./export-command.ts";
import { runCommands } from "./run-commands.ts";
import { isFolder, tryCommand } from "./try-command.ts";
import { viewCommand } from "./view-command.ts";

/** `eval run ENV` (also `eval ENV`), and the commands about runs that exist. */
export function evalCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const evaluation = new Command("eval").description("run evaluations, look at them, stop them");
  const run = evaluation
    .command("run", { isDefault: true })
    .description("run an evaluation and write its results folder; `edgewise eval ENV` is the same")
    .argument(
      "<env>",
      "environment: its id, such as gsm8k, or the path of your own, such as ./my-env.ts, or of a benchmark's folder; several with commas; or a config file, such as evals.toml",
    );
  addFlags(run);
  run.addHelpText(
    "after",
    `
Service: EDGEWISE_URL (with EDGEWISE_TOKEN) names a deployed one; without it the service runs in this process and keeps its
state in .edgewise, or where EDGEWISE_STATE_DIR says. Keys are read from the environment and from .dev.vars.
Ctrl-C suspends a run of this machine until it is resumed (-R); a run elsewhere goes on, and is only followed no longer.
Exit codes: 0 completed, 1 failed, timed out or cancelled, 2 usage,
3 completed with rollouts that infrastructure ended and -R makes again, 5 nobody agreed to the forecast, 130 interrupted.`,
  );
  run.action(async (named: string) => {
    const [{ evalRun }, { evalWishes }, { hostedRun }, { linkedNames }] = await Promise.all([
      import("../eval-run/eval-run.ts"),
      import("../eval-run/wish/eval-wishes.ts"),
      import("../eval-run/start/hosted.ts"),
      import("../links/links.ts"),
    ]);
    const typed = givenOptions(run, (path) => isFolder(resolve(context.cwd, path)));
    const { warnings, ...wishes } = await evalWishes(named, typed, { ...context, linkedNames: () => linkedNames(context) });
    for (const warning of warnings) context.terminal.tell(`warning: ${warning}`);
    const command = { ...context, ...wishes };
    done(await (typed.hosted === true && typed.follow !== true ? hostedRun(command) : evalRun(command)));
  });
  for (const command of [tryCommand(context, done), ...runCommands(context, done), reportCommand(context, done), viewCommand(context, done)])
    evaluation.addCommand(command);
  return evaluation;
}
