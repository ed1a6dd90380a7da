import { parseShallow } from "../../config/json-depth.ts";
import { ToolCallError, ToolParseError } from "../../errors/rollout-errors.ts";
import { ToolMonitor } from "./monitors.ts";
import { MultiTurnEnv, type MultiTurnOptions } from "./multi-turn-env.ts";
import { checkedArgs, toolDef, type ToolFunction } from "./tool.ts";
import { toolContent } from "./tool-content.ts";
import type { Message, State, ToolCall, ToolMessage } from "../../rollouts/types.ts";

/** A class of errors, or a question whether an error is one. */
export type StopError = abstract new (...args: never[]) => Error;

export interface ToolOptions extends Omit<MultiTurnOptions, "toolDefs"> {
  readonly tools?: readonly ToolFunction[];
  /** Default 10. */
  readonly maxTurns?: number;
  /** What the model is told of an error in a tool; default: its message. */
  readonly errorFormatter?: (error: Error) => string;
  /** Errors that end the rollout instead of being told to the model; `SyntaxError` covers arguments that are no JSON. Default none. */
  readonly stopErrors?: readonly StopError[];
}

/** The model called a tool that is not there; the text is that of Python's `KeyError`, as in verifiers' rows. */
export class UnknownToolError extends Error {
  override readonly name = "UnknownToolError";

  constructor(tool: string) {
    super(`'${tool}'`);
  }
}

const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** A conversation in which the model calls functions, one after another in the order of its message, until it calls none. */
export class ToolEnv extends MultiTurnEnv {
  readonly errorFormatter: (error: Error) => string;
  readonly stopErrors: readonly StopError[];
  readonly #tools = new Map<string, ToolFunction>();

  constructor(options: ToolOptions) {
    super({ ...options, maxTurns: options.maxTurns ?? 10 });
    this.errorFormatter = options.errorFormatter ?? (({ message }) => message);
    this.stopErrors = options.stopErrors ?? [];
    this.addRubric(new ToolMonitor(() => [...this.#tools.keys()]));
    this.onStop("no_tools_called", (state) => callsNothing(state.trajectory.at(-1)?.completion.at(-1)));
    for (const each of options.tools ?? []) this.addTool(each);
  }

  get tools(): readonly ToolFunction[] {
    return [...this.#tools.values()];
  }

  /** Adds a tool; one of the same name is replaced. `argsToSkip` are parameters that the model is not told of (`StatefulToolEnv`). */
  addTool(definition: ToolFunction, argsToSkip: readonly string[] = []): void {
    const { name } = definition;
    this.#tools.set(name, definition);
    this.toolDefs = [...this.toolDefs.filter((shown) => shown.name !== name), toolDef(definition, argsToSkip)];
  }

  /** Takes a tool away, by itself or by name; nothing happens when it is not there. */
  removeTool(definition: ToolFunction | string): void {
    const name = typeof definition === "string" ? definition : definition.name;
    this.#tools.delete(name);
    this.toolDefs = this.toolDefs.filter((shown) => shown.name !== name);
  }

  /** Arguments of a call as the tool gets them: a hook for values that the model does not know. Outside of the error guard: what it throws is the environment's. */
  updateToolArgs(
    _name: string,
    args: Record<string, unknown>,
    _messages: readonly Message[],
    _state: State,
  ): Record<string, unknown> | Promise<Record<string, unknown>> {
    return args;
  }

  /** Calls one tool. Throws what the tool throws, `UnknownToolError`, and a `TypeError` for arguments that do not fit. */
  async callTool(name: string, args: Record<string, unknown>, id: string, state: State): Promise<ToolMessage> {
    const definition = this.#tools.get(name);
    if (definition === undefined) throw new UnknownToolError(name);
    const result = await definition.run(await checkedArgs(definition, args), { state, id, signal: this.signalOf(state) });
    return { role: "tool", tool_call_id: id, content: toolContent(result) };
  }

  override async envResponse(messages: readonly Message[], state: State): Promise<Message[]> {
    const last = messages.at(-1);
    const calls = last?.role === "assistant" ? (last.tool_calls ?? []) : [];
    const answers: Message[] = [];
    for (const call of calls) answers.push(await this.#answer(call, messages, state));
    return answers;
  }

  async #answer(call: ToolCall, messages: readonly Message[], state: State): Promise<ToolMessage> {
    let args: Record<string, unknown>;
    try {
      args = readArgs(call);
    } catch (thrown) {
      return this.#told(call, errorOf(thrown), (cause) => new ToolParseError(`arguments of ${call.name}: ${cause.message}`, { cause }));
    }
    const updated = await this.updateToolArgs(call.name, args, messages, state);
    try {
      return await this.callTool(call.name, updated, call.id, state);
    } catch (thrown) {
      this.signalOf(state)?.throwIfAborted();
      return this.#told(call, errorOf(thrown), (cause) => new ToolCallError(`${call.name}: ${cause.message}`, { cause }));
    }
  }

  #told(call: ToolCall, error: Error, stopping: (cause: Error) => Error): ToolMessage {
    if (this.stopErrors.some((kind) => error instanceof kind)) throw stopping(error);
    return { role: "tool", tool_call_id: call.id, content: this.errorFormatter(error) };
  }
}

const callsNothing = (message: Message | undefined): boolean => message?.role === "assistant" && (message.tool_calls ?? []).length === 0;

/** Throws a `SyntaxError` for what is no JSON, a `TypeError` for JSON that is no object. */
function readArgs({ name, arguments: text }: ToolCall): Record<string, unknown> {
  const args: unknown = parseShallow(text);
  if (typeof args === "object" && args !== null && !Array.isArray(args)) return args as Record<string, unknown>;
  throw new TypeError(
    `Expected the arguments of ${name} to be an object, got ${args === null ? "null" : Array.isArray(args) ? "an array" : `a ${typeof args}`}: ${text}`,
  );
}
