/** `edgewise limits list | get | given | set | clear | forget`: what endpoints bear, and who uses it. What a team may use is `team limits`. */
import type { LimitRow } from "../../config/endpoints/limit-rows.ts";
import { GIVEN_NAME_RULE, isGivenName } from "../../config/given-name.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { namedPath } from "../connection/named-path.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import type { GivenAnswer, ShownLimiter } from "./limiter-answer.ts";
import { givenLines, limiterLines } from "./limiter-lines.ts";

export interface LimitsWish {
  readonly team?: string | undefined;
  readonly output: Output;
}
type Named = LimitsWish & { readonly name: string };

/** Limiters that one command shows: a page of the service. */
const MOST = 100;

const limiterPath = namedPath("limits");
const givenPath = namedPath("limits/given");

function mustBeName(name: string): void {
  if (!isGivenName(name)) throw usageError(`${JSON.stringify(name)} is no name of a limit: it ${GIVEN_NAME_RULE}`);
}
function mustBeLimiter(id: string): void {
  if (!/^[0-9a-f]{8}$/.test(id))
    throw usageError(`${JSON.stringify(id)} is no limiter`, "A limiter has eight hex characters, as `npx edgewise limits` shows it.");
}

export async function limitsList(context: CommandContext, { team, output }: LimitsWish): Promise<ExitCode> {
  const { terminal } = context;
  const path = limiterPath(null, team, "", { limit: String(MOST) });
  const answer = await askService(context, "edgewise limits", ({ client }) =>
    client.json<{ data: readonly ShownLimiter[]; total: number }>("GET", path, { retries: 2 }),
  );
  if (output === "json") terminal.print(printableJson(answer, 2));
  else if (answer.data.length === 0) terminal.tell("No endpoint has been called yet. Each that a run calls is shown here, by its key's name.");
  else for (const line of limiterLines(answer.data, terminal.columns)) terminal.print(line);
  if (answer.total > answer.data.length) terminal.tell(`The newest ${answer.data.length} of ${answer.total} are shown.`);
  return EXIT.completed;
}

export async function limitsGet(context: CommandContext, { id, team, output }: LimitsWish & { readonly id: string }): Promise<ExitCode> {
  mustBeLimiter(id);
  const answer = await askService(context, "edgewise limits get", ({ client }) =>
    client.json<{ data: ShownLimiter }>("GET", limiterPath(id, team), { retries: 2 }),
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else
    for (const line of [`Address  ${singleLine(answer.data.api_base_url)}`, ...limiterLines([answer.data], context.terminal.columns)])
      context.terminal.print(line);
  return EXIT.completed;
}

export async function limitsGiven(context: CommandContext, { team, output }: LimitsWish): Promise<ExitCode> {
  const answer = await askService(
    context,
    "edgewise limits given",
    ({ client }) => client.json<{ data: readonly GivenAnswer[] }>("GET", givenPath(null, team), { retries: 2 }),
    true,
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else if (answer.data.length === 0)
    context.terminal.tell("No limits are given. One is given by `npx edgewise limits set NAME -b URL -k KEY_VAR --requests-per-minute N`.");
  else for (const line of givenLines(answer.data, context.terminal.columns)) context.terminal.print(line);
  return EXIT.completed;
}

/** May be repeated: the same limit twice is one. */
export async function limitsSet(context: CommandContext, { name, row, team, output }: Named & { readonly row: LimitRow }): Promise<ExitCode> {
  mustBeName(name);
  const answer = await askService(
    context,
    "edgewise limits set",
    ({ client }) => client.json<{ data: GivenAnswer }>("PUT", givenPath(name, team), { body: row, retries: 2 }),
    true,
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else for (const line of givenLines([answer.data], context.terminal.columns)) context.terminal.print(line);
  return EXIT.completed;
}

export async function limitsClear(context: CommandContext, { name, team, output }: Named): Promise<ExitCode> {
  mustBeName(name);
  return changed(context, "clear", "DELETE", givenPath(name, team), output);
}

export async function limitsForget(context: CommandContext, { id, team, output }: LimitsWish & { readonly id: string }): Promise<ExitCode> {
  mustBeLimiter(id);
  return changed(context, "forget", "POST", limiterPath(id, team, "/forget"), output);
}

async function changed(context: CommandContext, command: string, method: "POST" | "DELETE", path: string, output: Output): Promise<ExitCode> {
  const answer = await askService(
    context,
    `edgewise limits ${command}`,
    ({ client }) => client.json<{ message: string }>(method, path, method === "POST" ? { body: {}, retries: 2 } : {}),
    true,
  );
  context.terminal.print(output === "json" ? printableJson(answer, 2) : singleLine(answer.message));
  return EXIT.completed;
}
