/** The command line without a process of its own: what it prints, and the code it would end with. */
import { runCommandLine } from "../../../src/cli/program.ts";

export interface Outcome {
  readonly code: number;
  /** Standard output, line by line. */
  readonly out: readonly string[];
  readonly err: string;
}

export interface InProcess {
  readonly env?: Readonly<Record<string, string>>;
  /** Working folder and home. */
  readonly cwd: string;
  readonly columns?: number;
}

export async function runInProcess(args: readonly string[], { env = {}, cwd, columns = 80 }: InProcess): Promise<Outcome> {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = { print: (line: string) => out.push(line), tell: (line: string) => err.push(line), errors: process.stderr, columns };
  const code = await runCommandLine(args, { env, cwd, home: cwd, terminal });
  return { code, out, err: err.join("\n") };
}
