import type { ModelResponse, ResponseMessage, ThinkingBlock, ToolCall } from "../../rollouts/types.ts";
import { type Fields, readUsage, record, records, text } from "./reply-fields.ts";
import { readLogprobs } from "./reply-tokens.ts";
import { badAnswer } from "../transport/request-failure.ts";
import { isReasoning } from "./responses-input.ts";

/** Throws `RequestFailed` for what is no finished response, or says nothing. */
export function checkResponse(body: unknown): void {
  if (body === null || body === "") throw badAnswer("empty_response", "the model returned no response");
  const reply = record(body);
  const ended = reply?.status === undefined || reply.status === "completed" || reply.status === "incomplete";
  if (reply === null || !Array.isArray(reply.output) || !ended) {
    throw badAnswer("invalid_response", `the answer is no finished response: ${JSON.stringify(body)}`);
  }
  const { message } = readResponse(body);
  if ((message.content ?? "") !== "" || (message.tool_calls ?? []).length > 0 || (message.reasoning_content ?? "") !== "") return;
  const why = record(reply.incomplete_details)?.reason ?? reply.status ?? null;
  throw badAnswer("empty_response", `the model returned no content, no tool calls and no reasoning (${JSON.stringify(why)})`);
}

/** A response that was checked. Items of other kinds (searches the server made) are ornaments. */
export function readResponse(body: unknown): ModelResponse {
  const reply = record(body) ?? {};
  const items = records(reply.output);
  const parts = items.flatMap(({ type, content }) => (type === "message" ? records(content) : []));
  const calls = items.flatMap(readCall);
  const reasoning = items.filter(({ type }) => type === "reasoning");
  const thought = reasoning.map(thoughtOf).filter((each) => each !== "");
  const kept = reasoning.filter(isReasoning) as ThinkingBlock[];
  const logprobs = readLogprobs({ content: parts.flatMap((part) => records(part.logprobs)) });
  const finish_reason = finishOf(reply, calls.length > 0);
  return {
    id: text(reply.id),
    created: typeof reply.created_at === "number" ? reply.created_at : 0,
    model: text(reply.model),
    usage: readUsage(reply.usage),
    message: {
      role: "assistant",
      content: parts.map((part) => text(part.text) + text(part.refusal)).join(""),
      ...(thought.length > 0 ? { reasoning_content: thought.join("\n\n") } : {}),
      ...(kept.length > 0 ? { thinking_blocks: kept } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      finish_reason,
      is_truncated: finish_reason === "length",
      tokens: null,
    },
    ...(logprobs === null ? {} : { logprobs }),
  };
}

/** What was thought where the server shows it, else its summary. */
function thoughtOf({ content, summary }: Fields): string {
  const whole = records(content).map((part) => text(part.text));
  return (whole.length > 0 ? whole : records(summary).map((part) => text(part.text))).join("\n\n");
}

function readCall({ type, call_id, name, arguments: given }: Fields): ToolCall[] {
  if (type !== "function_call" || typeof call_id !== "string" || typeof name !== "string" || typeof given !== "string") return [];
  return [{ id: call_id, name, arguments: given }];
}

function finishOf({ status, incomplete_details }: Fields, called: boolean): ResponseMessage["finish_reason"] {
  if (status === "incomplete") return record(incomplete_details)?.reason === "max_output_tokens" ? "length" : null;
  return called ? "tool_calls" : "stop";
}
