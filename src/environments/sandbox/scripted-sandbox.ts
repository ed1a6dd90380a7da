import { SandboxCreationError, SandboxError, SandboxNotReadyError } from "../../errors/rollout-errors.ts";
import { boundedJob, boundedResult } from "./bounded-output.ts";
import {
  CommandTimedOut,
  type CommandOptions,
  type CommandResult,
  type JobOptions,
  type JobStatus,
  type ListedSandbox,
  type Sandbox,
  type SandboxSpec,
} from "./sandbox.ts";

/** One sandbox of a `ScriptedSandbox`. */
export interface ScriptedInstance {
  readonly id: string;
  readonly spec: SandboxSpec;
  readonly files: Map<string, Uint8Array>;
  readonly commands: string[];
  /** How its background jobs stand, by name. */
  readonly jobs: Map<string, JobStatus>;
}

/** What a command does: a text stands for its standard output, an error is thrown, `"timeout"` lets it take too long, and a job go on until it is stopped. */
export type ScriptedCommand = (
  command: string,
  instance: ScriptedInstance,
  options: CommandOptions,
) => string | Partial<CommandResult> | Error | { timeout: true };

export interface ScriptedSandboxOptions {
  /** Default: no output. */
  readonly execute?: ScriptedCommand;
  /** Calls that fail first, by method. */
  readonly failures?: { create?: number; ready?: number; delete?: number };
  /** URL of a port; default `http://{id}.sandbox:{port}`. */
  readonly expose?: (instance: ScriptedInstance, port: number) => string;
}

/** Sandboxes in memory, whose commands a function answers: for tests of environments, and the reference for real drivers. */
export class ScriptedSandbox implements Sandbox {
  /** Every sandbox that was made, those that ended too. */
  readonly created: ScriptedInstance[] = [];
  readonly deleted: string[] = [];
  readonly #options: ScriptedSandboxOptions;
  readonly #left: { create: number; ready: number; delete: number };

  constructor(options: ScriptedSandboxOptions = {}) {
    this.#options = options;
    this.#left = { create: 0, ready: 0, delete: 0, ...options.failures };
  }

  /** Ids of the sandboxes that are not ended. */
  get running(): string[] {
    return this.created.map(({ id }) => id).filter((id) => !this.deleted.includes(id));
  }

  async create(spec: SandboxSpec, signal?: AbortSignal | null): Promise<string> {
    signal?.throwIfAborted();
    if (this.#left.create-- > 0) throw new SandboxCreationError("the provider has no room");
    const id = `${spec.name}-${this.created.length}`;
    this.created.push({ id, spec, files: new Map(), commands: [], jobs: new Map() });
    return id;
  }

  async ready(id: string, signal?: AbortSignal | null): Promise<void> {
    signal?.throwIfAborted();
    this.#of(id);
    if (this.#left.ready-- > 0) throw new SandboxNotReadyError(`${id} does not start`);
  }

  async execute(id: string, command: string, options: CommandOptions): Promise<CommandResult> {
    options.signal?.throwIfAborted();
    const instance = this.#of(id);
    instance.commands.push(command);
    const answer = this.#options.execute?.(command, instance, options) ?? "";
    if (answer instanceof Error) throw answer;
    if (typeof answer === "object" && "timeout" in answer) throw new CommandTimedOut(`the command took longer than ${options.timeoutSeconds} s`);
    return boundedResult(said(answer));
  }

  async start(id: string, command: string, { workingDir }: JobOptions = {}): Promise<string> {
    const instance = this.#of(id);
    instance.commands.push(command);
    // Nobody waits for a job.
    const answer = this.#options.execute?.(command, instance, { timeoutSeconds: Number.POSITIVE_INFINITY, workingDir }) ?? "";
    if (answer instanceof Error) throw answer;
    const job = `job-${instance.jobs.size}`;
    const running = typeof answer === "object" && "timeout" in answer;
    instance.jobs.set(job, running ? { running, exit_code: null, stdout: "", stderr: "" } : boundedJob({ running, ...said(answer) }));
    return job;
  }

  async job(id: string, job: string): Promise<JobStatus> {
    const status = this.#of(id).jobs.get(job);
    if (status === undefined) throw new SandboxError(`${id} has no job ${job}`);
    return status;
  }

  async stop(id: string, job: string): Promise<void> {
    const status = await this.job(id, job);
    if (status.running) this.#of(id).jobs.set(job, { ...status, running: false, exit_code: 137 });
  }

  async list(labels: readonly string[]): Promise<readonly ListedSandbox[]> {
    return this.created
      .filter(({ id, spec }) => !this.deleted.includes(id) && labels.every((label) => spec.labels.includes(label)))
      .map(({ id, spec }) => ({ id, labels: spec.labels, created_at: null }));
  }

  async writeFile(id: string, path: string, content: Uint8Array): Promise<void> {
    this.#of(id).files.set(path, content.slice());
  }

  async readFile(id: string, path: string): Promise<Uint8Array> {
    const content = this.#of(id).files.get(path);
    if (content === undefined) throw new SandboxError(`${id} has no file ${path}`);
    return content.slice();
  }

  async expose(id: string, port: number): Promise<string> {
    const instance = this.#of(id);
    return this.#options.expose?.(instance, port) ?? `http://${id}.sandbox:${port}`;
  }

  async delete(ids: readonly string[]): Promise<void> {
    if (this.#left.delete-- > 0) throw new SandboxError("the provider does not answer");
    for (const id of ids) if (!this.deleted.includes(id)) this.deleted.push(id);
  }

  #of(id: string): ScriptedInstance {
    const instance = this.deleted.includes(id) ? undefined : this.created.find((each) => each.id === id);
    if (instance === undefined) throw new SandboxError(`there is no sandbox ${id}`);
    return instance;
  }
}

const said = (answer: string | Partial<CommandResult>): CommandResult => ({
  stdout: "",
  stderr: "",
  exit_code: 0,
  ...(typeof answer === "string" ? { stdout: answer } : answer),
});
