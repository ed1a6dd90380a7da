import { refusedReply } from "../../clients/relay/refused-reply.ts";
import { relayed } from "../../clients/relay/relayed.ts";
import { OverlongPromptError } from "../../clients/overlong-prompt-error.ts";
import type { Sleep } from "../../clients/client.ts";
import { sleep as realSleep } from "../../clients/transport/sleep.ts";
import { ROLLOUT_ERRORS } from "../../errors/codes.ts";
import { EdgewiseError, type Failure } from "../../errors/result.ts";
import { SandboxError } from "../../errors/rollout-errors.ts";
import { isRolloutErrorCode } from "../../rollouts/failure.ts";
import { contentText } from "../../rollouts/messages.ts";
import { addUsage } from "../../rollouts/state/usage.ts";
import type { Client, Message, ModelResponse, RelayReply, State, TrajectoryStep } from "../../rollouts/types.ts";
import { Rubric } from "../../rubrics/rubric.ts";
import { notInBatches } from "../hosted/not-in-batches.ts";
import { monitored } from "../kinds/monitors.ts";
import { MultiTurnEnv, type MultiTurnOptions } from "../kinds/multi-turn-env.ts";
import type { CommandResult, Sandbox, SandboxSpec } from "../sandbox/sandbox.ts";
import { SandboxKeeper } from "../sandbox/sandbox-keeper.ts";
import { quoted } from "../sandbox/shell-words.ts";
import { type SandboxSettings, sandboxSpec } from "../sandbox/sandbox-spec.ts";
import { type AgentCall, AgentCalls } from "./agent-calls.ts";
import { promptOfRequest } from "./agent-prompt.ts";
import { responseOfReply, silent } from "./agent-reply.ts";

export interface CliAgentOptions extends Omit<MultiTurnOptions, "resumable">, SandboxSettings {
  /** Who provides sandboxes. The image has `python3`. */
  readonly sandbox: Sandbox;
  /** The agent: a command line for the sandbox's shell. */
  readonly runCommand: string;
  /** Where it is run; default: where the sandbox's commands are. */
  readonly workingDir?: string;
  /** Where the endpoint keeps its files in the sandbox; default `/tmp/edgewise-agent`. */
  readonly agentDir?: string;
  readonly sleep?: Sleep;
}

/** What reward functions find as `agent`: the rollout's sandbox, once the agent has ended. */
export interface AgentSandbox {
  readFile(state: State, path: string): Promise<Uint8Array>;
  /** A file as text; null where there is none. */
  text(state: State, path: string): Promise<string | null>;
  execute(state: State, command: string, options?: { readonly timeoutSeconds?: number; readonly signal?: AbortSignal | null }): Promise<CommandResult>;
}

export interface AgentObjects {
  readonly agent: AgentSandbox;
}

interface Agent {
  readonly calls: AgentCalls;
  readonly job: string;
  current: AgentCall | null;
  /** Nobody waits for its calls any more. */
  readonly over: AbortController;
}

/** Seconds of a scorer's command. */
const COMMAND_SECONDS = 60;

/**
 * A program in a sandbox, an agent of whatever kind, that calls the model under evaluation by itself: it finds an endpoint of its own rollout in `OPENAI_BASE_URL` and
 * `ANTHROPIC_BASE_URL`, and no key. Each call is made by the run's client as it is, but for its model, with the run's limits and retries, and is a step of the trajectory. The rollout
 * ends with the command; its sandbox once it is scored, so that reward functions can look at the files it left (`agent`).
 */
export class CliAgentEnv extends MultiTurnEnv {
  readonly spec: SandboxSpec;
  readonly #sandbox: Sandbox;
  readonly #keeper: SandboxKeeper;
  readonly #options: CliAgentOptions;
  readonly #folder: string;
  readonly #agents = new WeakMap<State, Agent>();

  constructor(options: CliAgentOptions) {
    // A process cannot be taken up elsewhere.
    super({ ...options, resumable: false });
    this.#options = options;
    this.#sandbox = options.sandbox;
    this.access = [options.sandbox.access ?? "sandbox"];
    this.spec = sandboxSpec({ sandboxName: "cli-agent", ...options });
    this.#folder = options.agentDir ?? "/tmp/edgewise-agent";
    this.#keeper = new SandboxKeeper(options.sandbox, options.sleep ?? realSleep);
    for (const rubric of [this.rubric, ...Object.values(options.rubrics ?? {})]) (rubric as Rubric<AgentObjects>).addClassObject("agent", this.#files());
    this.addRubric(agentMonitor());
    this.addRubric(new AfterScoring((state) => this.#destroy(state)));
    this.onStop("agent_completed", (state) => state.agent_completed === true);
    this.onCleanup("end_agent", (state) => this.#endAgent(state));
    this.onTeardown("delete_sandboxes", () => this.#keeper.closeAll());
  }

  /** Before the agent begins: the place to put files into its sandbox (`this.sandboxOf(state)`). */
  async setupSandbox(_state: State): Promise<void> {}

  /** Further variables of the agent's command. Those of its endpoint are not to be had otherwise. */
  async agentVariables(_state: State): Promise<Readonly<Record<string, string>>> {
    return {};
  }

  /** The rollout's sandbox: its driver, and its id there. Throws a `SandboxError` where it has ended. */
  sandboxOf(state: State): { readonly sandbox: Sandbox; readonly id: string } {
    const { sandbox_id: id, sandbox_ended } = state;
    if (typeof id !== "string" || sandbox_ended === true) throw new SandboxError("the rollout has no sandbox any more");
    return { sandbox: this.#sandbox, id };
  }

  override async setupState(state: State): Promise<void> {
    const signal = this.signalOf(state);
    const id = await this.#keeper.open(this.spec, signal);
    state.sandbox_id = id;
    state.agent_completed = false;
    await this.#sandbox.ready(id, signal);
    const over = new AbortController();
    const calls = new AgentCalls(this.#sandbox, id, this.#folder, signal === null ? over.signal : AbortSignal.any([signal, over.signal]));
    const port = await calls.serve({ OPENAI_MODEL: state.model });
    const prompt = `${this.#folder}/prompt.txt`;
    await this.#sandbox.writeFile(id, prompt, new TextEncoder().encode(state.prompt.map(({ content }) => contentText(content)).join("\n\n")));
    await this.setupSandbox(state);
    const address = `http://127.0.0.1:${port}`;
    const variables = {
      ...(await this.agentVariables(state)),
      OPENAI_BASE_URL: `${address}/v1`,
      OPENAI_API_KEY: "unused",
      OPENAI_MODEL: state.model,
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_API_KEY: "unused",
      ANTHROPIC_MODEL: state.model,
      AGENT_PROMPT_FILE: prompt,
    };
    const job = await calls.begin(this.#options.runCommand, variables, this.#options.workingDir ?? null);
    this.#agents.set(state, { calls, job, current: null, over });
  }

  override batchProblem(): Failure {
    return notInBatches(this.id, "has a program that asks the model by itself");
  }

  /** Waits for what the agent asks next; it has no other prompts. */
  override async getPromptMessages(state: State): Promise<Message[]> {
    const agent = this.#agentOf(state);
    agent.current = await agent.calls.next();
    if (agent.current !== null) return promptOfRequest(agent.current.route, agent.current.body);
    await this.#noteEnd(state, agent);
    state.final_env_response = [];
    return [];
  }

  override envResponse(): Message[] {
    return [];
  }

  override async getModelResponse(state: State): Promise<ModelResponse> {
    const agent = this.#agentOf(state);
    const { current: call } = agent;
    const client = state.client as Client | null;
    if (call === null || client === null) throw new Error("there is no call of the agent to make");
    const { model } = state;
    let reply: RelayReply;
    try {
      const { route, body } = call;
      const base = { route, body, model, state, signal: this.signalOf(state), onAnswer: () => this.answerBegins(state) };
      reply = await this.calling(state, (told) => relayed(client, { ...base, ...told }));
    } catch (thrown) {
      if (!isOwnFault(thrown)) throw thrown;
      // The agent's own request is wrong, or too long: that is for the agent to know.
      await agent.calls.answer(call, refusedReply(thrown) ?? refusal(thrown));
      return silent(model);
    }
    await agent.calls.answer(call, reply);
    const response = await responseOfReply(call.route, reply, model);
    state.usage = addUsage(state.usage, response.usage, response.cached !== true);
    return response;
  }

  override async addTrajectoryStep(state: State, step: TrajectoryStep): Promise<void> {
    const route = this.#agents.get(state)?.current?.route;
    await super.addTrajectoryStep(state, { ...step, extras: { ...step.extras, ...(route === undefined ? {} : { route }) } });
  }

  /** What was said after the agent's first request, as its last one has it. */
  override renderCompletion(state: State): Message[] {
    const [first, last] = [state.trajectory[0], state.trajectory.at(-1)];
    if (first === undefined || last === undefined) return [];
    return [...last.prompt, ...last.completion].slice(Math.min(first.prompt.length, last.prompt.length));
  }

  #agentOf(state: State): Agent {
    const agent = this.#agents.get(state);
    if (agent === undefined) throw new SandboxError("the rollout has no agent any more");
    return agent;
  }

  async #noteEnd(state: State, { job }: Agent): Promise<void> {
    const { id } = this.sandboxOf(state);
    let status = await this.#sandbox.job(id, job);
    // Its note is written before its shell has ended.
    for (let looks = 0; status.running && looks < 20; looks++) {
      await (this.#options.sleep ?? realSleep)(100, this.signalOf(state));
      status = await this.#sandbox.job(id, job);
    }
    state.agent_completed = true;
    state.agent_exit_code = status.exit_code;
    state.agent_stdout = status.stdout;
    state.agent_stderr = status.stderr;
    if (state.trajectory.length > 0 || status.exit_code === 0) return;
    const said = (status.stderr.trim() || status.stdout.trim()).slice(-500);
    throw new EdgewiseError("environment_error", `the agent ended before it had called the model (status ${status.exit_code}): ${said}`);
  }

  async #endAgent(state: State): Promise<void> {
    const agent = this.#agents.get(state);
    this.#agents.delete(state);
    agent?.over.abort(new SandboxError("the rollout is over"));
    const id = state.sandbox_id;
    if (typeof id !== "string" || !this.#keeper.has(id)) return;
    // What is not scored has no use for it any more; what is scored shall not change meanwhile.
    const isCut = this.signalOf(state)?.aborted === true && !state.timed_out;
    if (state.error !== null || !this.scoreRollouts || isCut) await this.#destroy(state);
    else if (agent !== undefined) await this.#sandbox.stop(id, agent.job).catch(() => undefined);
  }

  async #destroy(state: State): Promise<void> {
    const id = state.sandbox_id;
    if (typeof id !== "string" || state.sandbox_ended === true) return;
    state.sandbox_ended = true;
    // Scored by another instance than the one that played it: the id is what they share.
    this.#keeper.adopt(id);
    await this.#keeper.close(id);
  }

  #files(): AgentSandbox {
    return {
      readFile: (state, path) => {
        const { sandbox, id } = this.sandboxOf(state);
        return sandbox.readFile(id, path);
      },
      text: async (state, path) => {
        const { sandbox, id } = this.sandboxOf(state);
        try {
          return new TextDecoder().decode(await sandbox.readFile(id, path));
        } catch (thrown) {
          // Whether it is the file that is not there, or the sandbox that is broken.
          const { exit_code } = await sandbox.execute(id, `test -e ${quoted(path)}`, { timeoutSeconds: COMMAND_SECONDS });
          if (exit_code !== 0) return null;
          throw thrown;
        }
      },
      execute: (state, command, { timeoutSeconds = COMMAND_SECONDS, signal = null } = {}) => {
        const { sandbox, id } = this.sandboxOf(state);
        return sandbox.execute(id, command, { timeoutSeconds, signal });
      },
    };
  }
}

/** Ends what a rollout had, once all have scored it. */
class AfterScoring extends Rubric {
  readonly #end: (state: State) => Promise<void>;

  constructor(end: (state: State) => Promise<void>) {
    super();
    this.#end = end;
  }

  override async cleanup(state: State): Promise<void> {
    await this.#end(state);
  }
}

const agentMonitor = (): Rubric =>
  new Rubric([
    monitored("agent_timeout", ({ timed_out }) => Number(timed_out)),
    monitored("agent_error", ({ agent_exit_code: code }) => Number(typeof code === "number" && code !== 0)),
  ]);

/** Whether a request was refused for what the agent wrote: that says nothing of who was to answer it. */
const isOwnFault = (thrown: unknown): boolean =>
  thrown instanceof OverlongPromptError ||
  (thrown instanceof EdgewiseError && isRolloutErrorCode(thrown.code) && ROLLOUT_ERRORS[thrown.code].category === "model");

const refusal = (thrown: unknown): RelayReply => ({
  status: 400,
  content_type: "application/json",
  text: JSON.stringify({ error: { message: thrown instanceof Error ? thrown.message : String(thrown), type: "invalid_request_error" } }),
});
