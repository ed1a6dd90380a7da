/** `edgewise team limits`: what a team may use and what it does; with flags they are changed first. */
import { columnLines } from "../../report/text/columns.ts";
import { printableJson, singleLine } from "../../report/text/printable.ts";
import { limitText, TEAM_LIMITS, type TeamLimitName } from "../../teams/limits.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";

/** `null`: no limit. */
export type LimitChanges = { readonly [Name in TeamLimitName]?: number | null | "default" };

interface Facts {
  readonly team: string;
  readonly limits: Readonly<Partial<Record<TeamLimitName, number | null>>>;
  readonly set: readonly string[];
  readonly used: Readonly<Partial<Record<TeamLimitName, number>>>;
}

export interface LimitWish {
  readonly team: string;
  readonly changes: LimitChanges;
  readonly output: Output;
}

export async function teamLimits(context: CommandContext, { team, changes, output }: LimitWish): Promise<ExitCode> {
  const { terminal } = context;
  const path = `/teams/${encodeURIComponent(team)}/limits`;
  const answer = await askService(
    context,
    "edgewise team limits",
    ({ client }) => {
      if (Object.keys(changes).length === 0) return client.json<{ data: Facts }>("GET", path, { retries: 2 });
      return client.json<{ data: Facts }>("PUT", path, { retries: 2, body: changes });
    },
    true,
  );
  if (output === "json") terminal.print(printableJson(answer, 2));
  else for (const line of limitLines(answer.data, terminal.columns)) terminal.print(line);
  return EXIT.completed;
}

export function limitLines({ limits, set, used }: Facts, width: number): readonly string[] {
  const columns = [{ title: "LIMIT", flexible: true }, { title: "VALUE", align: "right" }, { title: "IN USE", align: "right" }, { title: "SET" }] as const;
  const rows = TEAM_LIMITS.filter((name) => limits[name] !== undefined).map((name) => {
    const inUse = used[name];
    return [name, limitText(name, limits[name] ?? null), inUse === undefined ? "-" : limitText(name, inUse), set.includes(name) ? "yes" : "default"].map(
      singleLine,
    );
  });
  return columnLines(columns, rows, width);
}
