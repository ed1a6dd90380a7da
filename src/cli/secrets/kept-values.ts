/** `edgewise secret`, `env secret` and `env var`: names with values that the service keeps, found by name or id. */
import { columnLines } from "../../report/text/columns.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { readValue } from "./read-value.ts";

export interface Kept {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly hosts?: readonly string[];
  readonly source?: "environment" | "global";
  /** Of a variable. */
  readonly value?: string;
}

/** Where values are kept: for the team, or for one environment. */
export interface Shelf {
  readonly what: "secret" | "variable";
  /** Null: the team's. */
  readonly environment: string | null;
  readonly team?: string | undefined;
  readonly output: Output;
}

const commandOf = ({ what, environment }: Pick<Shelf, "what" | "environment">): string =>
  environment === null ? "edgewise secret" : `edgewise env ${what === "secret" ? "secret" : "var"}`;

const pathOf = ({ what, environment, team }: Shelf, below = ""): string => {
  const base = environment === null ? "/secrets" : `/environmentshub/${encodeURIComponent(environment)}/${what}s`;
  return `${base}${below === "" && environment === null ? "/" : below}${team === undefined ? "" : `?teamId=${encodeURIComponent(team)}`}`;
};

const ask = <T>(context: CommandContext, shelf: Shelf, verb: string, work: (client: ServiceClient) => Promise<T>): Promise<T> =>
  askService(context, `${commandOf(shelf)} ${verb}`, ({ client }) => work(client), true);

const all = async (client: ServiceClient, shelf: Shelf): Promise<readonly Kept[]> =>
  (await client.json<{ data: readonly Kept[] }>("GET", pathOf(shelf), { retries: 2 })).data;

async function find(client: ServiceClient, shelf: Shelf, named: string): Promise<Kept> {
  const kept = await all(client, shelf);
  const found = kept.find(({ id }) => id === named) ?? kept.find(({ name, source }) => name === named && source !== "global");
  if (found !== undefined) return found;
  const place = shelf.environment === null ? "" : ` ${shelf.environment}`;
  throw new CliError(`there is no ${shelf.what} ${singleLine(named)}`, { hints: [`What there is: npx ${commandOf(shelf)} list${place}`] });
}

export async function list(context: CommandContext, shelf: Shelf): Promise<ExitCode> {
  const { terminal } = context;
  const data = await ask(context, shelf, "list", (client) => all(client, shelf));
  if (shelf.output === "json") terminal.print(printableJson({ data }, 2));
  else if (data.length === 0) terminal.tell(`There are no ${shelf.what}s. One is made by \`npx ${commandOf(shelf)} create\`.`);
  else for (const line of keptLines(data, terminal.columns)) terminal.print(line);
  return EXIT.completed;
}

export async function get(context: CommandContext, shelf: Shelf, named: string): Promise<ExitCode> {
  tell(context, shelf, await ask(context, shelf, "get", (client) => find(client, shelf, named)), "");
  return EXIT.completed;
}

export interface NewValue {
  readonly name: string;
  readonly value?: string | undefined;
  readonly description?: string | undefined;
  readonly hosts?: readonly string[] | undefined;
}

export async function create(context: CommandContext, shelf: Shelf, { name, value, description, hosts }: NewValue): Promise<ExitCode> {
  const given = await readValue(value, name);
  const body = {
    ...{ name, value: given },
    ...(description === undefined ? {} : { description }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(shelf.environment === null && shelf.team !== undefined ? { teamId: shelf.team } : {}),
  };
  const path = shelf.environment === null ? "/secrets/" : pathOf(shelf);
  const { data } = await ask(context, shelf, "create", (client) => client.json<{ data: Kept }>("POST", path, { body }));
  tell(context, shelf, data, "is kept");
  return EXIT.completed;
}

export interface ChangedValue extends Omit<NewValue, "name"> {
  readonly rename?: string | undefined;
}

/** Asks for a value where nothing else is to change. */
export async function update(context: CommandContext, shelf: Shelf, named: string, { value, description, hosts, rename }: ChangedValue): Promise<ExitCode> {
  const other = {
    ...(description === undefined ? {} : { description }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(rename === undefined ? {} : { name: rename }),
  };
  const given = value !== undefined || Object.keys(other).length === 0 ? { value: await readValue(value, named) } : {};
  const { data } = await ask(context, shelf, "update", async (client) => {
    const { id } = await find(client, shelf, named);
    return client.json<{ data: Kept }>("PATCH", pathOf(shelf, `/${id}`), { body: { ...other, ...given } });
  });
  tell(context, shelf, data, "is changed");
  return EXIT.completed;
}

export async function remove(context: CommandContext, shelf: Shelf, named: string): Promise<ExitCode> {
  const found = await ask(context, shelf, "delete", async (client) => {
    const kept = await find(client, shelf, named);
    await client.json("DELETE", pathOf(shelf, `/${kept.id}`));
    return kept;
  });
  tell(context, shelf, found, "is deleted");
  return EXIT.completed;
}

/** Gives one of the team's secrets to an environment, or takes it away again. */
export async function link(context: CommandContext, shelf: Shelf, named: string, method: "POST" | "DELETE"): Promise<ExitCode> {
  const found = await ask(context, shelf, method === "POST" ? "link" : "unlink", async (client) => {
    const kept = await find(client, { ...shelf, environment: null }, named);
    await client.json(method, pathOf(shelf, `/link/${kept.id}`), method === "POST" ? { body: {} } : {});
    return kept;
  });
  tell(context, shelf, found, `is ${method === "POST" ? "linked to" : "no longer linked to"} ${shelf.environment}`);
  return EXIT.completed;
}

function tell({ terminal }: CommandContext, { what, output }: Shelf, kept: Kept, done: string): void {
  if (output === "json") terminal.print(printableJson({ data: kept }, 2));
  else if (done === "") for (const line of keptLines([kept], terminal.columns)) terminal.print(line);
  else terminal.print(singleLine(`The ${what} ${kept.name} (${kept.id}) ${done}.`));
}

export function keptLines(kept: readonly Kept[], width: number): readonly string[] {
  const columns = [
    { title: "ID" },
    { title: "NAME" },
    { title: "FOR", flexible: true },
    { title: "CHANGED" },
    { title: "DESCRIPTION", flexible: true },
  ] as const;
  const rows = kept.map(({ id, name, hosts = [], source, value, updatedAt, description }) =>
    [id, name, value ?? forWhat(hosts, source), updatedAt.slice(0, 16).replace("T", " "), description ?? "-"].map(singleLine),
  );
  return columnLines(
    kept.some(({ value }) => value !== undefined) ? columns.map((column) => (column.title === "FOR" ? { ...column, title: "VALUE" } : column)) : columns,
    rows,
    width,
  );
}

function forWhat(hosts: readonly string[], source: Kept["source"]): string {
  if (hosts.length > 0) return `models at ${hosts.join(", ")}`;
  return source === "global" ? "linked: one of the team's" : source === "environment" ? "this environment" : "environments";
}
