import { createInterface } from "node:readline";
import { mask } from "../../errors/masking.ts";
import { printable } from "../../report/text/printable.ts";

/** A question whose answer is yes or no; null where nobody can answer it, since standard input or standard error is no terminal. */
export function asker(signal: AbortSignal): ((question: string) => Promise<boolean>) | null {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  return (question) =>
    new Promise((resolve, reject) => {
      const lines = createInterface({ input: process.stdin, output: process.stderr, signal });
      let answer = "";
      // Ctrl-C, which the line reader takes for itself, and the end of the input are a no.
      lines.once("SIGINT", () => lines.close());
      lines.once("line", (line) => {
        answer = line;
        lines.close();
      });
      lines.once("close", () => (signal.aborted ? reject(signal.reason as Error) : resolve(/^\s*y(es)?\s*$/i.test(answer))));
      lines.setPrompt(
        question
          .split("\n")
          .map((line) => printable(mask(line)))
          .join("\n"),
      );
      lines.prompt();
    });
}
