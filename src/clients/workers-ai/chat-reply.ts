import { mask } from "../../errors/masking.ts";
import { MAX_RELAYED_REFUSAL_CHARACTERS } from "../../limits.ts";
import type { RelayReply } from "../../rollouts/types.ts";
import { OverlongPromptError } from "../overlong-prompt-error.ts";
import { readUsage, record, records, text } from "../openai/reply-fields.ts";

export interface ChatReplyOf {
  readonly model: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** Whether whoever asked reads events. */
  readonly streamed: boolean;
}

/** An answer of the binding as OpenAI's chat route gives it, to clients that know that alone; in pieces it is one. */
export function chatReply(answer: unknown, { model, now, streamed }: ChatReplyOf): RelayReply {
  const reply = record(answer) ?? {};
  const head = { id: text(reply.id) || `chatcmpl-${crypto.randomUUID()}`, created: Math.floor(now / 1_000), model: text(reply.model) || model };
  const usage = readUsage(reply.usage);
  const tokens =
    usage === null ? {} : { usage: { prompt_tokens: usage.prompt_tokens, completion_tokens: usage.completion_tokens, total_tokens: usage.total_tokens } };
  const choices = records(reply.choices).map((choice, index) => ({
    choice,
    index,
    message: messageOf(choice.message),
    finish_reason: finishOf(choice.finish_reason),
  }));
  if (!streamed) {
    const whole = choices.map(({ index, message, finish_reason, choice }) => ({ index, message, finish_reason, logprobs: choice.logprobs ?? null }));
    return { status: 200, content_type: "application/json", text: mask(JSON.stringify({ ...head, object: "chat.completion", choices: whole, ...tokens })) };
  }
  const chunk = { ...head, object: "chat.completion.chunk" };
  const events = [
    { ...chunk, choices: choices.map(({ index, message }) => ({ index, delta: deltaOf(message), finish_reason: null })) },
    { ...chunk, choices: choices.map(({ index, finish_reason }) => ({ index, delta: {}, finish_reason })), ...tokens },
  ];
  const lines = [...events.map((event) => JSON.stringify(event)), "[DONE]"];
  return { status: 200, content_type: "text/event-stream", text: mask(lines.map((line) => `data: ${line}\n\n`).join("")) };
}

/** A refusal of the binding in the words of OpenAI's routes. One for a prompt that does not fit says so in theirs. */
export function refusedChat(said: string, status: number, error: Error): RelayReply {
  const type = error instanceof OverlongPromptError ? "prompt_too_long" : "workers_ai_error";
  const text = JSON.stringify({ error: { message: said.slice(0, MAX_RELAYED_REFUSAL_CHARACTERS), type, param: null, code: null } });
  return { status, content_type: "application/json", text };
}

type Said = { readonly role: "assistant"; readonly content: unknown; readonly tool_calls?: readonly object[] };

function messageOf(raw: unknown): Said {
  const { content = null, tool_calls, ...rest } = record(raw) ?? {};
  const calls = records(tool_calls).map((call) => ({ ...call, type: "function" }));
  return { ...rest, role: "assistant", content, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

const deltaOf = ({ tool_calls, ...said }: Said): object =>
  tool_calls === undefined ? said : { ...said, tool_calls: tool_calls.map((call, index) => ({ ...call, index })) };

/** Older models do not say why they ended. */
const finishOf = (reason: unknown): string => text(reason) || "stop";
