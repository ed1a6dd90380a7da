/**
 * The scripted model server as a process of its own: prints one JSON line `{"url", "control_url"}` and serves until its standard
 * input closes or its parent is gone.
 */
import { startModelServer } from "./model-server.ts";
import { OPTIONS_HELP, readServerOptions, type ServerOptions } from "./model-server-options.ts";

if (process.argv.includes("--help")) {
  console.log(`usage: node test/support/model-server/model-server-cli.ts [options]\n${OPTIONS_HELP}`);
} else {
  let options: ServerOptions;
  try {
    options = readServerOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`model-server: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(2);
  }
  const server = await startModelServer(options.script, options.port);
  console.log(JSON.stringify({ url: server.url, control_url: server.controlUrl }));

  process.stdin.resume();
  process.stdin.once("end", () => process.exit(0));
  process.stdin.once("error", () => process.exit(0));
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(0);
  }, 500).unref();
}
