/** `edgewise cache stats | clear`: the answers that a team's runs have kept. What a run makes of them is its `--cache`. */
import { fieldLines } from "../../report/text/columns.ts";
import { thousands } from "../../report/text/format.ts";
import { printableJson } from "../../report/text/printable.ts";
import { askService, type Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { asker } from "../terminal/ask.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";

export interface CacheWish {
  readonly team?: string | undefined;
  readonly output: Output;
}

export interface ClearWish extends CacheWish {
  readonly model?: string | undefined;
  readonly olderThanDays?: number | undefined;
  /** Nobody is asked. */
  readonly yes?: boolean | undefined;
}

interface Stats {
  readonly answers: number;
  readonly bytes: number;
  readonly oldest_at: string | null;
  readonly expires_at: string | null;
  readonly asking: number;
}

const path = (query: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as [string, string]]));
  return given.length === 0 ? "/cache" : `/cache?${new URLSearchParams(given)}`;
};

const statsOf = (context: CommandContext, command: string, team: string | undefined): Promise<{ readonly data: Stats }> =>
  askService(context, command, ({ client }) => client.json<{ data: Stats }>("GET", path({ team_id: team }), { retries: 2 }), true);

const countText = ({ answers, bytes }: Pick<Stats, "answers" | "bytes">): string =>
  `${thousands(answers)} ${answers === 1 ? "answer" : "answers"} (${bytes < 1e6 ? `${thousands(Math.ceil(bytes / 1e3))} kB` : `${thousands(Math.round(bytes / 1e6))} MB`})`;

export async function cacheStats(context: CommandContext, { team, output }: CacheWish): Promise<ExitCode> {
  const { terminal } = context;
  const answer = await statsOf(context, "edgewise cache stats", team);
  const { data } = answer;
  if (output === "json") terminal.print(printableJson(answer, 2));
  else if (data.answers === 0 && data.asking === 0) terminal.tell("No answers are kept. `npx edgewise eval run … --cache read-write` keeps those of its run.");
  else
    for (const line of fieldLines([
      ["Kept", countText(data)],
      ...(data.oldest_at === null ? [] : [["Oldest", data.oldest_at] as const]),
      ...(data.expires_at === null ? [] : [["Expires", `${data.expires_at} (the next)`] as const]),
      ...(data.asking === 0 ? [] : [["Asking", `${thousands(data.asking)} more`] as const]),
    ]))
      terminal.print(line);
  return EXIT.completed;
}

export async function cacheClear(context: CommandContext, { team, model, olderThanDays, yes, output }: ClearWish): Promise<ExitCode> {
  const { terminal } = context;
  if (yes !== true && !(await isAgreed(context, { team, model, olderThanDays }))) {
    terminal.tell("Nothing is cleared.");
    return EXIT.unconfirmed;
  }
  const answer = await askService(
    context,
    "edgewise cache clear",
    ({ client }) => client.json<{ data: Pick<Stats, "answers" | "bytes"> }>("DELETE", path({ team_id: team, model, older_than_days: olderThanDays })),
    true,
  );
  const cleared =
    answer.data.answers === 0 ? "Nothing is cleared: no such answers are kept." : `Cleared: ${countText(answer.data)}. Runs ask anew from now on.`;
  terminal.print(output === "json" ? printableJson(answer, 2) : cleared);
  return EXIT.completed;
}

async function isAgreed(context: CommandContext, { team, model, olderThanDays }: Pick<ClearWish, "team" | "model" | "olderThanDays">): Promise<boolean> {
  const ask = asker(new AbortController().signal);
  if (ask === null)
    throw new CliError("cache clear: nobody can be asked here, and what is cleared has to be paid for again", {
      exitCode: EXIT.unconfirmed,
      hints: ["--yes clears it without a question."],
    });
  const { data } = await statsOf(context, "edgewise cache clear", team);
  const which = [...(model === undefined ? [] : [` of ${model}`]), ...(olderThanDays === undefined ? [] : [` kept for ${olderThanDays} days or more`])].join(
    "",
  );
  return ask(`${countText(data)} are kept. Clear ${which === "" ? "all of them" : `those${which}`}? [y/N] `);
}
