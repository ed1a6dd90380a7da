/** `monitor`: jobs that somebody watches. */
import { Command, Option } from "commander";
import { definitionSchema, type GivenMonitor } from "../../../monitors/definition-schema.ts";
import type { Output } from "../../runs/ask-service.ts";
import type { CommandContext } from "../../service/command-context.ts";
import { type ExitCode, usageError } from "../../terminal/cli-error.ts";
import { outputOption, slugOf } from "../shared-flags.ts";

interface Flags {
  readonly team?: string;
  readonly output: Output;
}
type Wish = Flags & { readonly name: string };
type Act = (module: typeof import("../../monitors/monitors.ts")) => (context: CommandContext, wish: Wish) => Promise<ExitCode>;

const teamOption = (): Option => new Option("--team <TEAM>", "of this team").argParser(slugOf("--team"));

export function monitorCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const monitor = new Command("monitor").description("jobs that call an address while they live, and an alert when one falls silent");
  monitor
    .command("add")
    .description("make a monitor and show the address that its job calls, or give it another interval")
    .argument("<name>", "what it is called, such as trainer")
    .addOption(new Option("--every <SPAN>", "a beat is expected within so much of the one before, such as 5m").makeOptionMandatory())
    .addOption(new Option("--grace <SPAN>", "how much later it may come until it is lost (default: 1m)"))
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (name: string, { team, output, every, grace }: Flags & GivenMonitor) => {
      const { monitorAdd } = await import("../../monitors/monitors.ts");
      done(
        await monitorAdd(context, {
          name,
          given: given({ every, ...(grace === undefined ? {} : { grace }) }),
          ...(team === undefined ? {} : { team }),
          output,
        }),
      );
    });
  monitor
    .command("list")
    .alias("ls")
    .description("show the monitors of a team")
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (flags: Flags) => {
      const { monitorList } = await import("../../monitors/monitors.ts");
      done(await monitorList(context, flags));
    });
  const named = (command: string, description: string, act: Act): Command =>
    monitor
      .command(command)
      .description(description)
      .argument("<name>", "the monitor")
      .addOption(teamOption())
      .addOption(outputOption())
      .action(async (name: string, flags: Flags) => done(await act(await import("../../monitors/monitors.ts"))(context, { name, ...flags })));
  named("get", "show a monitor, what it last heard and what happened to it", ({ monitorGet }) => monitorGet);
  named("done", "the job has ended in order: nothing is expected until the next beat", ({ monitorDone }) => monitorDone);
  named("pause", "expect nothing until it is resumed", ({ monitorPause }) => monitorPause).option("--reason <TEXT>", "why, for others");
  named("resume", "watch on; silence counts from now", ({ monitorResume }) => monitorResume);
  named("rotate", "give it another address in the place of the one it has", ({ monitorRotate }) => monitorRotate);
  named("delete", "delete a monitor; its address leads nowhere then", ({ monitorDelete }) => monitorDelete);
  return monitor;
}

/** What is wrong with it is told by its flag. */
function given(asked: GivenMonitor): GivenMonitor {
  const checked = definitionSchema.safeParse(asked);
  if (checked.success) return asked;
  const [issue] = checked.error.issues;
  throw usageError(`--${String(issue?.path[0] ?? "")}: ${issue?.message ?? "not possible"}`, "Example: npx edgewise monitor add trainer --every 5m --grace 2m");
}
