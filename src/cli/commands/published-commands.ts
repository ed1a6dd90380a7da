/** `env push`, `info`, `status`, `versions`, `pull`, `visibility` and `delete`, to be put below `env`: environments that a service has by name. */
import { Command, Option } from "commander";
import { OPTIONS } from "../../config/options/options.ts";
import { VISIBILITIES, type Visibility } from "../../published/published-name.ts";
import type { Output } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { type ExitCode, usageError } from "../terminal/cli-error.ts";
import { outputOption, slugOf } from "./shared-flags.ts";

interface Flags {
  readonly output: Output;
}

type Done = (code: ExitCode) => void;

export const publishedCommands = (context: CommandContext, done: Done): readonly Command[] => [pushCommand(context, done), ...lookCommands(context, done)];

function pushCommand(context: CommandContext, done: Done): Command {
  return new Command("push")
    .description("publish an environment of this machine under its team's name: OWNER/NAME@VERSION")
    .argument("[path]", "its file or folder, or its name in the folder of environments", ".")
    .addOption(new Option("--env-dir-path <DIR>", OPTIONS.env_dir_path.help).default(OPTIONS.env_dir_path.default))
    .option("--version <VERSION>", "its version, in the place of the definition's; a version has one code for ever")
    .addOption(new Option("--visibility <WHO>", "PRIVATE: its team sees it (so a new one is). PUBLIC: everybody").argParser(visibilityOf))
    .addOption(new Option("--team <TEAM>", "whose it is; default: your first team").argParser(slugOf("--team")))
    .addOption(outputOption())
    .action(async (path: string, { envDirPath, ...flags }: Flags & { envDirPath: string; version?: string; visibility?: Visibility; team?: string }) => {
      const { envPush } = await import("../published/push.ts");
      done(await envPush(context, { path, envDir: envDirPath, ...flags }));
    });
}

const REFERENCE = "OWNER/NAME, or OWNER/NAME@VERSION";

function lookCommands(context: CommandContext, done: Done): readonly Command[] {
  const command = (name: string, does: string, what: string): Command =>
    new Command(name).description(does).argument("<environment>", what).addOption(outputOption());
  return [
    command("info", "show an environment that the service has by name, with its arguments", `${REFERENCE}; or the name of a linked one`).action(
      async (reference: string, flags: Flags) => {
        const { envInfo } = await import("../published/published.ts");
        done(await envInfo(context, { reference, ...flags }));
      },
    ),
    command("status", "show its visibility and latest version; of a linked one, how its servers are", "OWNER/NAME, or the name of a linked one").action(
      async (reference: string, flags: Flags) => {
        const { envStatus } = await import("../published/published.ts");
        done(await envStatus(context, { reference, ...flags }));
      },
    ),
    command("versions", "show its versions", "OWNER/NAME").action(async (reference: string, flags: Flags) => {
      const { envVersions } = await import("../published/published.ts");
      done(await envVersions(context, { reference, ...flags }));
    }),
    command("pull", "write its code, source map and manifest to a folder, to be read", REFERENCE)
      .option("-t, --target <DIR>", "a folder that is not there; default: NAME-VERSION")
      .action(async (reference: string, flags: Flags & { target?: string }) => {
        const { envPull } = await import("../published/published.ts");
        done(await envPull(context, { reference, ...flags }));
      }),
    command("visibility", "publish it for everybody, or for its team alone again", "OWNER/NAME")
      .argument("<who>", VISIBILITIES.join(" or "), visibilityOf)
      .action(async (reference: string, visibility: Visibility, flags: Flags) => {
        const { envVisibility } = await import("../published/published.ts");
        done(await envVisibility(context, { reference, visibility, ...flags }));
      }),
    command("delete", "delete a version, or an environment with all of them; runs that were made with it stay", REFERENCE).action(
      async (reference: string, flags: Flags) => {
        const { envDelete } = await import("../published/published.ts");
        done(await envDelete(context, { reference, ...flags }));
      },
    ),
  ];
}

function visibilityOf(text: string): Visibility {
  const found = VISIBILITIES.find((each) => each === text.toUpperCase());
  if (found !== undefined) return found;
  throw usageError(`${JSON.stringify(text)} is no visibility`, `It is ${VISIBILITIES.join(" or ")}.`);
}
