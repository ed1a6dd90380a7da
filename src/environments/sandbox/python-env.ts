import { z } from "zod";
import { PythonWorkerDeadError, PythonWorkerNotReadyError, PythonWorkerRequestError, SandboxError } from "../../errors/rollout-errors.ts";
import { Rubric } from "../../rubrics/rubric.ts";
import { monitored } from "../kinds/monitors.ts";
import { tool } from "../kinds/tool.ts";
import type { Message, State } from "../../rollouts/types.ts";
import { answerText, askWorker, awaitWorker, readAnswer, startWorker, stopWorker } from "./python-worker.ts";
import { CommandTimedOut, type CommandResult } from "./sandbox.ts";
import { SandboxEnv, type SandboxOptions } from "./sandbox-env.ts";

export interface PythonOptions extends Omit<SandboxOptions, "sandboxName" | "dockerImage" | "startCommand"> {
  /** Installed before the first call, for `pip install`; blank = none. Default `numpy sympy scipy`. */
  readonly pipInstallPackages?: string;
  /** Seconds to wait for the process once packages are there; default 30. */
  readonly maxStartupWaitSeconds?: number;
  /** Where the process keeps its files in the sandbox; default `/tmp/edgewise-python`. */
  readonly workerDir?: string;
}

interface PythonState {
  started: boolean;
  ready_wait_time: number;
  requests: number;
}

/** Installing packages takes longer than a command may. */
const INSTALL_SECONDS = 600;

/**
 * A sandbox with one Python process per rollout, whose names live from call to call, behind a tool `python`. A call that
 * takes too long ends the process; the next one starts another, with an empty namespace.
 */
export class PythonEnv extends SandboxEnv {
  readonly #packages: string;
  readonly #startupSeconds: number;
  readonly #folder: string;

  constructor(options: PythonOptions) {
    super({ ...options, sandboxName: "python-env", dockerImage: "python:3.11-slim" });
    this.#packages = options.pipInstallPackages ?? "numpy sympy scipy";
    this.#startupSeconds = options.maxStartupWaitSeconds ?? 30;
    this.#folder = options.workerDir ?? "/tmp/edgewise-python";
    this.removeTool("bash");
    this.addRubric(new Rubric([monitored("python_ready_wait_time", (state) => (state.python_state as PythonState | undefined)?.ready_wait_time ?? 0)]));
    this.addTool(
      tool({
        name: "python",
        description: "Run Python code. Names stay from call to call; the value of a last expression is shown.",
        parameters: z.object({ code: z.string().describe("the code") }),
        run: ({ code }, { state }) => this.runPython(state, code),
      }),
    );
  }

  override async setupState(state: State): Promise<void> {
    await super.setupState(state);
    state.python_state = { started: false, ready_wait_time: 0, requests: 0 } satisfies PythonState;
  }

  override updateToolArgs(_name: string, args: Record<string, unknown>, _messages: readonly Message[], _state: State): Record<string, unknown> {
    return args;
  }

  /** Runs code in the rollout's process and gives its output as the model reads it. Throws the `PythonWorker…Error` of what failed. */
  async runPython(state: State, code: string): Promise<string> {
    const python = state.python_state as PythonState;
    if (!python.started) await this.#start(state, python);
    const id = `answer-${python.requests++}`;
    let answer: CommandResult;
    try {
      answer = await this.command(state, askWorker(this.#folder, id, code));
    } catch (thrown) {
      if (!(thrown instanceof CommandTimedOut)) throw thrown;
      python.started = false;
      await this.command(state, stopWorker(this.#folder));
      return `Error: Code execution timed out after ${this.timeoutPerCommandSeconds}s. The process was started anew: earlier names are gone.`;
    }
    if (answer.exit_code === 3) {
      python.started = false;
      throw new PythonWorkerDeadError(`the Python process is gone${answer.stderr.trim() === "" ? "" : `: ${answer.stderr.trim()}`}`);
    }
    try {
      return answerText(readAnswer(answer.stdout));
    } catch (cause) {
      throw new PythonWorkerRequestError("the answer of the Python process cannot be read", { cause });
    }
  }

  async #start(state: State, python: PythonState): Promise<void> {
    const begin = performance.now();
    try {
      const started = await this.command(state, startWorker(this.#folder, this.#packages), { timeoutSeconds: INSTALL_SECONDS });
      if (started.exit_code !== 0) throw new SandboxError(started.stderr.trim() || `status ${started.exit_code}`);
      const ready = await this.command(state, awaitWorker(this.#folder, this.#startupSeconds), { timeoutSeconds: this.#startupSeconds + 5 });
      if (ready.exit_code !== 0) throw new SandboxError(`it does not listen after ${this.#startupSeconds} s`);
    } catch (cause) {
      if (!(cause instanceof SandboxError)) throw cause;
      throw new PythonWorkerNotReadyError(`the Python process did not start: ${cause.message}`, { cause });
    }
    python.started = true;
    python.ready_wait_time = Math.max(0, performance.now() - begin) / 1_000;
  }
}
