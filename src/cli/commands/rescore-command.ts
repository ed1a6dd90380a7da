import { Command, InvalidArgumentError, Option } from "commander";
import type { OptionName } from "../../config/options/options.ts";
import { RESCORE_OPTIONS, type RescoreOptionName } from "../../config/options/rescore-options.ts";
import { addFlags, givenOptions } from "../command-line/flags.ts";
import type { CommandContext } from "../service/command-context.ts";
import type { ExitCode } from "../terminal/cli-error.ts";

/** Options of `eval run` that mean something where no rollout is made. */
const FLAGS = [
  ...["env_args", "extra_env_kwargs", "env_dir_path", "independent_scoring", "max_concurrent", "max_concurrent_scoring", "priority", "max_cost", "num_workers"],
  ...["timeout_minutes", "output_dir", "no_save", "abbreviated_summary", "cache", "cache_days", "cluster_by", "by", "verbose", "disable_tui"],
] as readonly OptionName[];

interface Flags {
  readonly env?: string;
  readonly rubric?: string;
  readonly errorsOnly?: boolean;
  readonly examples?: "data" | "rows";
}

/** `rescore RUN|FOLDER`. */
export function rescoreCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const command = new Command("rescore")
    .description("score the rollouts of a run again, by the mended or another rubric, as a run of its own: no model is called, only judges are")
    .argument("<run>", "run id, results folder (also one of Python's verifiers, or imported), or export")
    .addOption(new Option("--env <ENV>", "environment that scores: its id, or the path of your own (default: the one that made the rows)"));
  for (const name of Object.keys(RESCORE_OPTIONS) as RescoreOptionName[]) command.addOption(flagOf(name));
  addFlags(command, FLAGS);
  command.addHelpText(
    "after",
    `
The source stays as it is. How both compare: npx edgewise compare SOURCE NEW
Exit codes: 0 completed, 1 failed (also where stored rows do not hold what the scorer reads: the keys are named), 2 usage, 130 interrupted.`,
  );
  return command.action(async (source: string, { env, rubric, errorsOnly, examples }: Flags) => {
    const { rescore } = await import("../rescore/rescore.ts");
    done(
      await rescore(context, {
        source,
        env: env ?? null,
        ...(rubric === undefined ? {} : { rubric }),
        ...(errorsOnly === true ? { errors_only: true } : {}),
        ...(examples === undefined ? {} : { examples }),
        given: givenOptions(command, () => false),
      }),
    );
  });
}

function flagOf(name: RescoreOptionName): Option {
  const { schema, value, help } = RESCORE_OPTIONS[name];
  const flag = `--${name.replaceAll("_", "-")}`;
  if (value === null) return new Option(flag, help);
  return new Option(`${flag} <${value}>`, help).argParser((text: string) => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return parsed.data;
    throw new InvalidArgumentError(parsed.error.issues.map(({ message }) => message).join("; "));
  });
}
