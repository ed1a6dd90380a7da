/** `schedule`: evaluations by the clock. */
import { Command, Option } from "commander";
import type { Option as OptionRow } from "../../../config/options/option.ts";
import { OPTION_NAMES, OPTIONS, type OptionName } from "../../../config/options/options.ts";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { definitionSchema, type GivenDefinition } from "../../../schedules/definition-schema.ts";
import { CATCH_UPS, DATA, OVERLAPS } from "../../../schedules/definition.ts";
import { addFlags, givenOptions } from "../../command-line/flags.ts";
import type { Output } from "../../runs/ask-service.ts";
import type { CommandContext } from "../../service/command-context.ts";
import { type ExitCode, usageError } from "../../terminal/cli-error.ts";
import { outputOption, slugOf } from "../shared-flags.ts";

interface Flags {
  readonly team?: string;
  readonly output: Output;
}

const teamOption = (): Option => new Option("--team <TEAM>", "of this team").argParser(slugOf("--team"));

/** Options of `eval run` that say what is evaluated; those of the terminal and of its folders have no meaning here. */
const ALONE: readonly OptionName[] = ["provider", "max_tokens", "temperature"];
const OF_EVALUATION = OPTION_NAMES.filter((name) => {
  const { http, only, resume }: OptionRow = OPTIONS[name];
  return only === null && name !== "custom_secrets" && (ALONE.includes(name) || http !== null) && !(resume && http === null);
});

/** What `schedule add` says of the schedule itself. */
const TIMES = [
  new Option("--cron <FIELDS>", "five fields, or @hourly, @daily, @weekly, @monthly, @yearly"),
  new Option("--every <SPAN>", "instead of --cron: an interval such as 6h"),
  new Option("--time-zone <ZONE>", "zone of --cron, such as Europe/Berlin (default: UTC)"),
  new Option("--jitter <SPAN>", "begin each up to so much later"),
  new Option("--overlap <POLICY>", "while the run before is at work (default: skip)").choices(OVERLAPS),
  new Option("--catch-up <POLICY>", "of due times that passed while nobody could begin them (default: last)").choices(CATCH_UPS),
  new Option("--until <TIME>", "the last time, such as 2027-01-01T00:00:00Z"),
  new Option("--keep <N>", "settled runs that stay; older ones are deleted").argParser(Number),
  new Option("--data <WHICH>", "pinned: the data of the first run (default); latest: whatever is there then").choices(DATA),
  new Option("--run-name <NAME>", "what its runs are called; {{date}} stands for the day"),
];

/** What its runs are held against: the members of `drift`, by what stands after the first word. */
const DRIFT = [
  new Option("--drift-baseline <NAME>", "what each run is compared with: first (the default: the first runs), none, a baseline or a run id"),
  new Option("--drift-first <N>", "runs of the baseline where it is first (default: 3)").argParser(Number),
  new Option("--drift-metric <NAME>", "what is compared (default: reward)"),
  new Option("--drift-false-alarms <N>", "at most so many in 100 runs, on average, while nothing changes (default: 1)").argParser(Number),
  new Option("--drift-detect <SIZE>", "the size of change to look for (default: a twentieth of what the metric can be)").argParser(Number),
];

export function scheduleCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const schedule = new Command("schedule").description("evaluations by the clock: a run at each due time, by a deployed service or while `serve` runs");
  const add = schedule
    .command("add")
    .description("make a schedule, or give it another definition; shows the next five times")
    .argument("<name>", "what it is called, such as nightly")
    .argument("<env>", "environment: its id, such as gsm8k")
    .addOption(teamOption())
    .addOption(outputOption());
  for (const option of [...TIMES, ...DRIFT]) add.addOption(option);
  addFlags(add, OF_EVALUATION);
  add.action(async (name: string, env: string, flags: Flags & Record<string, unknown>) => {
    const { scheduleAdd } = await import("../../schedules/schedules.ts");
    const drift = namedBy(DRIFT, flags, "drift_");
    const given = givenDefinition({
      ...namedBy(TIMES, flags),
      ...(Object.keys(drift).length === 0 ? {} : { drift }),
      eval: { env_id: env, ...(givenOptions(add, () => false) as JsonObject) },
    });
    done(await scheduleAdd(context, { name, given, team: flags.team, output: flags.output }));
  });
  schedule
    .command("apply")
    .description("make the schedules and alerts of a file ([[schedule]], [[alert]]), show what changes; the same file once more changes nothing")
    .argument("<file>", "such as schedules.toml")
    .option("--prune", "delete schedules and alerts that the file does not have, of the kinds that it speaks of; runs stay", false)
    .option("--dry-run", "show what would change, and change nothing", false)
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (file: string, flags: Flags & { prune: boolean; dryRun: boolean }) => {
      const { scheduleApply } = await import("../../schedules/apply.ts");
      done(await scheduleApply(context, { file, ...flags }));
    });
  schedule
    .command("list")
    .alias("ls")
    .description("show the schedules of a team")
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (flags: Flags) => {
      const { scheduleList } = await import("../../schedules/schedules.ts");
      done(await scheduleList(context, flags));
    });
  const named = (command: string, description: string): Command =>
    schedule.command(command).description(description).argument("<name>", "the schedule").addOption(teamOption()).addOption(outputOption());
  named("get", "show a schedule, its next times, its runs and what happened to it").action(async (name: string, flags: Flags) => {
    const { scheduleGet } = await import("../../schedules/schedules.ts");
    done(await scheduleGet(context, { name, ...flags }));
  });
  named("pause", "nothing is due until it is resumed")
    .option("--reason <TEXT>", "why, for others")
    .action(async (name: string, flags: Flags & { reason?: string }) => {
      const { schedulePause } = await import("../../schedules/schedules.ts");
      done(await schedulePause(context, { name, ...flags }));
    });
  named("resume", "go on with a paused schedule, from now on as you").action(async (name: string, flags: Flags) => {
    const { scheduleResume } = await import("../../schedules/schedules.ts");
    done(await scheduleResume(context, { name, ...flags }));
  });
  named("run", "a run now, beside those of the due times").action(async (name: string, flags: Flags) => {
    const { scheduleRun } = await import("../../schedules/schedules.ts");
    done(await scheduleRun(context, { name, ...flags }));
  });
  schedule
    .command("drift")
    .description("what a series of runs is held against")
    .command("reset")
    .description("begin the comparisons of a schedule anew, with its next run")
    .argument("<name>", "the schedule")
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (name: string, flags: Flags) => {
      const { scheduleDriftReset } = await import("../../schedules/schedules.ts");
      done(await scheduleDriftReset(context, { name, ...flags }));
    });
  named("delete", "delete a schedule; its runs stay").action(async (name: string, flags: Flags) => {
    const { scheduleDelete } = await import("../../schedules/schedules.ts");
    done(await scheduleDelete(context, { name, ...flags }));
  });
  return schedule;
}

/** Members of a definition from flags that are given. */
const namedBy = (options: readonly Option[], flags: Readonly<Record<string, unknown>>, before = ""): Record<string, unknown> =>
  Object.fromEntries(
    options.flatMap((option) => {
      const name = option.attributeName();
      return flags[name] === undefined ? [] : [[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).slice(before.length), flags[name]]];
    }),
  );

/** What is wrong with it is told by its flag. */
function givenDefinition(asked: Record<string, unknown>): GivenDefinition {
  const checked = definitionSchema.safeParse(asked);
  if (checked.success) return asked as GivenDefinition;
  const [issue] = checked.error.issues;
  throw usageError(
    `--${(issue?.path ?? []).join("-").replaceAll("_", "-")}: ${issue?.message ?? "not possible"}`,
    'Example: npx edgewise schedule add nightly gsm8k --cron "0 3 * * *" --time-zone Europe/Berlin',
  );
}
