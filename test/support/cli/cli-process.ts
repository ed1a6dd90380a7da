/** The built command in a process group and a folder of its own, as a terminal starts it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readLock } from "../../../src/cli/state/state-lock.ts";

const built = fileURLToPath(new URL("../../../bin/edgewise.js", import.meta.url));

export interface CliProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Ctrl-C: to every process of the group, as a terminal sends it. */
  interrupt(): void;
  /** Waits until the output holds a text. */
  says(text: string | RegExp, ms?: number): Promise<void>;
}

/** The Node that commands run with: `EDGEWISE_TEST_NODE`, or the one of the tests. */
const NODE = process.env.EDGEWISE_TEST_NODE || process.execPath;

/** A folder to work in, with an empty home beside it; `remove` ends everything that was started there. */
export class Workplace {
  readonly folder: string;
  /** `bin/edgewise.js` of the build that is started here from now on. */
  command = built;
  private readonly home: string;
  private readonly processes: CliProcess[] = [];

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "edgewise-e2e-"));
    this.home = mkdtempSync(join(tmpdir(), "edgewise-home-"));
  }

  get state(): string {
    return join(this.folder, ".edgewise");
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): CliProcess {
    const child = spawn(NODE, [this.command, ...args], {
      cwd: this.folder,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH ?? "", HOME: this.home, TMPDIR: tmpdir(), ...env },
    });
    let [stdout, stderr] = ["", ""];
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const ended = new Promise<number | string>((resolve) => child.once("close", (code, signal) => resolve(code ?? signal ?? "gone")));
    const pid = child.pid ?? 0;
    const cli: CliProcess = {
      child,
      pid,
      stdout: () => stdout,
      stderr: () => stderr,
      ended,
      interrupt: () => process.kill(-pid, "SIGINT"),
      says: (text, ms = 60_000) =>
        until(
          () => (typeof text === "string" ? (stdout + stderr).includes(text) : text.test(stdout + stderr)),
          ms,
          () => `${text} in:\n${stdout}${stderr}`,
        ),
    };
    this.processes.push(cli);
    return cli;
  }

  /** Runs a command to its end. */
  async run(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly code: number | string; readonly stdout: string; readonly stderr: string }> {
    const cli = this.start(args, env);
    const code = await cli.ended;
    return { code, stdout: cli.stdout(), stderr: cli.stderr() };
  }

  /** The one results folder of this place. */
  get results(): string {
    const found = this.resultsFolders();
    if (found.length !== 1) throw new Error(`${found.length} results folders`);
    return found[0] ?? "";
  }

  /** `base`: as `-o` names it. */
  resultsFolders(base = "outputs"): readonly string[] {
    const evals = join(this.folder, base, "evals");
    return names(evals).flatMap((model) => names(join(evals, model)).map((run) => join(evals, model, run)));
  }

  remove(): void {
    for (const { child } of this.processes) child.kill("SIGKILL");
    const { workerd_pid } = readLock(this.state) ?? {};
    if (typeof workerd_pid === "number") killQuietly(workerd_pid);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    rmSync(this.home, { recursive: true, force: true });
  }
}

export interface Row {
  readonly example_id: number;
  readonly rollout_index: number;
  readonly reward: number;
  readonly error: { readonly code?: string } | null;
}

export const rowsOf = (folder: string): readonly Row[] =>
  readFileSync(join(folder, "results.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);

export const metadataOf = (
  folder: string,
): { readonly num_examples: number; readonly avg_reward: number; readonly edgewise: { readonly run_id: string; readonly status: string } } =>
  JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8"));

/** `example_id/rollout_index` of every row, in the order of the file. */
export const keysOf = (folder: string): readonly string[] => rowsOf(folder).map(({ example_id, rollout_index }) => `${example_id}/${rollout_index}`);

export async function until(condition: () => boolean | Promise<boolean>, ms: number, what: () => string = () => "a condition"): Promise<void> {
  for (const deadline = Date.now() + ms; !(await condition()); ) {
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Already gone.
  }
}
