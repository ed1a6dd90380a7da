/** The process that `bin/edgewise.js` starts. */
import * as nodeModule from "node:module";
import { homedir } from "node:os";
import { runCommandLine } from "./program.ts";
import { processTerminal } from "./terminal/terminal.ts";

// Compiling the runtime's five megabytes of glue again at every start would cost a third of a second. Younger than Node 20.
(nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.();

const terminal = processTerminal();
const code = await runCommandLine(process.argv.slice(2), { env: process.env, cwd: process.cwd(), home: homedir(), terminal });
// Idle connections would hold the process for seconds; what is written must reach the reader first.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => stream.write("", () => resolve()))));
process.exit(code);
