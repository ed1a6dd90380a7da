import { parseShallow } from "../../config/json-depth.ts";
import type { Sleep } from "../../clients/client.ts";
import { sleep as realSleep } from "../../clients/transport/sleep.ts";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { InfraError } from "../../errors/rollout-errors.ts";
import { Rubric } from "../../rubrics/rubric.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { RowSource } from "../definition/examples.ts";
import { contentText, normaliseMessages } from "../../rollouts/messages.ts";
import { MultiTurnEnv, type MultiTurnOptions } from "../kinds/multi-turn-env.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { toolContent } from "../kinds/tool-content.ts";
import type { AssistantMessage, Message, State, Tool } from "../../rollouts/types.ts";
import { openEnvConnect, platformNetwork } from "./openenv-connect.ts";
import { type Contract, NoAction, type OpenEnvBuild, type OpenEnvConnect, type OpenEnvSession, readAction, readBuild } from "./openenv-server.ts";
import { OpenEnvRefusal } from "./openenv-socket.ts";
import { type RunningServer, type RunningServers, ServerAtAddress, ServersInSandboxes } from "./running-servers.ts";

/** What a renderer is given beside the observation. */
export interface RenderContext {
  readonly context: "reset" | "step";
  readonly contract: Contract;
  readonly action_schema: JsonObject;
  /** Of a reset. */
  readonly seed: number | null;
}
/** Makes the messages that an observation is for the model: at least one, each with content. */
export type PromptRenderer = (observation: Json, context: RenderContext) => readonly Message[] | string;

export interface OpenEnvOptions extends Omit<MultiTurnOptions, "dataset" | "evalDataset"> {
  /** Content of the project's `.build.json`, for a server of its own in a sandbox for each rollout; environments read no files. */
  readonly build?: OpenEnvBuild | JsonObject;
  readonly sandbox?: Sandbox;
  /** Where a server runs that all rollouts play on, in place of these two; its contract is what its actions look like. */
  readonly url?: string;
  /** Default: by the platform's `fetch` and `WebSocket`, to any address. */
  readonly connect?: OpenEnvConnect;
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

interface Playing {
  readonly running: RunningServer;
  readonly session: OpenEnvSession;
}

/**
 * An OpenEnv project in a sandbox per rollout, or a server that runs already. Its examples are resets with ascending seeds, made when the data set is
 * read. `gym`: the model's text is the action; `mcp`: the server's tools are the model's. Rewards of steps stand in the trajectory,
 * and their sum is the reward unless a rubric says otherwise. The model is told what was no action of the server; what the server fails by is an error.
 */
export class OpenEnvEnv extends MultiTurnEnv {
  readonly build: OpenEnvBuild | null;
  /** A session is the server's, and ends with its connection. */
  override readonly resumable = false;
  readonly #options: OpenEnvOptions;
  readonly #servers: RunningServers;
  readonly #sleep: Sleep;
  readonly #playing = new WeakMap<State, Playing>();

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
    this.#options = options;
    this.#sleep = options.sleep ?? realSleep;
    this.build = options.build === undefined ? null : readBuild(options.build);
    this.#servers = this.#serversOf(options);
    // Before `has_final_env_response`, which holds too when the environment is done.
    const first = { priority: 1 };
    this.onStop("openenv_done", (state) => this.#contractOf(state) === "gym" && state.openenv_done === true, first);
    this.onStop("mcp_no_tool_calls", (state) => this.#contractOf(state) === "mcp" && (state.openenv_done === true || callsNothing(state)), first);
    this.onCleanup("cleanup_openenv", (state) => this.#close(state));
    this.onTeardown("teardown_openenv", () => this.#servers.closeAll());
  }

  #serversOf({
    sandbox,
    url,
    connect = openEnvConnect(platformNetwork(true)),
    startupTimeoutSeconds = 30,
    startupPollSeconds = 1,
  }: OpenEnvOptions): RunningServers {
    const startup = { sleep: this.#sleep, timeoutSeconds: startupTimeoutSeconds, pollSeconds: startupPollSeconds };
    if (url !== undefined) return new ServerAtAddress(url, connect, startup);
    if (sandbox === undefined || this.build === null) throw new TypeError("OpenEnvEnv needs a url, or a build and a sandbox");
    this.access = [sandbox.access ?? "sandbox"];
    return new ServersInSandboxes(sandbox, this.build, connect, startup);
  }

  override async setupState(state: State): Promise<void> {
    const signal = this.signalOf(state);
    const running = await this.#servers.open(signal);
    let session: OpenEnvSession;
    try {
      session = await running.server.session(signal);
    } catch (thrown) {
      await running.end();
      throw thrown;
    }
    this.#playing.set(state, { running, session });
    state.openenv_contract = running.contract;
    state.openenv_action_schema = running.schema;
    if (running.contract === "mcp") state.tool_defs = (await session.listTools()).map(toolDefOf);
    state.openenv_done = (await session.reset(Number(state.info?.seed ?? 0))).done;
  }

  #contractOf(state: State): Contract | null {
    return (state.openenv_contract as Contract | undefined) ?? null;
  }

  override async envResponse(messages: readonly Message[], state: State): Promise<Message[]> {
    const playing = this.#playing.get(state);
    const last = messages.at(-1);
    if (playing === undefined || last?.role !== "assistant") throw new Error("there is no answer of the model to act on");
    const answers = this.#contractOf(state) === "mcp" ? await this.#callTools(last, playing.session, state) : await this.#act(last, playing.session, state);
    // Nobody is left to answer to; the model is not asked again.
    if (state.openenv_done === true) state.final_env_response = answers;
    return answers;
  }

  async #act(message: AssistantMessage, session: OpenEnvSession, state: State): Promise<Message[]> {
    const schema = state.openenv_action_schema as JsonObject;
    try {
      const { observation, reward, done } = await session.step(readAction(contentText(message.content), schema));
      rewardLast(state, reward);
      state.openenv_done = done;
      return this.#render(observation, { context: "step", contract: "gym", action_schema: schema, seed: null });
    } catch (thrown) {
      // The schema that an answer does not follow is the server's to say; its environment has not moved.
      const invalid = thrown instanceof NoAction || (thrown instanceof OpenEnvRefusal && thrown.code === "VALIDATION_ERROR");
      if (!invalid) throw thrown;
      return [{ role: "user", content: `Error: ${thrown.message}` }];
    }
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
        if (thrown instanceof InfraError) throw thrown;
        content = `Error: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
      }
      answers.push({ role: "tool", tool_call_id: call.id, content });
    }
    rewardLast(state, total);
    state.openenv_done = over;
    return answers;
  }

  /** `count` examples: one server, reset once for each. */
  async *#rows(first: number, count: number): AsyncGenerator<JsonObject> {
    const { server, schema, contract, end } = await this.#servers.open(null);
    try {
      let session = await server.session();
      const reset = async (seed: number): Promise<Json> => (await session.reset(seed)).observation;
      const again = async (): Promise<void> => {
        await session.close();
        session = await server.session();
      };
      try {
        for (let seed = first; seed < first + count; seed++) {
          const observation = await this.#withResets(seed, reset, again);
          const prompt = this.#render(observation, { context: "reset", contract, action_schema: schema, seed });
          yield { prompt: prompt as unknown as Json, info: { seed } };
        }
      } finally {
        await session.close();
      }
    } finally {
      await end();
    }
  }

  /** Resets, up to 5 times, each time in a new session: one may be what failed. */
  async #withResets(seed: number, reset: (seed: number) => Promise<Json>, again: () => Promise<void>): Promise<Json> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await reset(seed);
      } catch (cause) {
        if (attempt >= RESETS)
          throw new EdgewiseError("environment_failed", `the OpenEnv server cannot be reset with seed ${seed} (${RESETS} attempts)`, { cause });
        await this.#sleep(Math.min(3_000, 250 * 2 ** (attempt - 1)));
        await again();
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
    const playing = this.#playing.get(state);
    if (playing === undefined) return;
    this.#playing.delete(state);
    await playing.session.close().catch(() => undefined);
    await playing.running.end();
  }
}

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
  if (!isRecord(result) || !("data" in result)) return result;
  // A tool that says nothing of what it gives has no data, and its text alone.
  return result.data === null && Array.isArray(result.content) ? result.content.map(plainPart) : result.data;
}

/** A part of a text without what only MCP knows. */
const plainPart = (part: Json): Json => (isRecord(part) && part.type === "text" ? { type: "text", text: String(part.text ?? "") } : part);
