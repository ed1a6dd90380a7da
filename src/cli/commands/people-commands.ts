/** `token`, `team` and `audit`: who may use a service, what for, and who did. */
import { Command, Option } from "commander";
import { LIFETIME_RULE, lifetime } from "../../teams/lifetime.ts";
import { SCOPES } from "../../teams/scopes.ts";
import type { Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { outputOption, slugOf } from "./shared-flags.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import { teamLimitOptions, teamLimitsGiven, tokenLimitOptions, tokenLimitsGiven } from "./limit-options.ts";

type Done = (code: ExitCode) => void;

export function tokenCommand(context: CommandContext, done: Done): Command {
  const token = new Command("token").description("tokens of the service's teams: make, list and revoke them");
  const create = token
    .command("create")
    .description("make a token; its text is shown this once")
    .argument("<name>", "what it is for")
    .addOption(scopeOption("what it is good for; may be given again").makeOptionMandatory())
    .addOption(new Option("--expires <TIME>", "end of the token, such as 30d, 12h or 90m; without it it is good until it is revoked").argParser(lifetimeText))
    .addOption(new Option("--user <USER>", "whose token it is; your own without it").argParser(slugOf("--user")))
    .addOption(teamsOption("where it is good, the usual team first; may be given again"))
    .addOption(outputOption())
    .action(async (name: string, { scope, expires, user, team, output, ...flags }: CreateFlags) => {
      const { tokenCreate } = await import("../people/tokens.ts");
      done(await tokenCreate(context, { name, scopes: scope ?? [], expires, user, teams: team, limits: tokenLimitsGiven({ ...flags }), output }));
    });
  for (const option of tokenLimitOptions()) create.addOption(option);
  token
    .command("list")
    .alias("ls")
    .description("show the tokens of a team, the newest first; never their texts")
    .addOption(new Option("--team <TEAM>", "of this team").argParser(slugOf("--team")))
    .addOption(outputOption())
    .action(async ({ team, output }: { team?: string; output: Output }) => {
      const { tokenList } = await import("../people/tokens.ts");
      done(await tokenList(context, { team, output }));
    });
  token
    .command("revoke")
    .description("revoke a token: within ten seconds it is good nowhere")
    .argument("<id>", "as `token list` shows it", tokenId)
    .addOption(outputOption())
    .action(async (id: string, { output }: { output: Output }) => {
      const { tokenRevoke } = await import("../people/tokens.ts");
      done(await tokenRevoke(context, { id, output }));
    });
  return token;
}

export function teamCommand(context: CommandContext, done: Done): Command {
  const team = new Command("team").description("teams of the service and who belongs to them; the owner changes them");
  const change = async (wish: {
    method: "PUT" | "DELETE";
    team: string;
    user: string | null;
    scopes?: string[] | undefined;
    email?: string | undefined;
    output: Output;
  }) => {
    const { changeTeam } = await import("../people/teams.ts");
    done(await changeTeam(context, wish));
  };
  team
    .command("list")
    .alias("ls")
    .description("show the teams that you administer, with their users")
    .addOption(outputOption())
    .action(async ({ output }: { output: Output }) => {
      const { teamList } = await import("../people/teams.ts");
      done(await teamList(context, { output }));
    });
  team
    .command("create")
    .description("make a team")
    .argument("<team>", "its name", slugOf("TEAM"))
    .addOption(outputOption())
    .action(async (name: string, { output }: { output: Output }) => change({ method: "PUT", team: name, user: null, output }));
  const limits = team
    .command("limits")
    .description("show what a team may use and what it does; a flag changes it first")
    .argument("<team>", "the team", slugOf("TEAM"))
    .addOption(outputOption())
    .action(async (name: string, flags: { output: Output } & Record<string, unknown>) => {
      const { teamLimits } = await import("../people/limits.ts");
      done(await teamLimits(context, { team: name, changes: teamLimitsGiven(flags), output: flags.output }));
    });
  for (const option of teamLimitOptions()) limits.addOption(option);
  team
    .command("add")
    .description("add a user to a team, or change what the user may do")
    .argument("<team>", "the team", slugOf("TEAM"))
    .argument("<user>", "the user, who is made if there is none", slugOf("USER"))
    .addOption(scopeOption("the most that the user's tokens may do; runs:write for a new user"))
    .addOption(new Option("--email <ADDRESS>", "by which Cloudflare Access names the person"))
    .addOption(outputOption())
    .action(async (name: string, user: string, { scope, email, output }: { scope?: string[]; email?: string; output: Output }) =>
      change({ method: "PUT", team: name, user, scopes: scope, email, output }),
    );
  team
    .command("remove")
    .description("take a user out of a team: the user's tokens are no longer good there")
    .argument("<team>", "the team", slugOf("TEAM"))
    .argument("<user>", "the user", slugOf("USER"))
    .addOption(outputOption())
    .action(async (name: string, user: string, { output }: { output: Output }) => change({ method: "DELETE", team: name, user, output }));
  return team;
}

export function auditCommand(context: CommandContext, done: Done): Command {
  return new Command("audit")
    .description("show who did what in a team, oldest first")
    .addOption(new Option("--team <TEAM>", "of this team").argParser(slugOf("--team")))
    .addOption(new Option("--after <N>", "entries after this number, as `seq` has it").default(0).argParser(entryNumber))
    .addOption(new Option("-o, --output <FORM>", "json is one object per line, to be kept elsewhere").choices(["table", "json"]).default("table"))
    .action(async ({ team, after, output }: { team?: string; after: number; output: Output }) => {
      const { showAudit } = await import("../people/audit.ts");
      done(await showAudit(context, { team, after, output }));
    });
}

function entryNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usageError(`--after: must be a whole number, not ${JSON.stringify(text)}`);
}

interface CreateFlags {
  readonly scope?: string[];
  readonly expires?: string;
  readonly user?: string;
  readonly team?: string[];
  readonly output: Output;
}

const scopeOption = (help: string): Option =>
  new Option("--scope <SCOPE>", `${help}: ${SCOPES.join(", ")}`).argParser((text, before: string[] | undefined) => {
    const unknown = text.split(",").find((scope) => !(SCOPES as readonly string[]).includes(scope));
    if (unknown !== undefined) throw usageError(`--scope: ${JSON.stringify(unknown)} is none of ${SCOPES.join(", ")}`);
    return [...(before ?? []), ...text.split(",")];
  });

const teamsOption = (help: string): Option =>
  new Option("--team <TEAM>", help).argParser((text, before: string[] | undefined) => [...(before ?? []), slugOf("--team")(text)]);

function lifetimeText(text: string): string {
  if (lifetime(text) !== null) return text;
  throw usageError(`--expires: ${LIFETIME_RULE}, not ${JSON.stringify(text)}`);
}

function tokenId(text: string): string {
  if (/^[0-9a-f]{12}$/.test(text)) return text;
  throw usageError("this is not the id of a token", "An id has twelve hex characters; `npx edgewise token list` shows them.");
}
