/** `edgewise env link | unlink`, and what `env info` and `env status` say of links: environments whose code runs elsewhere. */
import { linkAddressProblem } from "../../links/link-address.ts";
import { isLinkName, LINK_NAME_RULE } from "../../links/link-name.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { askService, hasState, type Output } from "../runs/ask-service.ts";
import { readValue } from "../secrets/read-value.ts";
import type { CommandContext } from "../service/command-context.ts";
import { CliError, EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import type { LinkStatusAnswer } from "./link-answers.ts";
import { deleteLink, linkStatus, listLinks, putLink } from "./link-client.ts";
import { linkLines, statusLines } from "./link-lines.ts";

interface Wish {
  readonly name: string;
  readonly team?: string | undefined;
  readonly output: Output;
}

function checkedName(name: string): void {
  if (!isLinkName(name)) throw usageError(`${JSON.stringify(name)} is no name for a link: it ${LINK_NAME_RULE}`);
}

export async function envLink(
  context: CommandContext,
  { name, urls, tokenVar, team, output }: Wish & { readonly urls: readonly string[]; readonly tokenVar?: string | undefined },
): Promise<ExitCode> {
  checkedName(name);
  for (const url of urls) {
    // What a deployed service does not call it says itself.
    const problem = linkAddressProblem(url, true);
    if (problem !== null) throw usageError(`${url} ${problem}`);
  }
  const token = await tokenOf(context, name, tokenVar);
  const link = await askService(context, "edgewise env link", ({ client }) => putLink(client, { name, urls, token }, team), true);
  const { terminal } = context;
  if (output === "json") terminal.print(printableJson({ data: link }, 2));
  else {
    for (const line of linkLines(link)) terminal.print(line);
    terminal.tell(`Evaluate it: npx edgewise eval run ${name}`);
  }
  return EXIT.completed;
}

/** From the variable, else asked for: never from the command line, which other people of the machine see. */
async function tokenOf({ env }: CommandContext, name: string, variable: string | undefined): Promise<string> {
  const held = variable === undefined ? undefined : env[variable];
  if (variable !== undefined && (held ?? "").trim() === "")
    throw new CliError(`the variable ${variable} is not set`, { hints: ["It holds the token of the environment server (EDGEWISE_ENV_TOKEN there)."] });
  return readValue(held, `the token of ${name}`, "pipe it in (`< file`), or name the variable that has it with --token-var");
}

export async function envUnlink(context: CommandContext, { name, team, output }: Wish): Promise<ExitCode> {
  checkedName(name);
  const was = await askService(context, "edgewise env unlink", ({ client }) => deleteLink(client, name, team), true);
  if (!was) throw new CliError(`nothing is linked as ${name}`, { hints: ["`npx edgewise env list` shows what is."] });
  context.terminal.print(
    output === "json" ? printableJson({ unlinked: name }, 2) : singleLine(`${name} is unlinked; runs that were made with it wait for it.`),
  );
  return EXIT.completed;
}

/** Names that are linked at the service of this folder; none where there never was one. */
export async function linkedNames(context: CommandContext): Promise<readonly string[]> {
  if (!hasState(context)) return [];
  const links = await askService(context, "edgewise eval run", ({ client }) => listLinks(client));
  return links.map(({ name }) => name);
}

/** Null where nothing is linked under the name: whoever asked looks further. Asks all of its servers. */
export async function linkedStatus(context: CommandContext, command: string, name: string): Promise<LinkStatusAnswer | null> {
  return isLinkName(name) ? askService(context, command, ({ client }) => linkStatus(client, name), true) : null;
}

export function printLink({ terminal }: CommandContext, link: LinkStatusAnswer, output: Output): ExitCode {
  if (output === "json") terminal.print(printableJson({ data: link }, 2));
  else for (const line of linkLines(link)) terminal.print(line);
  return EXIT.completed;
}

/** With exit code 1 where no server of it can be used. */
export function printLinkStatus({ terminal }: CommandContext, link: LinkStatusAnswer, output: Output): ExitCode {
  if (output === "json") terminal.print(printableJson({ data: link }, 2));
  else for (const line of statusLines(link)) terminal.print(line);
  return link.servers.some(({ state }) => state === "healthy") ? EXIT.completed : EXIT.failed;
}
