/** `edgewise monitor add | list | get | done | pause | resume | rotate | delete`: jobs that somebody watches. */
import { GIVEN_NAME_RULE, isGivenName } from "../../config/given-name.ts";
import type { GivenMonitor } from "../../monitors/definition-schema.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { DEFAULT_PORT } from "../service/default-port.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { type ListedMonitor, monitorPath, type ShownMonitor } from "./monitor-answer.ts";
import { beatLines, listLines, monitorLines } from "./monitor-lines.ts";

export interface MonitorWish {
  readonly team?: string | undefined;
  readonly output: Output;
}
type Named = MonitorWish & { readonly name: string };
interface Answer {
  readonly data: ShownMonitor;
  readonly beat_url?: string | null;
}

function mustBeName(name: string): void {
  if (!isGivenName(name)) throw usageError(`${JSON.stringify(name)} is no name of a monitor: it ${GIVEN_NAME_RULE}`);
}

/** Where nobody serves nobody watches; said once to who has just asked. */
function unwatched({ terminal }: CommandContext, monitors: readonly Pick<ListedMonitor, "watched">[]): void {
  if (monitors.some(({ watched }) => !watched)) terminal.tell("No service runs in this folder: monitors are watched while `npx edgewise serve` runs.");
}

/** The address as it will be: a service that was started for this command alone has another port. */
const servedAt = (url: string, watched: boolean): string => {
  const { pathname } = new URL(url);
  return watched ? url : `http://127.0.0.1:${DEFAULT_PORT}${pathname}`;
};

function printed(context: CommandContext, output: Output, answer: Answer, lines: readonly string[]): ExitCode {
  const { data, beat_url } = answer;
  const url = typeof beat_url === "string" ? servedAt(beat_url, data.watched) : null;
  if (output === "json") context.terminal.print(printableJson(url === null ? answer : { ...answer, beat_url: url }, 2));
  else for (const line of [...lines, ...(url === null ? [] : beatLines(url))]) context.terminal.print(line);
  unwatched(context, [data]);
  return EXIT.completed;
}

export async function monitorAdd(context: CommandContext, { name, given, team, output }: Named & { readonly given: GivenMonitor }): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(
    context,
    "edgewise monitor add",
    ({ client }) => client.json<Answer>("PUT", monitorPath(name, team), { body: given, retries: 2 }),
    true,
  );
  const { every, grace } = answer.data;
  const there = `It was there already, and its address stays; \`npx edgewise monitor rotate ${name}\` gives it another.`;
  return printed(context, output, answer, [`Monitor ${name} is kept: every ${every}, grace ${grace}.`, ...(answer.beat_url === null ? [there] : [])]);
}

export async function monitorList(context: CommandContext, { team, output }: MonitorWish): Promise<ExitCode> {
  const answer = await askService(context, "edgewise monitor list", ({ client }) =>
    client.json<{ data: readonly ListedMonitor[] }>("GET", monitorPath(null, team), { retries: 2 }),
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else if (answer.data.length === 0) context.terminal.tell("There are no monitors. One is made by `npx edgewise monitor add NAME --every 5m`.");
  else for (const line of listLines(answer.data, context.terminal.columns)) context.terminal.print(line);
  unwatched(context, answer.data);
  return EXIT.completed;
}

export async function monitorGet(context: CommandContext, { name, team, output }: Named): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, "edgewise monitor get", ({ client }) => client.json<Answer>("GET", monitorPath(name, team), { retries: 2 }));
  return printed(context, output, answer, monitorLines(answer.data));
}

/** One request that changes a monitor, and what is said when it is done. */
async function changed(context: CommandContext, { name, team, output }: Named, command: string, body: object, said: string): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, `edgewise monitor ${command}`, ({ client }) =>
    client.json<Answer>("POST", monitorPath(name, team, `/${command}`), { body, retries: 2 }),
  );
  return printed(context, output, answer, [said]);
}

export const monitorDone = (context: CommandContext, wish: Named): Promise<ExitCode> =>
  changed(context, wish, "done", {}, `Monitor ${wish.name} is done: nothing is expected until the next beat.`);

export const monitorPause = (context: CommandContext, wish: Named & { readonly reason?: string | undefined }): Promise<ExitCode> =>
  changed(context, wish, "pause", wish.reason === undefined ? {} : { reason: wish.reason }, `Monitor ${wish.name} is paused.`);

export const monitorResume = (context: CommandContext, wish: Named): Promise<ExitCode> =>
  changed(context, wish, "resume", {}, `Monitor ${wish.name} is watched again; silence counts from now.`);

export const monitorRotate = (context: CommandContext, wish: Named): Promise<ExitCode> =>
  changed(context, wish, "rotate", {}, `Monitor ${wish.name} has another address; the one before leads nowhere now.`);

export async function monitorDelete(context: CommandContext, { name, team, output }: Named): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, "edgewise monitor delete", ({ client }) => client.json<{ message: string }>("DELETE", monitorPath(name, team)));
  context.terminal.print(output === "json" ? printableJson(answer, 2) : singleLine(answer.message));
  return EXIT.completed;
}
