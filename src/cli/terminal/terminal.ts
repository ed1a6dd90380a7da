/** Where a command prints: its report to standard output, everything that happens on the way to standard error. */
import { printable } from "../../report/text/printable.ts";
import { mask } from "../../errors/masking.ts";
import { CliError, EXIT, type ExitCode } from "./cli-error.ts";

export interface Terminal {
  /** The result of the command. */
  print(line: string): void;
  /** News and questions of the moment. */
  tell(line: string): void;
  readonly errors: NodeJS.WriteStream;
  /** Columns of standard output; 80 where it is no terminal. */
  readonly columns: number;
}

/** Whatever stands in a line, and whoever put it there: no key leaves, and nothing acts on the terminal. Lines have no escapes of their own. */
const shown = (line: string): string => printable(mask(line));

export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) {
    // Whoever read this has gone (`| head`, a closed window): the run still has to end in order.
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
    });
  }
  return {
    print: (line) => void process.stdout.write(`${shown(line)}\n`),
    tell: (line) => void process.stderr.write(`${shown(line)}\n`),
    errors: process.stderr,
    columns: process.stdout.columns || 80,
  };
}

/** Prints what ended a command, whatever a server put into it, and gives its exit code. A stack is only worth something where the error is ours. */
export function reportError(error: unknown, terminal: Pick<Terminal, "tell">): ExitCode {
  if (error instanceof CliError) {
    terminal.tell(`error: ${printable(error.message)}`);
    for (const hint of error.hints) terminal.tell(`  ${printable(hint)}`);
    return error.exitCode;
  }
  terminal.tell(`error: ${printable(error instanceof Error ? (error.stack ?? error.message) : String(error))}`);
  terminal.tell("  This is a mistake in edgewise itself; nothing that was committed is lost.");
  return EXIT.failed;
}
