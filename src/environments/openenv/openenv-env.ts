import { parseShallow } from "../../config/json-depth.ts";
import type { Sleep } from "../../clients/client.ts";
import { sleep as realSleep } from "../../clients/transport/sleep.ts";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { SandboxError, SandboxNotReadyError } from "../../errors/rollout-errors.ts";
import { Rubric } from "../../rubrics/rubric.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { RowSource } from "../definition/examples.ts";
import { contentText, normaliseMessages } from "../../rollouts/messages.ts";
import { MultiTurnEnv, type MultiTurnOptions } from "../kinds/multi-turn-env.ts";
import { SandboxKeeper } from "../sandbox/sandbox-keeper.ts";
import type { Sandbox, SandboxSpec } from "../sandbox/sandbox.ts";
import { toolContent } from "../kinds/tool-content.ts";
import type { AssistantMessage, Message, State, Tool } from "../../rollouts/types.ts";
import { looksLikeMcp, type OpenEnvBuild, type OpenEnvConnect, type OpenEnvServer, type OpenEnvSession, readAction, readBuild } from "./openenv-server.ts";

/** What a renderer is given beside the observation. */
export interface RenderContext {
  readonly context: "reset" | "step";
  readonly contract: "gym" | "mcp";
  readonly action_schema: JsonObject | null;
  /** Of a reset. */
  readonly seed: number | null;
}
/** Makes the messages that an observation is for the model: at least one, each with content. */
export type PromptRenderer = (observation: Json, context: RenderContext) => readonly Message[] | string;

export interface OpenEnvOptions extends Omit<MultiTurnOptions, "dataset" | "evalDataset"> {
  /** Content of the project's `.build.json`; environments read no files. */
  readonly build: OpenEnvBuild | JsonObject;
  readonly sandbox: Sandbox;
  readonly connect: OpenEnvConnect;
  readonly promptRenderer: PromptRenderer;
  /** Default 100. */
  readonly numTrainExamples?: number;
  /** Default 50; their seeds follow those for training. */
  readonly numEvalExamples?: number;
  /** Of the first example; default 0. */
  readonly seed?: number;
  /** Default 30. */
  readonly startupTimeoutSeconds?: number;
  /** Default 1. */
  readonly startupPollSeconds?: number;
  readonly sleep?: Sleep;
}

const RESETS = 5;

interface Running {
  readonly id: string;
  readonly server: OpenEnvServer;
  readonly schema: JsonObject;
}

/**
 * An OpenEnv project in a sandbox per rollout. Its examples are resets with ascending seeds, made when the data set is
 * read. `gym`: the model's text is the action; `mcp`: the server's tools are the model's. Rewards of steps stand in the trajectory,
 * and their sum is the reward unless a rubric says otherwise.
 */
export class OpenEnvEnv extends MultiTurnEnv {
  readonly build: OpenEnvBuild;
  /** A session is the server's, and ends with its connection. */
  override readonly resumable = false;
  readonly #options: OpenEnvOptions;
  readonly #keeper: SandboxKeeper;
  readonly #sleep: Sleep;
  readonly #running = new WeakMap<State, { readonly id: string; readonly session: OpenEnvSession }>();

  constructor(options: OpenEnvOptions) {
    const { numTrainExamples = 100, numEvalExamples = 50, seed = 0 } = options;
    const rows =
      (first: number, most: number): RowSource =>
      (count) =>
        this.#rows(first, count > 0 ? Math.min(count, most) : most);
    super({
      rubric: new Rubric([{ name: "sum_step_rewards", fn: ({ state }) => state.trajectory.reduce((sum, { reward }) => sum + (reward ?? 0), 0) }]),
      ...options,
      dataset: rows(seed, numTrainExamples),
      ...(numEvalExamples > 0 ? { evalDataset: rows(seed + numTrainExamples, numEvalExamples) } : {}),
    });
    this.access = [options.sandbox.access ?? "sandbox"];
    this.build = readBuild(options.build);
    this.#options = options;
    this.#sleep = options.sleep ?? realSleep;
    this.#keeper = new SandboxKeeper(options.sandbox, this.#sleep);
    // Before `has_final_env_response`, which holds too when the environment is done.
    const first = { priority: 1 };
    this.onStop("openenv_done", (state) => this.build.contract === "gym" && state.openenv_done === true, first);
    this.onStop("mcp_no_tool_calls", (state) => this.build.contract === "mcp" && (state.openenv_done === true || callsNothing(state)), first);
    this.onCleanup("cleanup_openenv", (state) => this.#close(state));
    this.onTeardown("teardown_openenv", () => this.#keeper.closeAll());
  }

  override async setupState(state: State): Promise<void> {
    const signal = this.signalOf(state);
    const { id, server, schema } = await this.#start(signal);
    const session = await server.session();
    this.#running.set(state, { id, session });
    state.openenv_action_schema = schema;
    if (this.build.contract === "mcp") state.tool_defs = (await session.listTools()).map(toolDefOf);
    const seed = Number(state.info?.seed ?? 0);
    state.openenv_done = (await session.reset(seed)).done;
  }

  override async envResponse(messages: readonly Message[], state: State): Promise<Message[]> {
    const running = this.#running.get(state);
    const last = messages.at(-1);
    if (running === undefined || last?.role !== "assistant") throw new Error("there is no answer of the model to act on");
    const answers = this.build.contract === "mcp" ? await this.#callTools(last, running.session, state) : await this.#act(last, running.session, state);
    // Nobody is left to answer to; the model is not asked again.
    if (state.openenv_done === true) state.final_env_response = answers;
    return answers;
  }

  async #act(message: AssistantMessage, session: OpenEnvSession, state: State): Promise<Message[]> {
    const schema = state.openenv_action_schema as JsonObject;
    const { observation, reward, done } = await session.step(readAction(contentText(message.content), schema));
    rewardLast(state, reward);
    state.openenv_done = done;
    return this.#render(observation, { context: "step", contract: "gym", action_schema: schema, seed: null });
  }

  async #callTools({ tool_calls: calls }: AssistantMessage, session: OpenEnvSession, state: State): Promise<Message[]> {
    const answers: Message[] = [];
    let total = 0;
    let over = false;
    for (const call of calls ?? []) {
      let content: ReturnType<typeof toolContent>;
      try {
        const args: unknown = parseShallow(call.arguments);
        if (typeof args !== "object" || args === null || Array.isArray(args)) throw new TypeError("tool arguments must be an object");
        const { observation, reward, done } = await session.step({ type: "call_tool", tool_name: call.name, arguments: args as JsonObject });
        total += reward ?? 0;
        over ||= done;
        content = toolContent(toolResult(observation));
      } catch (thrown) {
        this.signalOf(state)?.throwIfAborted();
        content = `Error: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
      }
      answers.push({ role: "tool", tool_call_id: call.id, content });
    }
    rewardLast(state, total);
    state.openenv_done = over;
    return answers;
  }

  /** Starts a server in a sandbox and waits for it. */
  async #start(signal: AbortSignal | null): Promise<Running> {
    const { sandbox, connect } = this.#options;
    const id = await this.#keeper.open(specOf(this.build), signal);
    try {
      await sandbox.ready(id, signal);
      const server = connect(await sandbox.expose(id, this.build.port));
      await this.#awaitHealth(server, signal);
      const schema = await server.actionSchema();
      if (looksLikeMcp(schema) !== (this.build.contract === "mcp"))
        throw new SandboxError(`the project's contract is ${this.build.contract}, and its action schema is not`);
      return { id, server, schema };
    } catch (thrown) {
      await this.#keeper.close(id);
      throw thrown;
    }
  }

  async #awaitHealth(server: OpenEnvServer, signal: AbortSignal | null): Promise<void> {
    const { startupTimeoutSeconds = 30, startupPollSeconds = 1 } = this.#options;
    for (let waited = 0; ; waited += startupPollSeconds) {
      // A server that is starting refuses connections.
      if (await server.healthy().catch(() => false)) return;
      if (waited >= startupTimeoutSeconds) throw new SandboxNotReadyError(`the OpenEnv server does not answer /health after ${startupTimeoutSeconds} s`);
      await this.#sleep(startupPollSeconds * 1_000, signal);
    }
  }

  /** `count` examples: one server, reset once for each. */
  async *#rows(first: number, count: number): AsyncGenerator<JsonObject> {
    const { id, server, schema } = await this.#start(null);
    const { contract } = this.build;
    try {
      const session = await server.session();
      try {
        for (let seed = first; seed < first + count; seed++) {
          const observation = await this.#reset(session, seed);
          const prompt = this.#render(observation, { context: "reset", contract, action_schema: contract === "mcp" ? schema : null, seed });
          yield { prompt: prompt as unknown as Json, info: { seed } };
        }
      } finally {
        await session.close();
      }
    } finally {
      await this.#keeper.close(id);
    }
  }

  async #reset(session: OpenEnvSession, seed: number): Promise<Json> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await session.reset(seed)).observation;
      } catch (cause) {
        if (attempt >= RESETS)
          throw new EdgewiseError("environment_failed", `the OpenEnv server cannot be reset with seed ${seed} (${RESETS} attempts)`, { cause });
        await this.#sleep(Math.min(3_000, 250 * 2 ** (attempt - 1)));
      }
    }
  }

  #render(observation: Json, context: RenderContext): Message[] {
    const messages = normaliseMessages(this.#options.promptRenderer(observation, context));
    if (messages.length === 0 || messages.some(({ content }) => content === null))
      throw new TypeError("promptRenderer must return at least one message, each with content");
    return messages;
  }

  async #close(state: State): Promise<void> {
    const running = this.#running.get(state);
    if (running === undefined) return;
    this.#running.delete(state);
    await running.session.close().catch(() => undefined);
    await this.#keeper.close(running.id);
  }
}

const specOf = ({ image, start_command }: OpenEnvBuild): SandboxSpec => ({
  name: "openenv-env",
  docker_image: image,
  start_command,
  cpu_cores: 2,
  memory_gb: 4,
  disk_size_gb: 10,
  gpu_count: 0,
  timeout_minutes: 60,
  environment_vars: { ENABLE_WEB_INTERFACE: "false" },
  labels: [],
  team_id: null,
  advanced_configs: {},
});

function rewardLast(state: State, reward: number | null): void {
  const last = state.trajectory.at(-1);
  if (last !== undefined) last.reward = reward;
}

function callsNothing(state: State): boolean {
  const last = state.trajectory.at(-1)?.completion.at(-1);
  return last?.role === "assistant" && (last.tool_calls ?? []).length === 0;
}

const isRecord = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

function toolDefOf(listed: JsonObject): Tool {
  const schema = listed.input_schema ?? listed.inputSchema;
  return {
    name: String(listed.name ?? ""),
    description: typeof listed.description === "string" ? listed.description : "",
    parameters: isRecord(schema) ? schema : { type: "object", properties: {} },
  };
}

/** What a tool said, out of the observation that carries it. */
function toolResult(observation: Json): unknown {
  if (!isRecord(observation)) return observation;
  if (observation.error !== undefined && observation.error !== null) return { error: observation.error };
  const { result } = observation;
  return isRecord(result) && "data" in result ? result.data : result;
}
