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

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
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
  writeFile(id: string, path: string, content: Uint8Array): Promise<void>;
  readFile(id: string, path: string): Promise<Uint8Array>;
  /** Makes a TCP port reachable and gives its URL, without a slash at the end. */
  expose(id: string, port: number): Promise<string>;
  /** Ends sandboxes; those that are gone already count as ended. */
  delete(ids: readonly string[]): Promise<void>;
}

/** A command took longer than it may. The sandbox is fine. */
export class CommandTimedOut extends SandboxError {
  override readonly name: string = "CommandTimedOut";
}
