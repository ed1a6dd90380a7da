import { Command, Option } from "commander";
import { OPTIONS } from "../../../config/options/options.ts";
import { type ExitCode, usageError } from "../../terminal/cli-error.ts";
import type { CommandContext } from "../../service/command-context.ts";
import { DEFAULT_PORT } from "../../service/default-port.ts";

/** `serve [--port N]`. */
export function serveCommand(context: CommandContext, done: (code: ExitCode) => void): Command {
  return new Command("serve")
    .description("run the service on this machine until Ctrl-C; unfinished runs created over HTTP go on by themselves")
    .addOption(new Option("--port <N>", "port to listen on (0 = any free one)").default(DEFAULT_PORT).argParser(readPort))
    .addOption(new Option("--env <PATH...>", "environments of this machine to serve, beside those in --env-dir-path").default([]))
    .addOption(new Option("--env-dir-path <DIR>", OPTIONS.env_dir_path.help).default(OPTIONS.env_dir_path.default))
    .action(async ({ port, env, envDirPath }: { port: number; env: string[]; envDirPath: string }) => {
      const { serve } = await import("./serve.ts");
      done(await serve({ ...context, port, paths: env, envDir: envDirPath }));
    });
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw usageError(`--port: not a port number: ${JSON.stringify(text)}`, "Example: --port 8787");
  return port;
}
