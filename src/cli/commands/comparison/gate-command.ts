import { Command, Option } from "commander";
import type { CommandContext } from "../../service/command-context.ts";
import type { ExitCode } from "../../terminal/cli-error.ts";
import { acceptedOption, alphaOption, clusterOption, numberWithin, type ReportForm, reportOption, unpairedOption } from "./comparison-flags.ts";

interface Flags {
  readonly baseline?: string;
  readonly maxDrop?: number;
  readonly min?: number;
  readonly metric?: string;
  readonly alpha: number;
  readonly summary?: string;
  readonly clusterBy?: string;
  readonly unpaired: boolean;
  readonly acceptCodeChange: boolean;
  readonly output: ReportForm;
}

/** `gate RUN|FOLDER`. */
export function gateCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const command = new Command("gate")
    .description("decide whether a run is good enough: no worse than a baseline, or above a number; pass, fail, or undecided")
    .argument("<run>", "run id, results folder (also one of Python's verifiers) or export")
    .addOption(new Option("--baseline <RUN>", "run id, results folder or name (`baseline set`) of what it is held against"))
    .addOption(
      new Option("--max-drop <AMOUNT>", "fail where the mean is surely lower than the baseline's by more than this, such as 0.02").argParser(
        numberWithin("from 0 on", (value) => value >= 0),
      ),
    )
    .addOption(new Option("--min <VALUE>", "fail where the mean is surely below this, such as 0.8").argParser(numberWithin("of any size", () => true)))
    .addOption(new Option("--metric <NAME>", "the metric that is bounded (default: the reward)"))
    .addOption(alphaOption("chance of a wrong answer that is accepted: the interval at 1 - alpha decides"))
    .addOption(new Option("--summary <FILE>", "also write the result to this file, as Markdown"))
    .addOption(clusterOption())
    .addOption(unpairedOption())
    .addOption(acceptedOption())
    .addOption(reportOption());
  command.addHelpText(
    "after",
    `
The interval of the difference, example by example, decides: pass where all of it is within the bound, fail where none of it is, else undecided, with what deciding would cost.
Where GITHUB_STEP_SUMMARY is set, the Markdown is appended there.
Exit codes: 0 pass, 4 fail, 3 undecided, 1 a run could not be read, 2 usage, or runs that are not comparable.`,
  );
  return command.action(async (run: string, { baseline, maxDrop, min, metric, alpha, summary, clusterBy, unpaired, acceptCodeChange, output }: Flags) => {
    const { gate } = await import("../../comparison/gate.ts");
    done(
      await gate(context, {
        run,
        baseline: baseline ?? null,
        maxDrop: maxDrop ?? null,
        min: min ?? null,
        metric: metric ?? null,
        alpha,
        summary: summary ?? null,
        clusterBy,
        unpaired,
        accepted: acceptCodeChange,
        output,
      }),
    );
  });
}
