/** `edgewise schedule apply FILE.toml`: the schedules of a team as a file says them. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { askService } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, reasonOf, usageError } from "../terminal/cli-error.ts";
import { type ListedSchedule, type PlannedSchedule, schedulePath, type ShownSchedule } from "./schedule-answer.ts";
import { schedulesIn, type WantedSchedule } from "./schedule-file.ts";
import { type ScheduleWish, unserved } from "./schedules.ts";

interface ApplyWish extends ScheduleWish {
  readonly file: string;
  /** Deletes what the file no longer has. */
  readonly prune: boolean;
  /** Shows what would change, and changes nothing. */
  readonly dryRun: boolean;
}

interface Plan {
  readonly changes: readonly (WantedSchedule & PlannedSchedule)[];
  /** Schedules that the file does not have. */
  readonly others: readonly string[];
}

const SIGNS = { add: "+", change: "~", none: "=" } as const;

/** Everything is checked before anything is changed, and the same file once more changes nothing. */
export async function scheduleApply(context: CommandContext, { file, team, output, prune, dryRun }: ApplyWish): Promise<ExitCode> {
  const wanted = schedulesIn(textOf(resolve(context.cwd, file), file), file);
  const { plan, after } = await askService(
    context,
    "edgewise schedule apply",
    async ({ client }) => {
      const made = await planOf(client, wanted, team);
      if (output === "table") for (const line of planLines(made, prune)) context.terminal.print(line);
      return { plan: made, after: dryRun ? [] : await carriedOut(client, made, team, prune) };
    },
    true,
  );
  const changes = plan.changes.map(({ name, change, fields, data }) => ({ name, change, fields, next: data.next }));
  if (output === "json")
    context.terminal.print(printableJson({ dry_run: dryRun, changes, deleted: prune ? plan.others : [], left: prune ? [] : plan.others }, 2));
  unserved(context, after);
  return EXIT.completed;
}

function textOf(path: string, file: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw usageError(`the file ${file} cannot be read: ${reasonOf(error)}`);
  }
}

async function planOf(client: ServiceClient, wanted: readonly WantedSchedule[], team: string | undefined): Promise<Plan> {
  const changes: (WantedSchedule & PlannedSchedule)[] = [];
  for (const each of wanted)
    changes.push({ ...each, ...(await client.json<PlannedSchedule>("PUT", schedulePath(each.name, team, "", true), { body: each.given, retries: 2 })) });
  const { data } = await client.json<{ data: readonly ListedSchedule[] }>("GET", schedulePath(null, team), { retries: 2 });
  return { changes, others: data.map(({ name }) => name).filter((name) => !wanted.some((each) => each.name === name)) };
}

async function carriedOut(client: ServiceClient, { changes, others }: Plan, team: string | undefined, prune: boolean): Promise<readonly ShownSchedule[]> {
  const after: ShownSchedule[] = [];
  for (const { name, given, change } of changes) {
    if (change === "none") continue;
    after.push((await client.json<{ data: ShownSchedule }>("PUT", schedulePath(name, team), { body: given, retries: 2 })).data);
  }
  if (prune) for (const name of others) await client.json("DELETE", schedulePath(name, team));
  return after;
}

function planLines({ changes, others }: Plan, prune: boolean): readonly string[] {
  const lines = changes.map(({ name, change, fields, data }) => {
    const what =
      change === "none"
        ? "unchanged"
        : change === "add"
          ? `new, next ${data.next[0] ?? "never"}`
          : `${fields.join(", ")} changed, next ${data.next[0] ?? "never"}`;
    return singleLine(`${SIGNS[change]} ${name}: ${what}`);
  });
  const left = others.map((name) => singleLine(prune ? `- ${name}: deleted, its runs stay` : `? ${name}: not in the file, left as it is (--prune deletes it)`));
  return [...lines, ...left];
}
