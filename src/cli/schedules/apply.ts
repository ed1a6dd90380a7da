/** `edgewise schedule apply FILE.toml`: the schedules and alerts of a team as a file says them. */
import { resolve } from "node:path";
import { printableJson } from "../../report/text/printable.ts";
import type { PutAlert } from "../alerts/alert-answer.ts";
import { secretLines } from "../alerts/alert-lines.ts";
import { unsent } from "../alerts/alerts.ts";
import { carryOut, planLines, planOf, toldOf } from "../applying/apply-plan.ts";
import { textOf } from "../applying/file-tables.ts";
import { askService } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { ALERTS, SCHEDULES } from "./applied-kinds.ts";
import type { ShownSchedule } from "./schedule-answer.ts";
import { wantedIn } from "./schedule-file.ts";
import { type ScheduleWish, unserved } from "./schedules.ts";

interface ApplyWish extends ScheduleWish {
  readonly file: string;
  /** Deletes what the file no longer has. */
  readonly prune: boolean;
  /** Shows what would change, and changes nothing. */
  readonly dryRun: boolean;
}

/** Everything is checked before anything is changed, and the same file once more changes nothing. */
export async function scheduleApply(context: CommandContext, wish: ApplyWish): Promise<ExitCode> {
  const { file, team, output, dryRun } = wish;
  const { terminal } = context;
  const wanted = wantedIn(textOf(resolve(context.cwd, file), file), file, context.env);
  const after: ShownSchedule[] = [];
  const secrets = new Map<string, string>();
  const { schedules, alerts } = await askService(
    context,
    "edgewise schedule apply",
    async (service) => {
      const { client } = service;
      const plans = { schedules: await planOf(client, SCHEDULES, wanted.schedules, wish), alerts: await planOf(client, ALERTS, wanted.alerts, wish) };
      if (output === "table") for (const line of [...planLines(plans.schedules), ...planLines(plans.alerts)]) terminal.print(line);
      if (dryRun) return plans;
      await carryOut<{ data: ShownSchedule }>(client, plans.schedules, team, (_, { data }) => after.push(data));
      try {
        await carryOut<PutAlert>(client, plans.alerts, team, (name, { secret }) => {
          if (secret === undefined) return;
          secrets.set(name, secret);
          if (output === "table") for (const line of [`Alert ${name} is new.`, ...secretLines(secret)]) terminal.print(line);
        });
      } catch (error) {
        if (output === "json")
          for (const name of secrets.keys()) terminal.tell(`The signing secret of ${name} was not shown: npx edgewise alert rotate ${name}`);
        throw error;
      }
      if (plans.alerts.changes.some(({ change }) => change !== "none")) unsent(context, service);
      return plans;
    },
    true,
  );
  if (output === "json") {
    const ofSchedules = toldOf(schedules, ({ data }) => ({ next: data.next }));
    const ofAlerts = toldOf(alerts, ({ name }) => (secrets.has(name) ? { secret: secrets.get(name) } : {}));
    terminal.print(printableJson({ dry_run: dryRun, ...ofSchedules, alerts: ofAlerts }, 2));
  }
  unserved(context, after);
  return EXIT.completed;
}
