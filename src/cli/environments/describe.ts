/** What environments of this machine say of themselves, asked in a process of their own: their code sees no key and no state. */
import { execFile } from "node:child_process";
import type { EnvironmentFacts } from "../../environments/describe.ts";
import { knowSources, ownFrame } from "../../errors/own-frames.ts";
import { singleLine } from "../../report/printable.ts";
import { CliError, EXIT, reasonOf } from "../terminal/cli-error.ts";
import { describer, type EnvironmentModule, scriptOf } from "./bundle.ts";

/** Module code is definitions; what takes longer does something else. */
const PATIENCE_MS = 20_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Facts by module, in order. Throws a usage error with what a module's code threw. */
export async function describeModules(modules: readonly EnvironmentModule[]): Promise<readonly EnvironmentFacts[]> {
  if (modules.length === 0) return [];
  const { error, stdout, stderr } = await runNode(describer(modules));
  // Module code may print; the answer is the last line.
  const answer = error === null ? (JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "") as readonly EnvironmentFacts[] | Thrown) : null;
  if (answer !== null && "length" in answer) return answer;
  if (answer !== null) throw unloadable(modules.slice(answer.module, answer.module + 1), thrownText(answer, modules), answer);
  const reason = error?.killed === true ? "its code did not end within 20 seconds" : (/^(?:\w*Error|Uncaught.*?): .*$/m.exec(stderr)?.[0] ?? reasonOf(error));
  throw unloadable(modules, reason, error);
}

/** What the code of a module threw when it was loaded. */
interface Thrown {
  readonly module: number;
  readonly text: string;
  readonly stack: string;
}

const MAX_TEXT = 1_000;

function thrownText(thrown: Thrown, modules: readonly EnvironmentModule[]): string {
  for (const [index, { map }] of modules.entries()) knowSources(scriptOf(index), map);
  const place = ownFrame(thrown);
  return `${singleLine(thrown.text.slice(0, MAX_TEXT))}${place === null ? "" : ` (${place})`}`;
}

const unloadable = (modules: readonly EnvironmentModule[], reason: string, cause: unknown): CliError =>
  new CliError(`${modules.map(({ entry }) => entry).join(", ")} cannot be loaded: ${reason}`, {
    exitCode: EXIT.usage,
    hints: ['Its default export must be made by defineEnvironment from "edgewise"; `npx edgewise env init NAME` writes an example.'],
    cause,
  });

interface Ended {
  readonly error: (Error & { readonly killed?: boolean }) | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a module text with Node, without any variable of this process but `PATH`. */
function runNode(program: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ["--input-type=module", "-"],
      { env: { PATH: process.env.PATH ?? "" }, timeout: PATIENCE_MS, killSignal: "SIGKILL", maxBuffer: MAX_ANSWER_BYTES },
      (error, stdout, stderr) => resolve({ error, stdout, stderr }),
    );
    // Who ends before it has read everything has said why.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(program);
  });
}
