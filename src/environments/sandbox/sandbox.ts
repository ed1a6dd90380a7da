import type { Access } from "../definition/access.ts";
import { SandboxError } from "../../errors/rollout-errors.ts";

/** What one sandbox is made of; drivers take the fields they know. */
export interface SandboxSpec {
  /** Prefix of its name. */
  readonly name: string;
  readonly docker_image: string;
  readonly start_command: string;
  readonly cpu_cores: number;
  readonly memory_gb: number;
  readonly disk_size_gb: number;
  readonly gpu_count: number;
  /** The sandbox ends by itself after this. */
  readonly timeout_minutes: number;
  readonly environment_vars: Readonly<Record<string, string>>;
  readonly labels: readonly string[];
  readonly team_id: string | null;
  /** What only one provider knows. */
  readonly advanced_configs: Readonly<Record<string, unknown>>;
}

export interface CommandOptions {
  /** Seconds; then the command is ended and `CommandTimedOut` thrown. */
  readonly timeoutSeconds: number;
  readonly workingDir?: string | null;
  /** Ends the command: rejects with the signal's reason. */
  readonly signal?: AbortSignal | null;
}

export interface JobOptions {
  readonly workingDir?: string | null;
}

export interface CommandResult {
  /** At most `MAX_SANDBOX_OUTPUT_BYTES` of it, from its beginning; bytes that are no UTF-8 are replaced. */
  readonly stdout: string;
  readonly stderr: string;
  /** 128 and the signal's number for what a signal ended. */
  readonly exit_code: number;
  /** Present where there was more. */
  readonly stdout_truncated?: true;
  readonly stderr_truncated?: true;
}

/** How a background job stands. */
export interface JobStatus {
  readonly running: boolean;
  /** Null while it runs, and where nothing saw its end. */
  readonly exit_code: number | null;
  /** The last `MAX_JOB_OUTPUT_BYTES` of what it wrote so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Present where there was more before that. */
  readonly stdout_truncated?: true;
  readonly stderr_truncated?: true;
}

/** A sandbox that a provider has. */
export interface ListedSandbox {
  readonly id: string;
  readonly labels: readonly string[];
  /** Unix milliseconds; null where the provider does not say. */
  readonly created_at: number | null;
}

/**
 * A provider of sandboxes. What fails in it is a `SandboxError` (`SandboxCreationError` from `create`, `SandboxNotReadyError` from
 * `ready`); a command that ends with another status than 0 is no failure. `test/support/environments/sandbox-conformance.ts` says the rest.
 */
export interface Sandbox {
  /** What a run must allow for it; default `sandbox`. A driver that makes and manages instances says so. */
  readonly access?: Access;
  /** Asks for a sandbox and gives its id; it may not be ready yet. */
  create(spec: SandboxSpec, signal?: AbortSignal | null): Promise<string>;
  /** Waits until commands can run. */
  ready(id: string, signal?: AbortSignal | null): Promise<void>;
  /** Runs a command line in a shell. */
  execute(id: string, command: string, options: CommandOptions): Promise<CommandResult>;
  /** Begins a command line that goes on behind the commands, and gives the job's name. It ends with its sandbox at the latest. */
  start(id: string, command: string, options?: JobOptions): Promise<string>;
  /** Throws a `SandboxError` for a job that never was. */
  job(id: string, job: string): Promise<JobStatus>;
  /** Ends a job with what it started; one that has ended stays as it is. */
  stop(id: string, job: string): Promise<void>;
  /** Makes a file, with the folders above it, of at most `MAX_SANDBOX_FILE_BYTES`. A path that is not absolute begins where commands begin. */
  writeFile(id: string, path: string, content: Uint8Array): Promise<void>;
  /** Throws a `SandboxError` where there is none, and where it is larger than that. */
  readFile(id: string, path: string): Promise<Uint8Array>;
  /** Makes a TCP port reachable and gives its URL, without a slash at the end. */
  expose(id: string, port: number): Promise<string>;
  /** Ends sandboxes; those that are gone already count as ended. */
  delete(ids: readonly string[]): Promise<void>;
  /** Sandboxes that have all of these labels, whoever made them: what killed runs left is found by it. Absent where a provider knows no labels. */
  list?(labels: readonly string[]): Promise<readonly ListedSandbox[]>;
}

/** A command took longer than it may. The sandbox is fine. */
export class CommandTimedOut extends SandboxError {
  override readonly name: string = "CommandTimedOut";
}
