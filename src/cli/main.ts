/** The process that `bin/edgewise.js` starts. */
import * as nodeModule from "node:module";
import { homedir } from "node:os";
import { runCommandLine } from "./program.ts";
import { processTerminal } from "./terminal/terminal.ts";

// Compiling the runtime's five megabytes of glue again at every start would cost a third of a second. Younger than Node 20.
(nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.();

/** What compilers have left to do when a command is done takes less, in milliseconds. */
const LEAVE_MS = 25;

const terminal = processTerminal();
const code = await runCommandLine(process.argv.slice(2), { env: process.env, cwd: process.cwd(), home: homedir(), terminal });
// What is written must reach the reader first.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => stream.write("", () => resolve()))));
// `process.exit` waits for V8's compilers, and one of those that waits for a collection waits for this thread, for ever (seen with Node 24): a moment in the loop gives it one.
// Idle connections would hold the process for seconds. On a terminal it leaves at once: what a display has scheduled yet must not be drawn on a screen that was given back.
if (process.stdout.isTTY) process.exit(code);
setTimeout(() => process.exit(code), LEAVE_MS);
