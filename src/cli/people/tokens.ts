/** `edgewise token create | list | revoke`. */
import { columnLines } from "../../report/text/columns.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { limitText, TOKEN_LIMITS, type TokenLimits } from "../../teams/limits.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import { serviceToken } from "../service/remote-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";

interface Token {
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly teams: readonly string[];
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
  /** Absent from services of before. */
  readonly limits?: TokenLimits;
}

export interface TokenWish {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires?: string | undefined;
  readonly user?: string | undefined;
  readonly teams?: readonly string[] | undefined;
  /** Its own; without any the team's hold. */
  readonly limits?: TokenLimits;
  readonly output: Output;
}

const NOBODY_ASKS =
  "The service of this folder asks nobody for a token: whoever is on this machine is its owner. It does when EDGEWISE_TOKEN is set where it is started (`EDGEWISE_TOKEN=… npx edgewise serve`).";

export async function tokenCreate(context: CommandContext, { name, scopes, expires, user, teams, limits = {}, output }: TokenWish): Promise<ExitCode> {
  const { terminal } = context;
  const body = {
    name,
    scopes,
    ...(expires ? { expires_in: expires } : {}),
    ...(user ? { user } : {}),
    ...(teams ? { teams } : {}),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
  };
  const answer = await askService(
    context,
    "edgewise token create",
    async ({ client, role }) => {
      // A token is shown this once: whoever makes one should hear beforehand that nobody asks for it.
      if (role !== "remote" && serviceToken(context.env) === null) terminal.tell(NOBODY_ASKS);
      return await client.json<{ data: Token & { readonly token: string } }>("POST", "/tokens", { body });
    },
    true,
  );
  if (output === "json") terminal.print(printableJson(answer, 2));
  else {
    // The text alone on what may go into a file or another command.
    terminal.print(singleLine(answer.data.token));
    terminal.tell(`Token ${answer.data.id}: ${wordsOf(answer.data)}. It is shown this once; give it to commands as EDGEWISE_TOKEN, to prime as PRIME_API_KEY.`);
  }
  return EXIT.completed;
}

export async function tokenList(context: CommandContext, { team, output }: { readonly team?: string | undefined; readonly output: Output }): Promise<ExitCode> {
  const { terminal } = context;
  const path = team === undefined ? "/tokens" : `/tokens?team_id=${encodeURIComponent(team)}`;
  const answer = await askService(context, "edgewise token list", ({ client }) => client.json<{ data: readonly Token[] }>("GET", path, { retries: 2 }), true);
  if (output === "json") terminal.print(printableJson(answer, 2));
  else if (answer.data.length === 0) terminal.tell("There are no tokens. One is made by `npx edgewise token create NAME --scope runs:write`.");
  else for (const line of tokenLines(answer.data, terminal.columns, Date.now())) terminal.print(line);
  return EXIT.completed;
}

export async function tokenRevoke(context: CommandContext, { id, output }: { readonly id: string; readonly output: Output }): Promise<ExitCode> {
  const { terminal } = context;
  const answer = await askService(
    context,
    "edgewise token revoke",
    ({ client }) => client.json<{ data: Token }>("DELETE", `/tokens/${encodeURIComponent(id)}`, { retries: 2 }),
    true,
  );
  if (output === "json") terminal.print(printableJson(answer, 2));
  else if (answer.data.revoked_at !== null) terminal.print(`Token ${id} is revoked; within ten seconds it is good nowhere.`);
  else terminal.print(`Token ${id} is no longer good in your teams; it still is in ${answer.data.teams.map(singleLine).join(", ")}.`);
  return EXIT.completed;
}

const wordsOf = ({ user, teams, scopes, expires_at }: Token): string =>
  singleLine(`${scopes.join(", ")} as ${user} in ${teams.join(", ")}${expires_at === null ? "" : `, until ${expires_at}`}`);

/** `now`: Unix milliseconds. */
export function tokenLines(tokens: readonly Token[], width: number, now: number): readonly string[] {
  const limited = tokens.some((token) => limitsOf(token) !== "-");
  const columns = [
    { title: "TOKEN" },
    { title: "NAME", flexible: true },
    { title: "USER" },
    { title: "TEAMS", flexible: true },
    { title: "SCOPES" },
    ...(limited ? [{ title: "LIMITS" }] : []),
    { title: "LAST USED" },
    { title: "ENDS" },
  ] as const;
  const rows = tokens.map(({ id, name, user, teams, scopes, last_used_at, ...rest }) =>
    [id, name, user, teams.join(","), scopes.join(","), ...(limited ? [limitsOf(rest)] : []), minuteOf(last_used_at) ?? "never", endOf(rest, now)].map(
      singleLine,
    ),
  );
  return columnLines(columns, rows, width);
}

/** `runs=2,rollouts=64`. */
function limitsOf({ limits = {} }: Pick<Token, "limits">): string {
  const own = TOKEN_LIMITS.flatMap((name) => (typeof limits[name] === "number" ? [`${name}=${limitText(name, limits[name])}`] : []));
  return own.length === 0 ? "-" : own.join(",");
}

function endOf({ revoked_at, expires_at }: Pick<Token, "revoked_at" | "expires_at">, now: number): string {
  if (revoked_at !== null) return "revoked";
  if (expires_at === null) return "-";
  return Date.parse(expires_at) <= now ? "over" : (minuteOf(expires_at) ?? "-");
}

const minuteOf = (moment: string | null): string | null => moment?.slice(0, 16).replace("T", " ") ?? null;
