/** `edgewise schedule add | list | get | pause | resume | run | delete`: evaluations by the clock. */
import { randomUUID } from "node:crypto";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import type { GivenDefinition } from "../../schedules/definition-schema.ts";
import { isScheduleName, SCHEDULE_NAME_RULE } from "../../schedules/schedule-name.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { type ListedSchedule, schedulePath, type ShownSchedule } from "./schedule-answer.ts";
import { listLines, nextLines, scheduleLines } from "./schedule-lines.ts";

export interface ScheduleWish {
  readonly team?: string | undefined;
  readonly output: Output;
}
type Named = ScheduleWish & { readonly name: string };
interface Answer {
  readonly data: ShownSchedule;
}

function mustBeName(name: string): void {
  if (!isScheduleName(name)) throw usageError(`${JSON.stringify(name)} is no name of a schedule: it ${SCHEDULE_NAME_RULE}`);
}

/** Where nobody serves, nothing is begun; said once to who has just asked for it. */
export function unserved({ terminal }: CommandContext, schedules: readonly Pick<ListedSchedule, "served">[]): void {
  if (schedules.some(({ served }) => !served)) terminal.tell("No service runs in this folder: due times are begun while `npx edgewise serve` runs.");
}

export async function scheduleAdd(context: CommandContext, { name, given, team, output }: Named & { readonly given: GivenDefinition }): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(
    context,
    "edgewise schedule add",
    ({ client }) => client.json<Answer>("PUT", schedulePath(name, team), { body: given, retries: 2 }),
    true,
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else for (const line of [`Schedule ${name} is kept.`, ...nextLines(answer.data)]) context.terminal.print(line);
  unserved(context, [answer.data]);
  return EXIT.completed;
}

export async function scheduleList(context: CommandContext, { team, output }: ScheduleWish): Promise<ExitCode> {
  const answer = await askService(context, "edgewise schedule list", ({ client }) =>
    client.json<{ data: readonly ListedSchedule[] }>("GET", schedulePath(null, team), { retries: 2 }),
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else if (answer.data.length === 0) context.terminal.tell("There are no schedules. One is made by `npx edgewise schedule add NAME ENV --every 1d`.");
  else for (const line of listLines(answer.data, context.terminal.columns)) context.terminal.print(line);
  unserved(context, answer.data);
  return EXIT.completed;
}

export async function scheduleGet(context: CommandContext, { name, team, output }: Named): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, "edgewise schedule get", ({ client }) => client.json<Answer>("GET", schedulePath(name, team), { retries: 2 }));
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else for (const line of scheduleLines(answer.data, context.terminal.columns)) context.terminal.print(line);
  unserved(context, [answer.data]);
  return EXIT.completed;
}

/** One request that changes a schedule, and what is said when it is done. */
async function changed(
  context: CommandContext,
  { name, output }: Named,
  command: string,
  ask: (client: ServiceClient) => Promise<Answer>,
  said: string,
): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, `edgewise schedule ${command}`, ({ client }) => ask(client));
  context.terminal.print(output === "json" ? printableJson(answer, 2) : said);
  unserved(context, [answer.data]);
  return EXIT.completed;
}

export const schedulePause = (context: CommandContext, wish: Named & { readonly reason?: string | undefined }): Promise<ExitCode> =>
  changed(
    context,
    wish,
    "pause",
    (client) =>
      client.json("POST", schedulePath(wish.name, wish.team, "/pause"), { body: wish.reason === undefined ? {} : { reason: wish.reason }, retries: 2 }),
    `Schedule ${wish.name} is paused; a run that is at work goes on.`,
  );

export const scheduleResume = (context: CommandContext, wish: Named): Promise<ExitCode> =>
  changed(
    context,
    wish,
    "resume",
    (client) => client.json("POST", schedulePath(wish.name, wish.team, "/resume"), { body: {}, retries: 2 }),
    `Schedule ${wish.name} goes on; what was due while it was paused is not made up for.`,
  );

export function scheduleRun(context: CommandContext, wish: Named): Promise<ExitCode> {
  const headers = { "idempotency-key": randomUUID() };
  return changed(
    context,
    wish,
    "run",
    (client) => client.json("POST", schedulePath(wish.name, wish.team, "/run"), { body: {}, headers, retries: 2 }),
    `A run of ${wish.name} is asked for: npx edgewise schedule get ${wish.name}`,
  );
}

export const scheduleDriftReset = (context: CommandContext, wish: Named): Promise<ExitCode> =>
  changed(
    context,
    wish,
    "drift reset",
    (client) => client.json("POST", schedulePath(wish.name, wish.team, "/drift/reset"), { body: {}, retries: 2 }),
    `The comparisons of ${wish.name} begin anew with its next run.`,
  );

export async function scheduleDelete(context: CommandContext, { name, team, output }: Named): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, "edgewise schedule delete", ({ client }) => client.json<{ message: string }>("DELETE", schedulePath(name, team)));
  context.terminal.print(output === "json" ? printableJson(answer, 2) : singleLine(answer.message));
  return EXIT.completed;
}
