import { z } from "zod";
import type { Sleep } from "../../clients/client.ts";
import { sleep as realSleep } from "../../clients/transport/sleep.ts";
import { SandboxError } from "../../errors/rollout-errors.ts";
import { MAX_SANDBOX_OUTPUT_BYTES } from "../../limits.ts";
import { Rubric } from "../../rubrics/rubric.ts";
import { monitored } from "../kinds/monitors.ts";
import { StatefulToolEnv } from "../kinds/stateful-tool-env.ts";
import { tool } from "../kinds/tool.ts";
import type { ToolOptions } from "../kinds/tool-env.ts";
import type { Message, State } from "../../rollouts/types.ts";
import { CommandTimedOut, type CommandResult, type Sandbox, type SandboxSpec } from "./sandbox.ts";
import { SandboxKeeper } from "./sandbox-keeper.ts";
import { type SandboxSettings, sandboxSpec } from "./sandbox-spec.ts";

export interface SandboxOptions extends ToolOptions, SandboxSettings {
  /** Who provides sandboxes. */
  readonly sandbox: Sandbox;
  /** Default 30. */
  readonly timeoutPerCommandSeconds?: number;
  /** Waits between attempts at a provider; default: the runtime's timers. */
  readonly sleep?: Sleep;
}

/** What the state says of a rollout's sandbox, under `sandbox_state`. Seconds. */
export interface SandboxState {
  ready: boolean;
  ready_wait_time: number;
  command_execution_times: number[];
}

const seconds = (begin: number): number => Math.max(0, performance.now() - begin) / 1_000;

/** What a command said, as the model reads it. */
export function outputText({ stdout, stderr, stdout_truncated, stderr_truncated }: Omit<CommandResult, "exit_code">): string {
  const cut = (text: string, truncated?: true): string => (truncated ? `${text.trim()}\n[cut: more than ${MAX_SANDBOX_OUTPUT_BYTES} bytes]` : text.trim());
  const [out, err] = [cut(stdout, stdout_truncated), cut(stderr, stderr_truncated)];
  const parts = [out, err === "" ? "" : `stderr:\n${err}`].filter((part) => part !== "");
  return parts.length === 0 ? "(no output)" : parts.join("\n");
}

/**
 * Rollouts that each have a sandbox, and a tool `bash` that runs commands in it. It is asked for before the first turn,
 * waited for at the first command, and ended with the rollout. A sandbox that fails ends the rollout with an error that is tried
 * again.
 */
export class SandboxEnv extends StatefulToolEnv {
  readonly sandbox: Sandbox;
  readonly spec: SandboxSpec;
  readonly timeoutPerCommandSeconds: number;
  readonly #keeper: SandboxKeeper;

  constructor(options: SandboxOptions) {
    super({ stopErrors: [SandboxError], ...options });
    this.sandbox = options.sandbox;
    this.access = [options.sandbox.access ?? "sandbox"];
    this.timeoutPerCommandSeconds = options.timeoutPerCommandSeconds ?? 30;
    this.#keeper = new SandboxKeeper(options.sandbox, options.sleep ?? realSleep);
    this.spec = sandboxSpec(options);
    this.addRubric(sandboxMonitor());
    this.addTool(this.#bash(), ["sandbox_id", "working_dir"]);
    this.onCleanup("destroy_sandbox", (state) => this.#destroy(state));
    this.onTeardown("delete_sandboxes", () => this.#keeper.closeAll());
  }

  /** Runs before the sandbox is ended: the place to take files out of it. May run twice. */
  async postRollout(_state: State): Promise<void> {}

  override async setupState(state: State): Promise<void> {
    state.sandbox_state = { ready: false, ready_wait_time: 0, command_execution_times: [] } satisfies SandboxState;
    const id = await this.#keeper.open(this.spec, this.signalOf(state));
    state.sandbox_id = id;
  }

  /** The sandbox that the state names. One that has ended meanwhile is told by `ready`. */
  override async resumeState(state: State): Promise<void> {
    const id = String(state.sandbox_id);
    await this.sandbox.ready(id, this.signalOf(state));
    this.#keeper.adopt(id);
  }

  override async leaveState(state: State): Promise<void> {
    this.#keeper.forget(String(state.sandbox_id));
  }

  override updateToolArgs(name: string, args: Record<string, unknown>, _messages: readonly Message[], state: State): Record<string, unknown> {
    return name === "bash" ? { ...args, sandbox_id: state.sandbox_id, working_dir: state.working_dir ?? null } : args;
  }

  /** Runs a command in the rollout's sandbox, waiting for it to be ready. A command that takes too long is told so to the model; what else fails is a `SandboxError`. */
  async runCommand(state: State, command: string, workingDir: string | null = null): Promise<string> {
    try {
      return outputText(await this.command(state, command, { workingDir }));
    } catch (thrown) {
      if (thrown instanceof CommandTimedOut) return `Error: Command timed out after ${this.timeoutPerCommandSeconds}s`;
      throw thrown;
    }
  }

  /** The same, with its output apart and every failure thrown. */
  protected async command(
    state: State,
    command: string,
    { workingDir = null, timeoutSeconds = this.timeoutPerCommandSeconds }: { workingDir?: string | null; timeoutSeconds?: number } = {},
  ): Promise<CommandResult> {
    const id = String(state.sandbox_id);
    const known = state.sandbox_state as SandboxState;
    const signal = this.signalOf(state);
    if (!known.ready) {
      const begin = performance.now();
      await this.sandbox.ready(id, signal);
      known.ready = true;
      known.ready_wait_time = seconds(begin);
    }
    const begin = performance.now();
    try {
      return await this.sandbox.execute(id, command, { timeoutSeconds, workingDir, signal });
    } finally {
      known.command_execution_times.push(seconds(begin));
    }
  }

  #bash() {
    return tool({
      name: "bash",
      description: "Run a command in the shell of the sandbox and return its output.",
      parameters: z.object({ command: z.string().describe("the command line"), sandbox_id: z.string(), working_dir: z.string().nullable() }),
      run: ({ command, working_dir }, { state }) => this.runCommand(state, command, working_dir),
    });
  }

  async #destroy(state: State): Promise<void> {
    const id = state.sandbox_id;
    if (typeof id !== "string" || !this.#keeper.has(id)) return;
    try {
      await this.postRollout(state);
    } finally {
      await this.#keeper.close(id);
    }
  }
}

const stateOf = (state: State): SandboxState | null => (state.sandbox_state as SandboxState | undefined) ?? null;
const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length);

const sandboxMonitor = (): Rubric =>
  new Rubric([
    monitored("sandbox_ready_wait_time", (state) => stateOf(state)?.ready_wait_time ?? 0),
    monitored("sandbox_command_execution_time", (state) => mean(stateOf(state)?.command_execution_times ?? [])),
  ]);
