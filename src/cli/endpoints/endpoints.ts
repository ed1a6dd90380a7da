/** `edgewise endpoint add | list | get | delete`. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { readRegistry } from "../../config/endpoints/endpoint-registry.ts";
import { parseTomlText } from "../../config/plan/toml-document.ts";
import type { TomlTable } from "../../config/plan/toml-keys.ts";
import { columnLines } from "../../report/text/columns.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import type { KeptEndpoint } from "../connection/api-types.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { namedPath } from "../connection/named-path.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, reasonOf, usageError } from "../terminal/cli-error.ts";

interface Wish {
  readonly team?: string | undefined;
  readonly output: Output;
}

export interface AddWish extends Wish {
  /** An id, or a registry file whose entries are all added. */
  readonly named: string;
  readonly model?: string | undefined;
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly type?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** In the place of what the id has; without it another address makes a replica. */
  readonly replace: boolean;
}

const pathOf = namedPath("endpoints");

/** May be repeated: the same entry twice is one. */
export async function endpointAdd(context: CommandContext, wish: AddWish): Promise<ExitCode> {
  const rows = wish.named.endsWith(".toml") ? rowsOfFile(wish, context) : [rowOf(wish)];
  const write = async (client: ServiceClient): Promise<readonly KeptEndpoint[]> => {
    if (!wish.replace)
      return (await client.json<{ data: readonly KeptEndpoint[] }>("POST", pathOf(null, wish.team), { body: { endpoint: rows }, retries: 2 })).data;
    const ids = [...new Set(rows.map(({ endpoint_id }) => String(endpoint_id)))];
    const written: KeptEndpoint[] = [];
    for (const id of ids) {
      const body = { endpoint: rows.filter(({ endpoint_id }) => endpoint_id === id) };
      written.push((await client.json<{ data: KeptEndpoint }>("PUT", pathOf(id, wish.team), { body, retries: 2 })).data);
    }
    return written;
  };
  // A person at a terminal names variables and addresses of their own machine.
  const data = await askService(context, "edgewise endpoint add", ({ client }) => write(client), true, true);
  tell(context, { data }, wish.output);
  if (wish.output === "table")
    context.terminal.tell(`A run takes it by its name: npx edgewise eval run ENV -m ${singleLine(data[0]?.endpoint_id ?? wish.named)}`);
  return EXIT.completed;
}

function rowOf({ named, model, url, key, type, headers }: AddWish): TomlTable {
  const missing = Object.entries({ "--model": model, "--api-base-url": url, "--api-key-var": key }).flatMap(([flag, value]) =>
    value === undefined ? [flag] : [],
  );
  if (missing.length > 0)
    throw usageError(
      `an endpoint needs ${missing.join(", ")}`,
      "For example: npx edgewise endpoint add fast -m openai/gpt-4.1-mini -b https://openrouter.ai/api/v1 -k OPENROUTER_API_KEY",
    );
  return {
    endpoint_id: named,
    model: model ?? "",
    url: url ?? "",
    key: key ?? "",
    ...(type === undefined ? {} : { type }),
    ...(Object.keys(headers).length === 0 ? {} : { headers: { ...headers } }),
  };
}

function rowsOfFile({ named, model, url, key, type, headers }: AddWish, { cwd, terminal }: CommandContext): readonly TomlTable[] {
  if ([model, url, key, type].some((each) => each !== undefined) || Object.keys(headers).length > 0)
    throw usageError(`${named} says itself what its endpoints are: leave out the other flags`);
  let text: string;
  try {
    text = readFileSync(resolve(cwd, named), "utf8");
  } catch (error) {
    throw usageError(`the registry ${named} cannot be read: ${reasonOf(error)}`);
  }
  const document = parseTomlText(text, named);
  const { entries, limits } = readRegistry(document, named);
  if (entries.size === 0) throw usageError(`${named} has no [[endpoint]]`);
  if (limits.length > 0) terminal.tell(`The [[limit]] of ${named} are not kept with its endpoints: \`npx edgewise limits set NAME\` gives each.`);
  return document.endpoint as readonly TomlTable[];
}

export async function endpointList(context: CommandContext, { team, output }: Wish): Promise<ExitCode> {
  const answer = await askService(
    context,
    "edgewise endpoint list",
    ({ client }) => client.json<{ data: readonly KeptEndpoint[] }>("GET", pathOf(null, team), { retries: 2 }),
    true,
  );
  if (output === "table" && answer.data.length === 0)
    context.terminal.tell("There are no endpoints. One is added by `npx edgewise endpoint add ID -m MODEL -b URL -k KEY_VAR`.");
  else tell(context, answer, output);
  return EXIT.completed;
}

export async function endpointGet(context: CommandContext, { id, team, output }: Wish & { readonly id: string }): Promise<ExitCode> {
  const answer = await askService(
    context,
    "edgewise endpoint get",
    ({ client }) => client.json<{ data: KeptEndpoint }>("GET", pathOf(id, team), { retries: 2 }),
    true,
  );
  if (output === "json") context.terminal.print(printableJson(answer, 2));
  else for (const line of endpointLines([answer.data], context.terminal.columns)) context.terminal.print(line);
  return EXIT.completed;
}

export async function endpointDelete(context: CommandContext, { id, team, output }: Wish & { readonly id: string }): Promise<ExitCode> {
  const answer = await askService(context, "edgewise endpoint delete", ({ client }) => client.json<{ message: string }>("DELETE", pathOf(id, team)), true);
  context.terminal.print(output === "json" ? printableJson(answer, 2) : singleLine(answer.message));
  return EXIT.completed;
}

function tell({ terminal }: CommandContext, answer: { readonly data: readonly KeptEndpoint[] }, output: Output): void {
  if (output === "json") terminal.print(printableJson(answer, 2));
  else for (const line of endpointLines(answer.data, terminal.columns)) terminal.print(line);
}

/** One line for each place. */
export function endpointLines(endpoints: readonly KeptEndpoint[], width: number): readonly string[] {
  const columns = [
    { title: "ENDPOINT" },
    { title: "MODEL", flexible: true },
    { title: "ADDRESS", flexible: true },
    { title: "KEY" },
    { title: "HEADERS", flexible: true },
  ] as const;
  const rows = endpoints.flatMap(({ endpoint_id, model, replicas }) =>
    replicas.map(({ api_base_url, api_key_var, headers }) =>
      [endpoint_id, model, api_base_url, api_key_var, Object.keys(headers).join(",") || "-"].map(singleLine),
    ),
  );
  return columnLines(columns, rows, width);
}
