import { Command, Option } from "commander";
import { OPTIONS } from "../../config/options/options.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import { linkCommands } from "./link-commands.ts";
import { publishedCommands } from "./published-commands.ts";
import { environmentValueCommands } from "./secret-commands.ts";
import type { CommandContext } from "../service/command-context.ts";

/** `env init NAME`, `env test`, `env list`, `env install`; `env push` and what else is about published ones is in published-commands.ts, `env link` in link-commands.ts, `env secret` and `env var` in secret-commands.ts. */
export function envCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  const environments = new Command("env").description("write your own environments, publish them, and see which there are");
  const envDir = (): Option => new Option("--env-dir-path <DIR>", OPTIONS.env_dir_path.help).default(OPTIONS.env_dir_path.default);
  environments
    .command("init")
    .description("write a small environment that runs, with its test, to the folder of environments")
    .argument("<name>", "its id, such as my-env")
    .addOption(envDir())
    .action(async (name: string, { envDirPath }: { envDirPath: string }) => {
      const { envInit } = await import("../environments/env-init.ts");
      done(envInit(context, { name, envDir: envDirPath }));
    });
  environments
    .command("test")
    .description("run the tests that lie beside environments (*.test.ts), with Node's test runner")
    .argument("[names...]", "names or paths; all in the folder of environments when there is none")
    .addOption(envDir())
    .action(async (names: string[], { envDirPath }: { envDirPath: string }) => {
      const { envTest } = await import("../environments/env-test.ts");
      done(await envTest(context, { names, envDir: envDirPath }));
    });
  environments
    .command("list")
    .alias("ls")
    .description("show what can be run here, with arguments and defaults")
    .addOption(envDir())
    .addOption(new Option("-o, --output <FORM>", "form of what is printed").choices(["table", "json"]).default("table"))
    .action(async ({ envDirPath, output }: { envDirPath: string; output: "table" | "json" }) => {
      const { envList } = await import("../published/env-list.ts");
      done(await envList(context, { envDir: envDirPath, output }));
    });
  environments
    .command("install", { hidden: true })
    .description("not needed: environments are run from where they are")
    .argument("[names...]")
    .allowUnknownOption()
    .action((names: string[]) => {
      const name = names[0] ?? "my-env";
      throw usageError(
        "environments are not installed here: they are run from where they are",
        `A file or folder: npx edgewise eval run ./${name.split("/").at(-1)}.ts`,
        `A package: npm install NAME, and a file with \`export { default } from "NAME"\``,
        "`npx edgewise env list` shows what there is, `npx edgewise env init NAME` writes an example.",
      );
    });
  for (const command of linkCommands(context, done)) environments.addCommand(command);
  for (const command of publishedCommands(context, done)) environments.addCommand(command);
  for (const command of environmentValueCommands(context, done)) environments.addCommand(command);
  return environments;
}
