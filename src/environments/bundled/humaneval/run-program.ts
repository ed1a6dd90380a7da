import { SandboxError } from "../../../errors/rollout-errors.ts";
import { CommandTimedOut, type CommandResult, type Sandbox } from "../../sandbox/sandbox.ts";
import { base64, quoted } from "../../sandbox/shell-words.ts";

/**
 * Runs a program that it reads from its input, apart from its own names, with nothing to read and nobody to read what it prints. Says how it went in one
 * line, with a word that is no name of the program's: one that ends early, or prints what it likes, has not passed. The word is in the same process: it keeps out
 * who gives up, not who looks for it (README).
 */
const RUNNER = `
import json, os, sys
def main():
    given = json.load(sys.stdin)
    said = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(null, each)
    def say(verdict):
        os.write(said, ("\\n" + json.dumps({"word": given["word"], "verdict": verdict[:500]}) + "\\n").encode())
        os._exit(0)
    try:
        exec(compile(given["program"], "<program>", "exec"), {})
    except BaseException as error:
        try:
            text = type(error).__name__ + ": " + str(error)
        except BaseException:
            text = "an error that cannot be shown"
        say("failed: " + text)
    say("passed")
main()
`;

/** Bytes of a command line that every system takes (Linux: 128 KiB for one argument), less the runner and its shell. */
const MAX_COMMAND_BYTES = 120_000;

/** Time on the clock, for each second of processor time that a program may take: it may wait, and share its processors. */
const CLOCK = 10;

export interface Verdict {
  readonly passed: boolean;
  /** `passed`, or why not. */
  readonly said: string;
}

const failed = (said: string): Verdict => ({ passed: false, said });

/** Runs a program in a sandbox. A sandbox in which nothing can be run is a `SandboxError`, and no verdict. */
export async function runProgram(sandbox: Sandbox, id: string, program: string, seconds: number, signal: AbortSignal): Promise<Verdict> {
  const word = crypto.randomUUID();
  const command = `ulimit -t ${Math.ceil(seconds)}; printf %s ${base64(JSON.stringify({ word, program }))} | base64 -d | python3 -I -c ${quoted(RUNNER)}`;
  if (command.length > MAX_COMMAND_BYTES) return failed(`failed: the program is too long (${program.length} characters)`);
  let result: CommandResult;
  try {
    result = await sandbox.execute(id, command, { timeoutSeconds: CLOCK * seconds, signal });
  } catch (thrown) {
    if (thrown instanceof CommandTimedOut) return failed("timed out");
    throw thrown;
  }
  const verdict = verdictIn(result.stdout, word);
  if (verdict !== null) return { passed: verdict === "passed", said: verdict };
  // 128 and above: a signal ended it, SIGXCPU (24) or SIGKILL (9) where its time was up.
  if (result.exit_code === 128 + 24 || result.exit_code === 128 + 9) return failed("timed out, or was ended");
  if (result.exit_code > 0 && result.exit_code < 128 && result.stderr.trim() !== "")
    throw new SandboxError(`no program can be run in the sandbox: ${result.stderr.trim().slice(0, 500)}`);
  return failed(`failed: it ended by itself with status ${result.exit_code}`);
}

function verdictIn(stdout: string, word: string): string | null {
  for (const line of stdout.split("\n").toReversed()) {
    if (!line.includes(word)) continue;
    try {
      return String((JSON.parse(line) as { verdict?: unknown }).verdict);
    } catch {
      // Another line that has the word in it.
    }
  }
  return null;
}
