import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { CliError, EXIT, usageError } from "../terminal/cli-error.ts";

/**
 * A value that is not to stand in the history of a shell: `given` on the command line, else what comes in on standard input (without the end of its last
 * line), else typed at a terminal, which does not show it.
 */
export async function readValue(given: string | undefined, what: string, otherwise = "pipe it in (`< file`), or give it with --value"): Promise<string> {
  const value = given ?? (process.stdin.isTTY ? await typed(what) : (await text(process.stdin)).replace(/\r?\n$/, ""));
  if (value.trim() !== "") return value;
  throw usageError(`no value for ${what}`, `Type it when you are asked, ${otherwise}.`);
}

async function typed(what: string): Promise<string> {
  process.stderr.write(`Value of ${what} (it is not shown): `);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: true });
  try {
    return await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("SIGINT", () => reject(new CliError("nothing was changed", { exitCode: EXIT.interrupted })));
      lines.once("close", () => resolve(""));
    });
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
