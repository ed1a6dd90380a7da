import { Command } from "commander";
import type { CommandContext } from "../service/command-context.ts";
import type { ExitCode } from "../terminal/cli-error.ts";

/** `open [RUN]`. */
export function openCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  return new Command("open")
    .description("open the dashboard in a browser, or the page of a run: of the service that EDGEWISE_URL names, else of the one that runs in this folder")
    .argument("[run]", "run id, or its results folder")
    .option("--print", "print the address, and open nothing", false)
    .action(async (run: string | undefined, { print }: { print: boolean }) => {
      const { openPage } = await import("../runs/open-page.ts");
      done(await openPage(context, { run: run ?? null, print }));
    });
}
