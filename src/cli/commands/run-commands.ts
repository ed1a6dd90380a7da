/** `eval list`, `get`, `samples`, `logs`, `stop`, `pause`, `continue`, `set`, `keep`: commands about runs that exist, with the flags and defaults of the `prime` client. */
import { Command, Option } from "commander";
import { STEERED_FIELDS, type SteeredSettings } from "../../config/plan/steered.ts";
import { addFlags, flagName, givenOptions } from "../command-line/flags.ts";
import type { Output } from "../runs/ask-service.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";

interface Page {
  readonly num: number;
  readonly page: number;
  readonly output: Output;
}

type Done = (code: ExitCode) => void;

export function runCommands(context: CommandContext, done: Done): readonly Command[] {
  return [
    listCommand(context, done),
    getCommand(context, done),
    samplesCommand(context, done),
    logsCommand(context, done),
    stopCommand(context, done),
    pauseCommand(context, done, true),
    pauseCommand(context, done, false),
    setCommand(context, done),
    keepCommand(context, done),
    shareCommand(context, done, true),
    shareCommand(context, done, false),
  ];
}

function listCommand(context: CommandContext, done: Done): Command {
  return new Command("list")
    .alias("ls")
    .description("show the runs of the service, the newest first")
    .addOption(countOption("-n, --num <N>", "runs on a page", 20))
    .addOption(countOption("-p, --page <N>", "page, from 1", 1))
    .addOption(new Option("-e, --env <ENV>", "only runs of this environment, such as gsm8k or owner/gsm8k"))
    .addOption(new Option("--tag <TAG>", "only runs that are tagged with this"))
    .addOption(new Option("--by <USER>", "only runs that this user made"))
    .addOption(outputOption())
    .action(async ({ num, page, env, tag, by, output }: Page & { env?: string; tag?: string; by?: string }) => {
      const { evalList } = await import("../runs/eval-list.ts");
      const filters = {
        ...(env === undefined ? {} : { environment_name: env }),
        ...(tag === undefined ? {} : { tag }),
        ...(by === undefined ? {} : { created_by: by }),
      };
      done(await evalList(context, { num, page, output, filters }));
    });
}

function getCommand(context: CommandContext, done: Done): Command {
  return new Command("get")
    .description("show one run: settings, status, numbers")
    .argument("<id>", "run id")
    .addOption(outputOption())
    .action(async (runId: string, { output }: { output: Output }) => {
      const { evalGet } = await import("../runs/eval-get.ts");
      done(await evalGet(context, { runId, output }));
    });
}

function samplesCommand(context: CommandContext, done: Done): Command {
  return new Command("samples")
    .description("show the rows of a run, sorted by example; also while it goes on")
    .argument("<id>", "run id")
    .addOption(countOption("-n, --num <N>", "rows on a page", 100))
    .addOption(countOption("-p, --page <N>", "page, from 1", 1))
    .option("--open", "with json too: rollouts of examples that are not complete, each with open: true", false)
    .addOption(outputOption("with json whole rows, as in results.jsonl"))
    .action(async (runId: string, { num, page, output, open }: Page & { open: boolean }) => {
      const { evalSamples } = await import("../runs/eval-samples.ts");
      done(await evalSamples(context, { runId, num, page, output, open }));
    });
}

function logsCommand(context: CommandContext, done: Done): Command {
  return new Command("logs")
    .description("show what happened in a run")
    .argument("<id>", "run id")
    .addOption(countOption("-n, --tail <N>", "lines of the past, from the end", 1000))
    .option("-f, --follow", "go on until the run ends; the exit code says how: 0 completed, 1 otherwise", false)
    .addOption(outputOption("with json one object per line"))
    .action(async (runId: string, { tail, follow, output }: { tail: number; follow: boolean; output: Output }) => {
      const { evalLogs } = await import("../runs/eval-logs.ts");
      done(await evalLogs(context, { runId, tail, follow, output }));
    });
}

function stopCommand(context: CommandContext, done: Done): Command {
  return new Command("stop")
    .description("cancel a run: what is in progress is finished, nothing new is begun")
    .argument("<id>", "run id")
    .addOption(outputOption())
    .action(async (runId: string, { output }: { output: Output }) => {
      const { evalStop } = await import("../runs/eval-stop.ts");
      done(await evalStop(context, { runId, output }));
    });
}

function pauseCommand(context: CommandContext, done: Done, pauses: boolean): Command {
  return new Command(pauses ? "pause" : "continue")
    .description(pauses ? "let nothing of a run begin until it is continued: what is in progress is finished or kept" : "go on with a paused run")
    .argument("<id>", "run id")
    .addOption(outputOption())
    .action(async (runId: string, { output }: { output: Output }) => {
      const { evalContinue, evalPause } = await import("../runs/eval-steer.ts");
      done(await (pauses ? evalPause : evalContinue)(context, { runId, output }));
    });
}

function setCommand(context: CommandContext, done: Done): Command {
  const command = new Command("set").description("set how a run that works goes on; what is open stays").argument("<id>", "run id");
  addFlags(command, STEERED_FIELDS);
  return command.addOption(outputOption()).action(async (runId: string, { output }: { output: Output }) => {
    const settings = givenOptions(command, () => false) as SteeredSettings;
    if (Object.keys(settings).length === 0) throw usageError(`set takes at least one of ${STEERED_FIELDS.map(flagName).join(", ")}`);
    const { evalSet } = await import("../runs/eval-steer.ts");
    done(await evalSet(context, { runId, output, settings }));
  });
}

function keepCommand(context: CommandContext, done: Done): Command {
  return new Command("keep")
    .description("keep a run, however old its team lets runs become")
    .argument("<id>", "run id")
    .option("--undo", "let its time go on", false)
    .addOption(outputOption())
    .action(async (runId: string, { undo, output }: { undo: boolean; output: Output }) => {
      const { evalKeep } = await import("../runs/eval-keep.ts");
      done(await evalKeep(context, { runId, kept: !undo, output }));
    });
}

function shareCommand(context: CommandContext, done: Done, shared: boolean): Command {
  return new Command(shared ? "share" : "unshare")
    .description(shared ? "make a link by which anybody reads a run, without a token; a former link ends" : "take the link of a run back")
    .argument("<id>", "run id")
    .addOption(outputOption())
    .action(async (runId: string, { output }: { output: Output }) => {
      const { evalShare } = await import("../runs/eval-share.ts");
      done(await evalShare(context, { runId, shared, output }));
    });
}

const outputOption = (more = "json is the service's answer"): Option =>
  new Option("-o, --output <FORM>", `form of what is printed; ${more}`).choices(["table", "json"]).default("table");

function countOption(flags: string, help: string, usual: number): Option {
  return new Option(flags, help).default(usual).argParser((text) => {
    const number = Number(text);
    if (/^\d{1,9}$/.test(text) && number >= 1) return number;
    throw usageError(`${flags.split(" <")[0]?.replace(", ", "/")}: must be a whole number from 1 on, not ${JSON.stringify(text)}`);
  });
}
