import { Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext } from "../../service/command-context.ts";
import type { ExitCode } from "../../terminal/cli-error.ts";
import { acceptedOption, clusterOption, type ReportForm, reportOption, unpairedOption } from "./comparison-flags.ts";

interface Flags {
  readonly metric?: readonly string[];
  readonly show: number;
  readonly clusterBy?: string;
  readonly unpaired: boolean;
  readonly acceptCodeChange: boolean;
  readonly output: ReportForm;
}

/** Examples that may be asked for: each is two transcripts. */
const MOST_SHOWN = 100;

/** `compare A B [C…]`. */
export function compareCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const command = new Command("compare")
    .description("hold runs against a baseline, example by example: difference, interval, p value, and where they differ")
    .argument("<run...>", "run ids, results folders (also those of Python's verifiers, and of exports), and names of baselines; the first is the baseline")
    .addOption(
      new Option("--metric <NAME>", "compare the reward and this metric only; may be given again").argParser((name: string, before: readonly string[] = []) => [
        ...before,
        name,
      ]),
    )
    .addOption(new Option("--show <N>", "name the examples that lost and gained most, with both transcripts of those that lost").default(0).argParser(countOf))
    .addOption(clusterOption())
    .addOption(unpairedOption())
    .addOption(acceptedOption())
    .addOption(reportOption());
  command.addHelpText(
    "after",
    `
Examples are joined by what they ask and by their ids, never by the order of rows. Rollouts that ended in an error have no score.
Exit codes: 0 compared, 1 a run could not be read, 2 usage, or runs that are not comparable.`,
  );
  return command.action(async (named: readonly string[], { metric, show, clusterBy, unpaired, acceptCodeChange, output }: Flags) => {
    const { compare } = await import("../../comparison/compare.ts");
    done(await compare(context, { named, metrics: metric ?? null, shown: show, clusterBy, unpaired, accepted: acceptCodeChange, output }));
  });
}

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= 0 && count <= MOST_SHOWN) return count;
  throw new InvalidArgumentError(`must be a whole number from 0 to ${MOST_SHOWN}`);
}
