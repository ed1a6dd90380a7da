import { Command } from "commander";
import { withProvider } from "../../config/providers.ts";
import type { ExitCode } from "../cli-error.ts";
import { addFlags, givenOptions } from "../flags.ts";
import type { CommandContext } from "./context.ts";
import { runCommands } from "./run-commands.ts";

/** `eval run ENV` (also `eval ENV`), and the commands about runs that exist. */
export function evalCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const evaluation = new Command("eval").description("run evaluations, look at them, stop them");
  const run = evaluation
    .command("run", { isDefault: true })
    .description("run an evaluation and write its results folder; `edgewise eval ENV` is the same")
    .argument("<env>", "environment: its id, such as gsm8k, or the path of your own, such as ./my-env.ts");
  addFlags(run);
  run.addHelpText(
    "after",
    `
Service: EDGEWISE_URL (with EDGEWISE_TOKEN) names a deployed one; without it the service runs in this process and keeps its
state in .edgewise, or where EDGEWISE_STATE_DIR says. Keys are read from the environment and from .dev.vars.
Ctrl-C suspends a run of this machine until it is resumed (-R); a run elsewhere goes on, and is only followed no longer.
Exit codes: 0 completed, 1 failed, timed out or cancelled, 2 usage, 130 interrupted.`,
  );
  run.action(async (env: string) => {
    const [{ evalRun }, { wantedEnvironment }] = await Promise.all([import("../eval-run.ts"), import("../environments/local-environments.ts")]);
    const given = withProvider(givenOptions(run));
    done(await evalRun({ ...context, ...(await wantedEnvironment(env, context, given.env_dir_path)), given }));
  });
  for (const command of runCommands(context, done)) evaluation.addCommand(command);
  return evaluation;
}
