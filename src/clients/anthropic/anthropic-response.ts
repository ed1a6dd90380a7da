import type { ModelResponse, ResponseMessage, ThinkingBlock, ToolCall } from "../../rollouts/types.ts";
import { type Fields, readUsage, record, records, text } from "../openai/reply-fields.ts";
import { badAnswer } from "../transport/request-failure.ts";

const KNOWN = ["text", "thinking", "redacted_thinking", "tool_use"];

const FINISH: Readonly<Record<string, ResponseMessage["finish_reason"]>> = {
  end_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
};

/** Throws `RequestFailed` for what is no message. One that says nothing is one: a refusal, or a model that is done. */
export function checkAnthropicMessage(body: unknown): void {
  if (body === null || body === "") throw badAnswer("empty_response", "the model returned no response");
  const reply = record(body);
  if (reply === null || !Array.isArray(reply.content)) throw badAnswer("invalid_response", `the answer is no message: ${JSON.stringify(body)}`);
  const unknown = records(reply.content).find(({ type }) => !KNOWN.includes(text(type)));
  if (unknown !== undefined) throw badAnswer("invalid_response", `the answer has a block of type ${JSON.stringify(unknown.type ?? null)}`);
}

/** A message that was checked, as a response. `now`: Unix milliseconds, since the route does not say when it answered. */
export function readAnthropicMessage(body: unknown, now: number): ModelResponse {
  const reply = record(body) ?? {};
  const blocks = records(reply.content);
  const reason = text(reply.stop_reason);
  const finish_reason = Object.hasOwn(FINISH, reason) ? (FINISH[reason] ?? null) : null;
  const thinking = blocks.filter(({ type }) => type === "thinking");
  const calls = blocks.flatMap(readToolUse);
  const kept = blocks.filter(isKept) as ThinkingBlock[];
  return {
    id: text(reply.id),
    created: Math.floor(now / 1_000),
    model: text(reply.model),
    usage: readUsage(reply.usage),
    message: {
      role: "assistant",
      content: blocks.map((block) => (block.type === "text" ? text(block.text) : "")).join(""),
      ...(thinking.length > 0 ? { reasoning_content: thinking.map((block) => text(block.thinking)).join("") } : {}),
      ...(kept.length > 0 ? { thinking_blocks: kept } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      finish_reason,
      is_truncated: finish_reason === "length",
      tokens: null,
    },
  };
}

/** Without its signature a thought cannot be sent back. */
const isKept = ({ type, signature }: Fields): boolean => type === "redacted_thinking" || (type === "thinking" && text(signature) !== "");

const readToolUse = ({ type, id, name, input }: Fields): ToolCall[] =>
  type === "tool_use" ? [{ id: text(id), name: text(name), arguments: JSON.stringify(input ?? {}) }] : [];
