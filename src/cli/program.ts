/** The commands and their flags. Everything heavy is imported by the command that needs it, so that help and usage errors are instant. */
import { Command, CommanderError } from "commander";
import { VERSION } from "../version.ts";
import { CliError, EXIT, type ExitCode } from "./terminal/cli-error.ts";
import type { CommandContext } from "./service/command-context.ts";
import { alertCommand } from "./commands/serving/alert-command.ts";
import { baselineCommand } from "./commands/comparison/baseline-command.ts";
import { compareCommand } from "./commands/comparison/compare-command.ts";
import { datasetCommand } from "./commands/dataset-command.ts";
import { endpointCommand } from "./commands/endpoint-command.ts";
import { envCommand } from "./commands/env-command.ts";
import { evalCommand } from "./commands/eval-command.ts";
import { exportCommand, verifyCommand } from "./commands/export-command.ts";
import { gateCommand } from "./commands/comparison/gate-command.ts";
import { importCommand } from "./commands/import-command.ts";
import { auditCommand, teamCommand, tokenCommand } from "./commands/people-commands.ts";
import { openCommand } from "./commands/open-command.ts";
import { planCommand } from "./commands/comparison/plan-command.ts";
import { budgetCommand } from "./commands/budget-command.ts";
import { cacheCommand } from "./commands/cache-command.ts";
import { limitsCommand } from "./commands/limits-command.ts";
import { pruneCommand } from "./commands/prune-command.ts";
import { rescoreCommand } from "./commands/rescore-command.ts";
import { secretCommand } from "./commands/secret-commands.ts";
import { monitorCommand } from "./commands/serving/monitor-command.ts";
import { evaluatorCommand } from "./commands/serving/evaluator-command.ts";
import { scheduleCommand } from "./commands/serving/schedule-command.ts";
import { serveCommand } from "./commands/serving/serve-command.ts";
import { pushCommand } from "./push/command.ts";
import { reportError } from "./terminal/terminal.ts";

/** Runs one command line (without the program's own name) and gives its exit code. Does not throw. */
export async function runCommandLine(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  let code: ExitCode = EXIT.completed;
  const done = (ended: ExitCode): void => {
    code = ended;
  };
  const program = new Command("edgewise").description("Evaluate language models: runs that survive any crash and end in verifiers-compatible files.");
  program.version(VERSION, "-V, --version");
  // Behind a command --version is that command's own.
  program.enablePositionalOptions();
  for (const make of [
    evalCommand,
    envCommand,
    rescoreCommand,
    compareCommand,
    gateCommand,
    planCommand,
    baselineCommand,
    exportCommand,
    verifyCommand,
    pushCommand,
    importCommand,
    serveCommand,
    openCommand,
    datasetCommand,
    endpointCommand,
    limitsCommand,
    budgetCommand,
    cacheCommand,
    scheduleCommand,
    evaluatorCommand,
    monitorCommand,
    alertCommand,
    secretCommand,
    tokenCommand,
    teamCommand,
    auditCommand,
    pruneCommand,
  ])
    program.addCommand(make(context, done));
  let refusing = program;
  prepare(program, context, (command) => {
    refusing = command;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, context.terminal);
    if (error.exitCode === 0) return EXIT.completed;
    // `edgewise eval` alone is `eval run` without its environment to the parser, and a question to whoever types it.
    if (error.code === "commander.missingArgument" && args.length === 1) refusing.parent?.outputHelp({ error: true });
    return reportError(commanderFailure(error, commandName(refusing)), context.terminal);
  }
}

/** Every command throws instead of ending the process, after `refuse` was told which one does, and prints through the terminal. */
function prepare(command: Command, context: CommandContext, refuse: (command: Command) => void): void {
  command.exitOverride((error) => {
    refuse(command);
    throw error;
  });
  command.configureOutput({
    writeOut: (text) => context.terminal.print(text.replace(/\n$/, "")),
    // Errors are printed once, by reportError; this also receives help that is shown for want of a command.
    writeErr: (text) => {
      if (!text.startsWith("error:")) context.terminal.tell(text.replace(/\n$/, ""));
    },
  });
  for (const child of command.commands) prepare(child, context, refuse);
}

/** As it is typed, such as `edgewise eval run`. */
function commandName(command: Command): string {
  return command.parent === null ? command.name() : `${commandName(command.parent)} ${command.name()}`;
}

function commanderFailure(error: CommanderError, command: string): CliError {
  // Help was printed for want of a command.
  const message = error.code === "commander.help" ? "no command was given" : error.message.replace(/^error: /, "");
  const [first = "", ...rest] = message.split("\n");
  return new CliError(first, { exitCode: EXIT.usage, hints: [...rest, `Type \`npx ${command} --help\` for what there is.`] });
}
