import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { boundedResult } from "../../../src/environments/sandbox/bounded-output.ts";
import {
  CommandTimedOut,
  type CommandOptions,
  type CommandResult,
  type JobOptions,
  type JobStatus,
  type ListedSandbox,
  type Sandbox,
  type SandboxSpec,
} from "../../../src/environments/sandbox/sandbox.ts";
import { ShellJobs } from "../../../src/environments/sandbox/shell-jobs.ts";
import { SandboxError } from "../../../src/errors/rollout-errors.ts";

/** A variable that every process of a sandbox has inherited, with its id. */
const MARK = "EDGEWISE_TEST_SANDBOX";

/** Ends what a sandbox's commands left running, whatever group it is in; where there is no /proc, nothing. */
function endAllOf(id: string): void {
  const processes = existsSync("/proc/self/environ") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  for (const pid of processes) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`${MARK}=${id}`)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It is over, or another user's.
    }
  }
}

/**
 * "Sandboxes" that are folders of this machine and shells in them, without any walls: for tests whose commands are the tests' own.
 * Paths are below the sandbox's folder.
 */
export class ProcessSandbox implements Sandbox {
  readonly #made = new Map<string, SandboxSpec>();

  async create(spec: SandboxSpec): Promise<string> {
    const id = mkdtempSync(join(tmpdir(), "edgewise-sandbox-"));
    this.#made.set(id, spec);
    return id;
  }

  async ready(id: string): Promise<void> {
    this.#of(id);
  }

  async execute(id: string, command: string, { timeoutSeconds, workingDir, signal }: CommandOptions): Promise<CommandResult> {
    const { environment_vars } = this.#of(id);
    signal?.throwIfAborted();
    const child = spawn("sh", ["-c", command], {
      cwd: workingDir ?? id,
      env: { ...process.env, ...environment_vars, [MARK]: id },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const end = (): boolean => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      end();
    }, timeoutSeconds * 1_000);
    signal?.addEventListener("abort", end, { once: true });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (bytes: Buffer) => stdout.push(bytes));
    child.stderr.on("data", (bytes: Buffer) => stderr.push(bytes));
    try {
      const code = await new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
      signal?.throwIfAborted();
      if (late) throw new CommandTimedOut(`the command took longer than ${timeoutSeconds} s`);
      return boundedResult({ stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString(), exit_code: code ?? -1 });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    }
  }

  async writeFile(id: string, path: string, content: Uint8Array): Promise<void> {
    this.#of(id);
    mkdirSync(dirname(join(id, path)), { recursive: true });
    writeFileSync(join(id, path), content);
  }

  async readFile(id: string, path: string): Promise<Uint8Array> {
    this.#of(id);
    try {
      return new Uint8Array(readFileSync(join(id, path)));
    } catch (cause) {
      throw new SandboxError(`there is no file ${path}`, { cause });
    }
  }

  start(id: string, command: string, options?: JobOptions): Promise<string> {
    return this.#jobs(id).start(id, command, options);
  }

  job(id: string, job: string): Promise<JobStatus> {
    return this.#jobs(id).job(id, job);
  }

  stop(id: string, job: string): Promise<void> {
    return this.#jobs(id).stop(id, job);
  }

  async list(labels: readonly string[]): Promise<readonly ListedSandbox[]> {
    return [...this.#made]
      .filter(([, spec]) => labels.every((label) => spec.labels.includes(label)))
      .map(([id, spec]) => ({ id, labels: spec.labels, created_at: null }));
  }

  async expose(id: string, port: number): Promise<string> {
    this.#of(id);
    return `http://127.0.0.1:${port}`;
  }

  async delete(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      if (!this.#made.delete(id)) continue;
      endAllOf(id);
      rmSync(id, { recursive: true, force: true });
    }
  }

  /** Their files are gone with the sandbox's. */
  #jobs(id: string): ShellJobs {
    return new ShellJobs(this, join(id, ".jobs"));
  }

  #of(id: string): SandboxSpec {
    const spec = this.#made.get(id);
    if (spec === undefined) throw new SandboxError(`there is no sandbox ${id}`);
    return spec;
  }
}
