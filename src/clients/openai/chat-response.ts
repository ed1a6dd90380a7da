import type { ModelResponse, ResponseMessage, ToolCall } from "../../rollouts/types.ts";
import { type Fields, readHead, readUsage, record, text } from "./reply-fields.ts";
import { readLogprobs, readTokens } from "./reply-tokens.ts";
import { badAnswer } from "../transport/request-failure.ts";

/**
 * Throws `RequestFailed` for an answer of OpenAI's two older routes without exactly one choice: `empty_response` when there is
 * nothing in it, else `invalid_response`.
 */
export function onlyChoice(body: unknown): { readonly reply: Fields; readonly choice: Fields } {
  if (body === null || body === undefined || body === "") throw badAnswer("empty_response", "the model returned no response");
  const reply = record(body);
  if (reply === null) throw badAnswer("invalid_response", `the answer is no completion: ${JSON.stringify(body)}`);
  const { choices } = reply;
  if (choices === null || choices === undefined) throw badAnswer("empty_response", "the model returned no choices");
  if (!Array.isArray(choices) || choices.length !== 1) {
    throw badAnswer("invalid_response", `expected one choice, got ${Array.isArray(choices) ? choices.length : typeof choices}`);
  }
  return { reply, choice: record(choices[0]) ?? {} };
}

/** Throws `RequestFailed` for a chat completion that is none, or that says nothing. */
export function checkChatCompletion(body: unknown): void {
  const { choice } = onlyChoice(body);
  const message = record(choice.message) ?? {};
  // A truncated call still counts as content here, even one that is dropped when it is read: the model did answer.
  const called = Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
  if (called || (readContent(message) ?? "") !== "" || (readReasoning(message) ?? "") !== "") return;
  throw badAnswer(
    "empty_response",
    `the model returned no content, no tool calls and no reasoning (finish reason ${JSON.stringify(choice.finish_reason ?? null)})`,
  );
}

/** A chat completion that was checked. Everything that is only an ornament is taken if it has the right form and left if not. */
export function readChatCompletion(body: unknown): ModelResponse {
  const { reply, choice } = onlyChoice(body);
  const logprobs = readLogprobs(choice.logprobs);
  return {
    ...readHead(reply),
    usage: readUsage(reply.usage),
    message: { ...readMessage(choice, record(choice.message) ?? {}), tokens: readTokens(reply, choice, logprobs) },
    ...(logprobs === null ? {} : { logprobs }),
  };
}

const FINISH_REASONS = ["stop", "length", "tool_calls"] as const;

export const readFinish = (reason: unknown): (typeof FINISH_REASONS)[number] | null => FINISH_REASONS.find((known) => known === reason) ?? null;

function readMessage(choice: Fields, message: Fields): Omit<ResponseMessage, "tokens"> {
  const reasoning = readReasoning(message);
  const calls = readToolCalls(message.tool_calls);
  const finish_reason = readFinish(choice.finish_reason);
  return {
    role: "assistant",
    content: readContent(message),
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    finish_reason,
    is_truncated: finish_reason === "length",
  };
}

function readReasoning({ reasoning, reasoning_content, reasoning_details }: Fields): string | null {
  const first = [reasoning, reasoning_content, reasoning_details].find((value) => typeof value === "string");
  return typeof first === "string" ? first : null;
}

/**
 * A text; some servers send a list of text parts, which is the same text in pieces. A refusal is what the model says in place of
 * content: its outcome, not a failure to answer.
 */
function readContent({ content, refusal }: Fields): string | null {
  if (Array.isArray(content)) return content.map((part) => text(record(part)?.text)).join("");
  if (typeof content === "string" && content !== "") return content;
  return typeof refusal === "string" && refusal !== "" ? refusal : typeof content === "string" ? content : null;
}

/** Calls that lack id, name or arguments are left out, as in the reference: nothing could answer them. */
function readToolCalls(calls: unknown): ToolCall[] {
  if (!Array.isArray(calls)) return [];
  return calls.flatMap((raw) => {
    const call = record(raw);
    const called = record(call?.function);
    const { id } = call ?? {};
    const { name, arguments: given } = called ?? {};
    return typeof id === "string" && typeof name === "string" && typeof given === "string" ? [{ id, name, arguments: given }] : [];
  });
}
