/** `evaluator`: evaluations from a training loop. */
import { Command, Option } from "commander";
import type { Output } from "../../runs/ask-service.ts";
import type { CommandContext } from "../../service/command-context.ts";
import { type ExitCode, usageError } from "../../terminal/cli-error.ts";
import { outputOption, slugOf } from "../shared-flags.ts";

interface Flags {
  readonly team?: string;
  readonly output: Output;
}

const teamOption = (): Option => new Option("--team <TEAM>", "of this team").argParser(slugOf("--team"));
const sinkOption = (): Option =>
  new Option("--sink <FILE>", "write its points to this file, a line of JSON each; one that is there goes on with what it lacks");

function stepOf(text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw usageError(`--step: ${JSON.stringify(text)} must be a whole number, 0 or more: steps count from 0`);
}

export function evaluatorCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const evaluator = new Command("evaluator").description("evaluations from a training loop: steps are posted, and those that are due make runs");
  const sub = (name: string, description: string): Command => evaluator.command(name).description(description).addOption(teamOption());
  sub("put", "make the evaluator of this name, as a file says it ([[evaluator]]), or give it another definition")
    .argument("<name>", "the evaluator")
    .argument("<file>", "such as evaluators.toml")
    .addOption(outputOption())
    .action(async (name: string, file: string, flags: Flags) => {
      const { evaluatorPut } = await import("../../evaluators/apply.ts");
      done(await evaluatorPut(context, { file, name, ...flags }));
    });
  sub("apply", "make, change or keep all evaluators of a file ([[evaluator]]), show what changes; the same file once more changes nothing")
    .argument("<file>", "such as evaluators.toml")
    .option("--prune", "delete evaluators that the file does not have; their runs stay", false)
    .option("--dry-run", "show what would change, and change nothing", false)
    .addOption(outputOption())
    .action(async (file: string, flags: Flags & { prune: boolean; dryRun: boolean }) => {
      const { evaluatorApply } = await import("../../evaluators/apply.ts");
      done(await evaluatorApply(context, { file, ...flags }));
    });
  sub("run", "post a step, as a trainer does: what is due at it is evaluated, once")
    .argument("<name>", "the evaluator")
    .addOption(new Option("--step <N>", "counted from 0; it is reported as N + 1").argParser(stepOf).makeOptionMandatory())
    .requiredOption("-m, --model <MODEL>", "what the checkpoint is called where it is served")
    .option("-b, --api-base-url <URL>", "where it is served, where that is not as the definition says")
    .option("-k, --api-key-var <NAME>", "secret or variable that holds the key there")
    .option("--final", "training is over: evaluations without a cadence are due, and no others", false)
    .option("--now", "every evaluation is due, whatever its cadence, also while the evaluator is paused", false)
    .addOption(outputOption())
    .action(async (name: string, flags: Flags & { step: number; model: string; apiBaseUrl?: string; apiKeyVar?: string; final: boolean; now: boolean }) => {
      const { evaluatorRun } = await import("../../evaluators/evaluators.ts");
      const { apiBaseUrl: baseUrl, apiKeyVar: keyVar, ...others } = flags;
      done(await evaluatorRun(context, { name, baseUrl, keyVar, ...others }));
    });
  sub("pause", "steps that are posted are passed over until it is resumed")
    .argument("<name>", "the evaluator")
    .option("--reason <TEXT>", "why, for others")
    .addOption(outputOption())
    .action(async (name: string, flags: Flags & { reason?: string }) => {
      const { evaluatorPause } = await import("../../evaluators/evaluators.ts");
      done(await evaluatorPause(context, { name, ...flags }));
    });
  sub("resume", "go on with a paused evaluator")
    .argument("<name>", "the evaluator")
    .addOption(outputOption())
    .action(async (name: string, flags: Flags) => {
      const { evaluatorResume } = await import("../../evaluators/evaluators.ts");
      done(await evaluatorResume(context, { name, ...flags }));
    });
  sub("list", "show the evaluators of a team")
    .alias("ls")
    .addOption(outputOption())
    .action(async (flags: Flags) => {
      const { evaluatorList } = await import("../../evaluators/evaluators.ts");
      done(await evaluatorList(context, flags));
    });
  sub("show", "show an evaluator: its metrics by step, the best step, whether to stop")
    .argument("<name>", "the evaluator")
    .addOption(sinkOption())
    .addOption(outputOption())
    .action(async (name: string, flags: Flags & { sink?: string }) => {
      const { evaluatorShow } = await import("../../evaluators/evaluators.ts");
      done(await evaluatorShow(context, { name, ...flags }));
    });
  sub("follow", "write its points as they are known, until it is interrupted")
    .argument("<name>", "the evaluator")
    .addOption(sinkOption())
    .option("--until-idle", "end when nothing is unfinished", false)
    .action(async (name: string, flags: Pick<Flags, "team"> & { sink?: string; untilIdle: boolean }) => {
      const { evaluatorFollow } = await import("../../evaluators/evaluators.ts");
      done(await evaluatorFollow(context, { name, team: flags.team, ...flags }));
    });
  sub("delete", "delete an evaluator and its series; its runs stay")
    .argument("<name>", "the evaluator")
    .addOption(outputOption())
    .action(async (name: string, flags: Flags) => {
      const { evaluatorDelete } = await import("../../evaluators/evaluators.ts");
      done(await evaluatorDelete(context, { name, ...flags }));
    });
  return evaluator;
}
