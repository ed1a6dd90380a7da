import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { normaliseMessages } from "../messages.ts";
import { pythonJson } from "./python-json.ts";
import type { Message, Timing, ToolCall } from "../types.ts";

/** Tokens of one rollout. */
export interface RolloutTokenUsage {
  input_tokens?: number;
  output_tokens?: number;
  final_input_tokens?: number;
  final_output_tokens?: number;
}

/** Why a rollout ended badly, as rows say it; `code` is ours. */
export interface ErrorInfo {
  error: string;
  error_chain_repr: string;
  error_chain_str: string;
  code?: string;
}

/**
 * A row of `results.jsonl`, read: messages are messages again, every other key is as it was. What rows of older versions lack is
 * optional.
 */
export interface RolloutOutput {
  example_id?: number;
  task?: string;
  prompt: Message[] | null;
  completion: Message[] | null;
  reward: number;
  answer?: Json;
  info?: JsonObject;
  error?: ErrorInfo | null;
  timing?: Timing;
  is_completed?: boolean;
  is_truncated?: boolean;
  stop_condition?: string | null;
  metrics?: Record<string, number>;
  tool_defs?: JsonObject[] | null;
  token_usage?: RolloutTokenUsage;
  /** Metrics, state columns, and what other versions wrote. */
  [column: string]: unknown;
}

/** What a rubric gave one rollout. */
export interface RolloutScore {
  reward: number;
  metrics: Record<string, number>;
}

/** What a rubric gave several rollouts, in their order. */
export interface RolloutScores {
  reward: number[];
  metrics: Record<string, number[]>;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads one line of `results.jsonl`, ours or the Python library's. Throws a `SyntaxError` for what is no JSON, a `TypeError` that names a field. */
export const parseOutput = (line: string): RolloutOutput => readOutput(JSON.parse(line));

/** Reads a row that was parsed already. Throws a `TypeError` that names a field that is not what rows have. */
export function readOutput(row: unknown): RolloutOutput {
  if (!isRecord(row)) throw new TypeError("a row is no object");
  if (typeof row.reward !== "number") throw new TypeError("the reward of a row is no number");
  if (row.example_id !== undefined && !Number.isSafeInteger(row.example_id)) throw new TypeError("the example_id of a row is no integer");
  return { ...row, reward: row.reward, prompt: readMessages(row.prompt, "prompt"), completion: readMessages(row.completion, "completion") };
}

/** The row again: the same keys with the same values, tool calls as JSON texts. */
export function writeOutput(output: RolloutOutput): JsonObject {
  const row = { ...output } as unknown as JsonObject;
  row.prompt = output.prompt?.map(writeMessage) ?? null;
  row.completion = output.completion?.map(writeMessage) ?? null;
  return row;
}

/** Messages of a row of any version; null where there are none. Throws a `TypeError` that names `field`. */
export function readMessages(raw: unknown, field: string): Message[] | null {
  if (raw === null || raw === undefined) return null;
  if (typeof raw === "string") return normaliseMessages(raw);
  if (!Array.isArray(raw)) throw new TypeError(`the ${field} of a row is neither a text nor a list of messages`);
  const calls: string[] = [];
  return raw.map((message: unknown) => {
    if (!isRecord(message)) throw new TypeError(`the ${field} of a row holds something that is no message`);
    const tools = Array.isArray(message.tool_calls) ? message.tool_calls.map(readToolCall) : null;
    if (tools !== null) calls.splice(0, calls.length, ...tools.map(({ id }) => id));
    // Rows of 2025 do not say which call a result answers; results come in the order of their calls.
    const id = message.role === "tool" && typeof message.tool_call_id !== "string" ? { tool_call_id: calls.shift() ?? "" } : {};
    return { ...message, ...id, ...(tools === null ? {} : { tool_calls: tools }) } as unknown as Message;
  });
}

/** Old rows have OpenAI's nested form and its `type`, which a call keeps so that it is written as it was. */
function readToolCall(raw: unknown): ToolCall {
  const call: unknown = typeof raw === "string" ? JSON.parse(raw) : raw;
  if (!isRecord(call)) throw new TypeError("a row holds a tool call that is no object");
  const { function: nested, ...rest } = call;
  const { id, name, arguments: text, ...more } = isRecord(nested) ? { ...rest, ...nested } : call;
  if (typeof name !== "string") throw new TypeError("a row holds a tool call without a name");
  return { id: typeof id === "string" ? id : name, name, arguments: typeof text === "string" ? text : JSON.stringify(text ?? {}), ...more };
}

function writeMessage(message: Message): Json {
  const { tool_calls: calls, ...rest } = message as unknown as JsonObject & { tool_calls?: ToolCall[] | null };
  if (!("tool_calls" in message)) return rest;
  return { ...rest, tool_calls: calls?.map(writeToolCall) ?? null };
}

function writeToolCall({ id, name, arguments: text, ...more }: ToolCall): string {
  const nested = "type" in more;
  return pythonJson(nested ? { id, function: { arguments: text, name }, ...more } : { id, name, arguments: text, ...more });
}
