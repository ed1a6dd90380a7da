/** `edgewise alert add | list | get | test | log | resend | rotate | delete`: who is told what happens to runs, schedules and monitors. */
import { randomUUID } from "node:crypto";
import { ALERT_NAME_RULE, type GivenAlert, isAlertName } from "../../alerts/alert-definition.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { pause } from "../connection/pause.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import type { Service } from "../service/service.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { alertPath, type ListedAlert, type ListedMessage, type PutAlert } from "./alert-answer.ts";
import { alertLines, listLines, logLines, messageLine, secretLines } from "./alert-lines.ts";

export interface AlertWish {
  readonly team?: string | undefined;
  readonly output: Output;
}
type Named = AlertWish & { readonly name: string };

/** An answer has 15 s, and the way there some. */
const AWAITED_MS = 20_000;
const MOST_LOOKED_THROUGH = 1_000;

function mustBeName(name: string): void {
  if (!isAlertName(name)) throw usageError(`${JSON.stringify(name)} is no name of an alert: it ${ALERT_NAME_RULE}`);
}

function printed(context: CommandContext, output: Output, answer: unknown, lines: readonly string[]): void {
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else for (const line of lines) context.terminal.print(line);
}

/** Where nobody serves nothing is sent; said once to who has just asked. */
export function unsent({ terminal }: CommandContext, { role }: Pick<Service, "role">): void {
  if (role === "owner") terminal.tell("No service runs in this folder: alerts are sent while `npx edgewise serve` runs.");
}

export async function alertAdd(context: CommandContext, { name, given, team, output }: Named & { readonly given: GivenAlert }): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(
    context,
    "edgewise alert add",
    async (service) => {
      const put = await service.client.json<PutAlert>("PUT", alertPath(name, team), { body: given, retries: 2 });
      unsent(context, service);
      return put;
    },
    true,
  );
  const { change, fields, secret } = answer;
  const said = change === "none" ? "was there already, as it is" : change === "add" ? "is kept" : `is changed: ${fields.join(", ")}`;
  const next = secret === undefined ? [] : [...secretLines(secret), `Whether it arrives:  npx edgewise alert test ${name}`];
  printed(context, output, answer, [singleLine(`Alert ${name} ${said}.`), ...next]);
  return EXIT.completed;
}

export async function alertList(context: CommandContext, { team, output }: AlertWish): Promise<ExitCode> {
  const answer = await askService(context, "edgewise alert list", ({ client }) =>
    client.json<{ data: readonly ListedAlert[] }>("GET", alertPath(null, team), { retries: 2 }),
  );
  if (output === "table" && answer.data.length === 0)
    context.terminal.tell("There are no alerts. One is made by `npx edgewise alert add NAME --to slack --url-var SLACK_URL`.");
  else printed(context, output, answer, listLines(answer.data, context.terminal.columns));
  return EXIT.completed;
}

export async function alertGet(context: CommandContext, { name, team, output }: Named): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, "edgewise alert get", ({ client }) =>
    client.json<{ data: ListedAlert }>("GET", alertPath(name, team), { retries: 2 }),
  );
  printed(context, output, answer, alertLines(answer.data));
  return EXIT.completed;
}

export async function alertLog(context: CommandContext, { name, team, output, limit }: Named & { readonly limit: number }): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, "edgewise alert log", ({ client }) => messages(client, name, team, limit));
  if (output === "table" && answer.data.length === 0) context.terminal.tell(`Nothing was sent to ${name} so far.`);
  else printed(context, output, answer, logLines(answer.data, context.terminal.columns));
  return EXIT.completed;
}

const messages = (client: ServiceClient, name: string, team: string | undefined, limit: number): Promise<{ readonly data: readonly ListedMessage[] }> =>
  client.json("GET", alertPath(name, team, "/messages", { limit: String(limit) }), { retries: 2 });

/** What comes of the next attempt at a message: as it is once its receiver has answered, or when that took too long. */
async function answered(client: ServiceClient, { name, team }: Named, asked: ListedMessage): Promise<ListedMessage> {
  const before = asked.attempts.at(-1)?.at;
  const deadline = Date.now() + AWAITED_MS;
  for (let [message, wait] = [asked, 100]; ; wait = Math.min(2 * wait, 1_000)) {
    if (message.state !== "waiting" || message.attempts.at(-1)?.at !== before || Date.now() > deadline) return message;
    await pause(wait);
    message = (await messages(client, name, team, MOST_LOOKED_THROUGH)).data.find(({ id }) => id === asked.id) ?? message;
  }
}

/** Has a message sent and shows what its receiver said; one that was not taken is a failure. */
async function sent(
  context: CommandContext,
  wish: Named,
  command: string,
  send: (client: ServiceClient) => Promise<{ data: ListedMessage }>,
): Promise<ExitCode> {
  mustBeName(wish.name);
  const data = await askService(context, `edgewise alert ${command}`, async ({ client }) => answered(client, wish, (await send(client)).data));
  printed(context, wish.output, { data }, [messageLine(data)]);
  return data.state === "delivered" ? EXIT.completed : EXIT.failed;
}

export function alertTest(context: CommandContext, wish: Named): Promise<ExitCode> {
  const headers = { "idempotency-key": randomUUID() };
  return sent(context, wish, "test", (client) => client.json("POST", alertPath(wish.name, wish.team, "/test"), { body: {}, headers, retries: 2 }));
}

export const alertResend = (context: CommandContext, wish: Named & { readonly message: string }): Promise<ExitCode> =>
  sent(context, wish, "resend", (client) =>
    client.json("POST", alertPath(wish.name, wish.team, `/messages/${encodeURIComponent(wish.message)}/resend`), { body: {} }),
  );

export async function alertRotate(context: CommandContext, { name, team, output }: Named): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, "edgewise alert rotate", ({ client }) =>
    client.json<{ data: ListedAlert; secret: string; before_until: string }>("POST", alertPath(name, team, "/rotate"), { body: {} }),
  );
  printed(context, output, answer, [...secretLines(answer.secret), `Until ${answer.before_until} they are signed with the one before, too.`]);
  return EXIT.completed;
}

export async function alertDelete(context: CommandContext, { name, team, output }: Named): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(context, "edgewise alert delete", ({ client }) => client.json<{ message: string }>("DELETE", alertPath(name, team)));
  printed(context, output, answer, [singleLine(answer.message)]);
  return EXIT.completed;
}
