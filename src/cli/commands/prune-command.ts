import { Command } from "commander";
import type { ExitCode } from "../terminal/cli-error.ts";
import type { CommandContext } from "../service/command-context.ts";

/** `prune`. */
export function pruneCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  return new Command("prune").description("remove the state of finished runs whose results folder is complete; the folders stay").action(async () => {
    const { prune } = await import("../runs/prune.ts");
    done(await prune(context));
  });
}
