import type { CommandOptions, CommandResult, JobOptions, JobStatus } from "../environments/sandbox/sandbox.ts";
import { ShellJobs } from "../environments/sandbox/shell-jobs.ts";
import { SandboxError } from "../errors/rollout-errors.ts";
import { MAX_SANDBOX_FILE_BYTES } from "../limits.ts";

/** What all drivers have in common whose background jobs are made of commands, and whose files are looked at before they are sent. */
export abstract class ShellSandbox {
  readonly #jobs = new ShellJobs(this);

  abstract execute(id: string, command: string, options: CommandOptions): Promise<CommandResult>;

  start(id: string, command: string, options?: JobOptions): Promise<string> {
    return this.#jobs.start(id, command, options);
  }

  job(id: string, job: string): Promise<JobStatus> {
    return this.#jobs.job(id, job);
  }

  stop(id: string, job: string): Promise<void> {
    return this.#jobs.stop(id, job);
  }
}

/** Throws a `SandboxError` for what is larger than a file that is put into a sandbox may be. */
export function checkFile(path: string, { length }: Uint8Array): void {
  if (length > MAX_SANDBOX_FILE_BYTES) throw new SandboxError(`${path} has ${length} bytes: a file may have ${MAX_SANDBOX_FILE_BYTES}`);
}
