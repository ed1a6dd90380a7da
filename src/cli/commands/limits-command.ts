/** `limits`: what endpoints bear for each key, and who uses it. */
import { Command, Option } from "commander";
import { LIMIT_FIELDS } from "../../config/endpoints/given-limit.ts";
import { type LimitRow, limitRow } from "../../config/endpoints/limit-rows.ts";
import { issueText } from "../../config/issue-text.ts";
import { LIMIT_KINDS, type LimitKind } from "../../endpoint-limits/limit-kinds.ts";
import type { Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import { mustBeNone, outputOption, slugOf } from "./shared-flags.ts";

interface Flags {
  readonly team?: string;
  readonly output: Output;
}

const HELP: Readonly<Record<LimitKind, string>> = {
  concurrent: "requests in flight",
  requests: "requests per minute",
  tokens: "tokens per minute, input and output together",
  input_tokens: "input tokens per minute",
  output_tokens: "output tokens per minute",
};
const flagOf = (kind: LimitKind): string => `--${LIMIT_FIELDS[kind].replaceAll("_", "-")}`;

export function limitsCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const limits = new Command("limits").description("what endpoints bear for each key: as given, told and found, what is in flight and waits, and who uses it");
  const command = (name: string, description: string, options: { isDefault?: boolean } = {}): Command =>
    limits.command(name, options).description(description).addOption(teamOption()).addOption(outputOption());
  command("list", "show each endpoint, key and model that runs call (what `limits` alone does)", { isDefault: true })
    .alias("ls")
    .allowExcessArguments()
    .action(async (flags: Flags, { args }: Command) => {
      mustBeNone(args, limits);
      const { limitsList } = await import("../endpoint-limits/endpoint-limits.ts");
      done(await limitsList(context, flags));
    });
  command("get", "show one of them")
    .argument("<limiter>", "as `limits` shows it")
    .action(async (id: string, flags: Flags) => {
      const { limitsGet } = await import("../endpoint-limits/endpoint-limits.ts");
      done(await limitsGet(context, { id, ...flags }));
    });
  command("given", "show the limits that the service keeps").action(async (flags: Flags) => {
    const { limitsGiven } = await import("../endpoint-limits/endpoint-limits.ts");
    done(await limitsGiven(context, flags));
  });
  const set = command("set", "give a limit: all runs keep to it together, those at work too; under a name that is given it takes the other's place")
    .argument("<name>", "what the limit is called")
    .addOption(new Option("--endpoint-id <ID>", "an endpoint that the service keeps, each of its places by itself"))
    .addOption(new Option("-b, --api-base-url <URL>", "or the address of the endpoint"))
    .addOption(new Option("-k, --api-key-var <NAME>", "name of the key, never the key; any that the address is called with where it is left out"))
    .addOption(new Option("-m, --model <MODEL>", "model, or several with *; each by itself where it is left out"));
  for (const kind of LIMIT_KINDS) set.addOption(new Option(`${flagOf(kind)} <N>`, HELP[kind]).argParser(numberOf(flagOf(kind))));
  set.action(async (name: string, { team, output, ...given }: Flags & Record<string, unknown>) => {
    const { limitsSet } = await import("../endpoint-limits/endpoint-limits.ts");
    done(await limitsSet(context, { name, row: rowOf(given), team, output }));
  });
  command("clear", "give a limit no more")
    .argument("<name>", "as `limits given` shows it")
    .action(async (name: string, flags: Flags) => {
      const { limitsClear } = await import("../endpoint-limits/endpoint-limits.ts");
      done(await limitsClear(context, { name, ...flags }));
    });
  command("forget", "forget what was found of an endpoint and told by it, so that it is found anew; what is given stays")
    .argument("<limiter>", "as `limits` shows it")
    .action(async (id: string, flags: Flags) => {
      const { limitsForget } = await import("../endpoint-limits/endpoint-limits.ts");
      done(await limitsForget(context, { id, ...flags }));
    });
  return limits;
}

const teamOption = (): Option => new Option("--team <TEAM>", "of this team").argParser(slugOf("--team"));

const numberOf =
  (flag: string) =>
  (text: string): number => {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw usageError(`${flag}: must be a whole number, not ${JSON.stringify(text)}`);
  };

/** Flags under the names of the request, checked as the service does. */
function rowOf(given: Readonly<Record<string, unknown>>): LimitRow {
  const named = Object.entries(given).map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]);
  const parsed = limitRow.safeParse(Object.fromEntries(named));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const flag = issue === undefined ? "" : `--${issue.path.join("-").replaceAll("_", "-")} `;
  throw usageError(
    `limits set: ${flag}${issue === undefined ? "cannot be read" : issueText(issue)}`,
    "For example: npx edgewise limits set openai -b https://api.openai.com/v1 -k OPENAI_API_KEY --requests-per-minute 500",
  );
}
