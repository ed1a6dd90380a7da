/** `alert`: who is told what happens to runs, schedules and monitors. */
import { Command, Option } from "commander";
import { alertSchema, type GivenAlert } from "../../../alerts/alert-definition.ts";
import { DESTINATIONS } from "../../../alerts/destinations.ts";
import { OCCURRENCE_TYPES } from "../../../alerts/occurrence-types.ts";
import { issueText } from "../../../config/issue-text.ts";
import type { Output } from "../../runs/ask-service.ts";
import type { CommandContext } from "../../service/command-context.ts";
import { type ExitCode, usageError } from "../../terminal/cli-error.ts";
import { outputOption, slugOf } from "../shared-flags.ts";

interface Flags {
  readonly team?: string;
  readonly output: Output;
}
type Wish = Flags & { readonly name: string };
type Act = (module: typeof import("../../alerts/alerts.ts")) => (context: CommandContext, wish: Wish) => Promise<ExitCode>;

const teamOption = (): Option => new Option("--team <TEAM>", "of this team").argParser(slugOf("--team"));

/** A flag of the definition, by what the definition says of it. */
const flagOf = (key: keyof GivenAlert, value: string, more = ""): Option =>
  new Option(`--${key} <${value}>`, `${alertSchema.shape[key].description ?? ""}${more}`);
const AGAIN = " May be given again.";
const oneMore = (text: string, before: readonly string[] = []): readonly string[] => [...before, text];

interface Definition {
  readonly to?: string;
  readonly url?: string;
  readonly urlVar?: string;
  readonly email?: string;
  readonly on?: readonly string[];
  readonly for?: readonly string[];
}

export function alertCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const alert = new Command("alert").description("who is told what happens to runs, schedules and monitors: webhooks, Slack, Discord, email");
  alert
    .command("add")
    .description("make an alert, or give it another definition, and enable it; shows the signing secret of a new webhook")
    .argument("<name>", "what it is called, such as oncall")
    .addOption(flagOf("to", "PLACE").choices(DESTINATIONS).makeOptionMandatory())
    .addOption(flagOf("url", "URL", " - reads it from standard input."))
    .addOption(new Option("--url-var <NAME>", "instead of --url: the variable that holds it, so that it stands in no shell history"))
    .addOption(flagOf("email", "ADDRESS"))
    .addOption(flagOf("on", "TYPE", AGAIN).argParser(oneMore))
    .addOption(flagOf("for", "NAME", AGAIN).argParser(oneMore))
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (name: string, { team, output, ...flags }: Flags & Definition) => {
      const given = checked(await withAddress(name, flags, context.env));
      const { alertAdd } = await import("../../alerts/alerts.ts");
      done(await alertAdd(context, { name, given, team, output }));
    });
  alert
    .command("list")
    .alias("ls")
    .description("show the alerts of a team")
    .addOption(teamOption())
    .addOption(outputOption())
    .action(async (flags: Flags) => {
      const { alertList } = await import("../../alerts/alerts.ts");
      done(await alertList(context, flags));
    });
  const named = (command: string, description: string): Command =>
    alert.command(command).description(description).argument("<name>", "the alert").addOption(teamOption()).addOption(outputOption());
  const acting = (command: string, description: string, act: Act): Command =>
    named(command, description).action(async (name: string, flags: Flags) =>
      done(await act(await import("../../alerts/alerts.ts"))(context, { name, ...flags })),
    );
  acting("get", "show an alert, and the newest message of it", ({ alertGet }) => alertGet);
  acting("test", "send a message that says that it is a test, and show what its receiver answered", ({ alertTest }) => alertTest);
  named("log", "show messages, what their receiver answered, and when the next attempt is")
    .addOption(new Option("--limit <N>", "the newest so many, 1000 at most").argParser(Number).default(100))
    .action(async (name: string, flags: Flags & { limit: number }) => {
      const { alertLog } = await import("../../alerts/alerts.ts");
      done(await alertLog(context, { name, ...flags }));
    });
  named("resend", "send a message once more, with its id, and show what its receiver answered")
    .argument("<message>", "its id, as `alert log` shows it")
    .action(async (name: string, message: string, flags: Flags) => {
      const { alertResend } = await import("../../alerts/alerts.ts");
      done(await alertResend(context, { name, message, ...flags }));
    });
  acting("rotate", "another signing secret; for a day messages are signed with both", ({ alertRotate }) => alertRotate);
  acting("delete", "delete an alert and its messages", ({ alertDelete }) => alertDelete);
  return alert;
}

/** With the address from wherever it stands. */
async function withAddress(name: string, { url, urlVar, ...given }: Definition, env: NodeJS.ProcessEnv): Promise<object> {
  if (url !== undefined && urlVar !== undefined) throw usageError("--url-var: is not possible beside --url");
  if (urlVar !== undefined) {
    const { addressIn, unsetAddress } = await import("../../alerts/alert-address.ts");
    const address = addressIn(urlVar, env);
    if (address === null) throw usageError(`--url-var: ${unsetAddress(urlVar)}`, `Example: ${urlVar}=https://… npx edgewise alert add ${name} …`);
    return { ...given, url: address };
  }
  if (url !== "-") return url === undefined ? given : { ...given, url };
  const { readValue } = await import("../../secrets/read-value.ts");
  return { ...given, url: (await readValue(undefined, `the address of the alert ${name}`)).trim() };
}

/** What is wrong with it is told by its flag. */
function checked(asked: object): GivenAlert {
  const parsed = alertSchema.safeParse(asked);
  if (parsed.success) return asked as GivenAlert;
  const [issue] = parsed.error.issues;
  const key = String(issue?.path[0] ?? "");
  const problem = key === "on" ? `must be one of ${OCCURRENCE_TYPES.join(", ")}` : issue === undefined ? "not possible" : issueText(issue);
  throw usageError(`--${key}: ${problem}`, "Example: npx edgewise alert add oncall --to slack --url-var SLACK_URL --on run.failed --on drift");
}
