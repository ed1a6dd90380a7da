/** `env link` and `env unlink`, to be put below `env`: environments whose code runs elsewhere. */
import { Command } from "commander";
import type { Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import type { ExitCode } from "../terminal/cli-error.ts";
import { outputOption, slugOf } from "./shared-flags.ts";

interface Flags {
  readonly team?: string;
  readonly output: Output;
}

export function linkCommands(context: CommandContext, done: (code: ExitCode) => void): readonly Command[] {
  const link = new Command("link")
    .description("have the service play an environment at a server that runs its code, by a name of your team")
    .argument("<name>", "what it is called here, such as wiki-search")
    .argument("<url...>", "base URL of its server; several have the same code")
    .option("--token-var <VAR>", "the variable that holds the server's token; without it you are asked for the token")
    .option("--team <TEAM>", "whose it is; default: your first team", slugOf("--team"))
    .addOption(outputOption())
    .action(async (name: string, urls: string[], { tokenVar, ...flags }: Flags & { tokenVar?: string }) => {
      const { envLink } = await import("../links/links.ts");
      done(await envLink(context, { name, urls, tokenVar, ...flags }));
    });
  const unlink = new Command("unlink")
    .description("forget the server of a linked environment; runs that were made with it stay")
    .argument("<name>", "as `env list` shows it")
    .option("--team <TEAM>", "whose it is; default: your first team", slugOf("--team"))
    .addOption(outputOption())
    .action(async (name: string, flags: Flags) => {
      const { envUnlink } = await import("../links/links.ts");
      done(await envUnlink(context, { name, ...flags }));
    });
  return [link, unlink];
}
