/**
 * Starts the scripted model server, runs a command against it, and exits with the command's code:
 *
 *   npx node test/support/model-server/with-model-server.ts --latency-ms 20 -- npx edgewise eval run reverse-text -m scripted -b {url}
 *
 * `{url}` in an argument becomes the base URL, which the command also finds in EDGEWISE_DEMO_URL.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { startModelServer } from "./model-server.ts";
import { OPTIONS_HELP, readServerOptions } from "./model-server-options.ts";

const args = process.argv.slice(2);
const border = args.indexOf("--");
const [command, ...rest] = border < 0 ? [] : args.slice(border + 1);

if (command === undefined) {
  console.error(`usage: node test/support/model-server/with-model-server.ts [options] -- COMMAND...\n${OPTIONS_HELP}`);
  process.exitCode = 2;
} else {
  try {
    const { script, port } = readServerOptions(args.slice(0, border));
    const server = await startModelServer(script, port);
    process.exitCode = await run(
      command,
      rest.map((part) => part.replaceAll("{url}", server.url)),
      server.url,
    );
    await server.close();
  } catch (error) {
    console.error(`with-model-server: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 2;
  }
}

function run(name: string, rest: readonly string[], url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(name, rest, { stdio: "inherit", env: { ...process.env, EDGEWISE_DEMO_URL: url } });
    // Ctrl-C reaches the child by itself; a signal to this process alone does not. Either way the child decides when it ends.
    process.on("SIGINT", () => undefined);
    process.on("SIGTERM", () => child.kill("SIGTERM"));
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
