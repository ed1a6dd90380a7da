/** The process that `bin/edgewise.js` starts. */
import * as nodeModule from "node:module";
import { homedir } from "node:os";
import { runCommandLine } from "./program.ts";
import { processTerminal } from "./terminal/terminal.ts";

// Compiling the runtime's five megabytes of glue again at every start would cost a third of a second. Younger than Node 20.
(nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.();

/** How long what is idle may hold a process that is done, in milliseconds. */
const LEAVE_MS = 25;

const terminal = processTerminal();
const code = await runCommandLine(process.argv.slice(2), { env: process.env, cwd: process.cwd(), home: homedir(), terminal });
// What is written must reach the reader first.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => stream.write("", () => resolve()))));
// The process ends by itself where nothing holds it: `process.exit` waits for V8's compilers, and one of those that waits for a collection waits for this thread, for ever
// (seen with Node 24). Idle connections would hold it for seconds: those are left after a moment, by when compilers had their collection.
process.exitCode = code;
setTimeout(() => process.exit(code), LEAVE_MS).unref();
