/** `secret`, `env secret` and `env var`: what a team keeps for its environments and models. */
import { Command, Option } from "commander";
import { HOST_RULE, isHost, isSecretName, NAME_RULE } from "../../secrets/secret-rules.ts";
import type { Output } from "../runs/ask-service.ts";
import type { Shelf } from "../secrets/kept-values.ts";
import type { CommandContext } from "../service/command-context.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import { outputOption, slugOf } from "./shared-flags.ts";

type Done = (code: ExitCode) => void;

interface Flags {
  readonly value?: string;
  readonly description?: string;
  readonly host?: string[];
  readonly name?: string;
  readonly team?: string;
  readonly output: Output;
}

export function secretCommand(context: CommandContext, done: Done): Command {
  const secret = new Command("secret").description("secrets of a team: keys of models (--host), and what its environments need; nobody can read them back");
  shelfCommands(context, done, secret, "secret", false);
  secret
    .command("rotate")
    .description("encrypt every secret with another master key while the service works; may be typed again")
    .action(async () => {
      const { secretRotate } = await import("../secrets/rotate.ts");
      done(await secretRotate(context));
    });
  secret
    .command("key")
    .description("write a new master key for a deployment to a file that is not there yet")
    .argument("<file>", "for `npx wrangler secret put EDGEWISE_MASTER_KEY < FILE`")
    .action(async (file: string) => {
      const { secretKey } = await import("../secrets/rotate.ts");
      done(secretKey(context, file));
    });
  return secret;
}

/** `env secret` and `env var`, to be put below `env`. */
export function environmentValueCommands(context: CommandContext, done: Done): readonly Command[] {
  const secrets = new Command("secret").description("secrets of one environment, and those of the team that are linked to it");
  shelfCommands(context, done, secrets, "secret", true);
  for (const [verb, method, does] of [
    ["link", "POST", "give one of the team's secrets to an environment"],
    ["unlink", "DELETE", "take it away again"],
  ] as const)
    secrets
      .command(verb)
      .description(does)
      .argument("<env>", "the environment")
      .argument("<secret>", "name or id, as `secret list` shows it")
      .addOption(teamOption())
      .addOption(outputOption())
      .action(async (environment: string, named: string, { team, output }: Flags) => {
        const { link } = await import("../secrets/kept-values.ts");
        done(await link(context, { what: "secret", environment, team, output }, named, method));
      });
  const variables = new Command("var").description("variables of one environment: settings that may be seen");
  shelfCommands(context, done, variables, "variable", true);
  return [secrets, variables];
}

/** `list`, `create`, `get`, `update` and `delete`, each with the environment first where it is of one. */
function shelfCommands(context: CommandContext, done: Done, parent: Command, what: Shelf["what"], ofEnvironment: boolean): void {
  const command = (name: string, description: string): Command => {
    const made = parent.command(name).description(description).addOption(teamOption()).addOption(outputOption());
    return ofEnvironment ? made.argument("<env>", "the environment") : made;
  };
  const shelfOf = (words: readonly string[], { team, output }: Flags): { readonly shelf: Shelf; readonly named: string } => {
    const [first = "", second = ""] = words;
    return { shelf: { what, environment: ofEnvironment ? first : null, team, output }, named: ofEnvironment ? second : first };
  };
  const acting = (made: Command, act: (words: readonly string[], flags: Flags) => Promise<ExitCode>): void => {
    made.action(async (...args: unknown[]) =>
      done(
        await act(
          args.filter((arg) => typeof arg === "string"),
          made.opts<Flags>() as Flags,
        ),
      ),
    );
  };
  const withValue = (made: Command): Command => {
    made.addOption(new Option("--value <TEXT>", "its value; without it what comes in on standard input, or is typed and not shown"));
    made.addOption(new Option("--description <TEXT>", "what it is for"));
    if (!ofEnvironment)
      made.addOption(new Option("--host <HOST>", "it is the key of models at this host, and is sent nowhere else; may be given again").argParser(hostOf));
    return made;
  };
  acting(command("list", `show the ${what}s${what === "secret" ? ", never their values" : " with their values"}`).alias("ls"), async (words, flags) => {
    const { list } = await import("../secrets/kept-values.ts");
    return list(context, shelfOf(words, flags).shelf);
  });
  acting(withValue(command("create", `keep a ${what}`).argument("<name>", "capitals, digits and _", nameOf)), async (words, flags) => {
    const { create } = await import("../secrets/kept-values.ts");
    const { shelf, named } = shelfOf(words, flags);
    return create(context, shelf, { name: named, value: flags.value, description: flags.description, hosts: flags.host });
  });
  acting(command("get", `show one ${what}${what === "secret" ? ", without its value" : ""}`).argument("<which>", "name or id"), async (words, flags) => {
    const { get } = await import("../secrets/kept-values.ts");
    const { shelf, named } = shelfOf(words, flags);
    return get(context, shelf, named);
  });
  const changing = withValue(command("update", `change a ${what}: its value, unless other flags say what`).argument("<which>", "name or id"));
  acting(changing.addOption(new Option("--name <NAME>", "another name").argParser(nameOf)), async (words, flags) => {
    const { update } = await import("../secrets/kept-values.ts");
    const { shelf, named } = shelfOf(words, flags);
    return update(context, shelf, named, { value: flags.value, description: flags.description, hosts: flags.host, rename: flags.name });
  });
  acting(command("delete", `delete a ${what}`).alias("rm").argument("<which>", "name or id"), async (words, flags) => {
    const { remove } = await import("../secrets/kept-values.ts");
    const { shelf, named } = shelfOf(words, flags);
    return remove(context, shelf, named);
  });
}

const teamOption = (): Option => new Option("--team <TEAM>", "of this team").argParser(slugOf("--team"));

function nameOf(text: string): string {
  if (isSecretName(text)) return text;
  throw usageError(`${JSON.stringify(text)} ${NAME_RULE}`);
}

function hostOf(text: string, before: string[] = []): string[] {
  const host = text.toLowerCase();
  if (isHost(host)) return [...before, host];
  throw usageError(`--host: ${HOST_RULE}, not ${JSON.stringify(text)}`);
}
