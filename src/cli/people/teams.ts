/** `edgewise team create | list | add | remove`. */
import { columnLines } from "../../report/text/columns.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";

interface Team {
  readonly team: string;
  readonly members: readonly { readonly user: string; readonly email: string | null; readonly scopes: readonly string[] }[];
}

export interface TeamChange {
  readonly method: "PUT" | "DELETE";
  readonly team: string;
  /** Null: the team itself. */
  readonly user: string | null;
  readonly scopes?: readonly string[] | undefined;
  readonly email?: string | undefined;
  readonly output: Output;
}

export async function teamList(context: CommandContext, { output }: { readonly output: Output }): Promise<ExitCode> {
  const { terminal } = context;
  const answer = await askService(context, "edgewise team list", ({ client }) => client.json<{ data: readonly Team[] }>("GET", "/teams", { retries: 2 }), true);
  if (output === "json") terminal.print(printableJson(answer, 2));
  else for (const line of teamLines(answer.data, terminal.columns)) terminal.print(line);
  return EXIT.completed;
}

/** All of them may be repeated: the same change twice is one. */
export async function changeTeam(context: CommandContext, { method, team, user, scopes, email, output }: TeamChange): Promise<ExitCode> {
  const { terminal } = context;
  const path = `/teams/${encodeURIComponent(team)}${user === null ? "" : `/members/${encodeURIComponent(user)}`}`;
  const body = { ...(scopes === undefined ? {} : { scopes }), ...(email === undefined ? {} : { email }) };
  const answer = await askService(
    context,
    "edgewise team",
    ({ client }) => client.json<{ data: Team }>(method, path, { retries: method === "PUT" ? 2 : 0, ...(method === "PUT" ? { body } : {}) }),
    true,
  );
  if (output === "json") terminal.print(printableJson(answer, 2));
  else for (const line of teamLines([answer.data], terminal.columns)) terminal.print(line);
  return EXIT.completed;
}

export function teamLines(teams: readonly Team[], width: number): readonly string[] {
  const columns = [{ title: "TEAM" }, { title: "USER" }, { title: "MAY" }, { title: "EMAIL", flexible: true }] as const;
  const rows = teams.flatMap(({ team, members }) =>
    members.length === 0 ? [[team, "-", "-", "-"]] : members.map(({ user, email, scopes }) => [team, user, scopes.join(","), email ?? "-"].map(singleLine)),
  );
  return columnLines(columns, rows, width);
}
