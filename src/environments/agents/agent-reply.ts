import { readAnthropicMessage } from "../../clients/anthropic/anthropic-response.ts";
import { AnthropicStream } from "../../clients/anthropic/anthropic-stream.ts";
import { onlyChoice, readChatCompletion, readFinish } from "../../clients/openai/chat-response.ts";
import { ChatStream } from "../../clients/openai/chat-stream.ts";
import { CompletionStream } from "../../clients/openai/completion-stream.ts";
import { readHead, readUsage, record, text } from "../../clients/openai/reply-fields.ts";
import { readResponse } from "../../clients/openai/responses-output.ts";
import { readEvents } from "../../clients/transport/server-sent-events.ts";
import type { StreamFold } from "../../clients/transport/read-answer.ts";
import { parseShallow } from "../../config/json-depth.ts";
import type { ModelResponse, RelayReply, RelayRoute } from "../../rollouts/types.ts";

/** The answer to an agent's call as the trajectory has it; without content where its form is not known, as of embeddings or of several choices. */
export async function responseOfReply(route: RelayRoute, { text: answer, content_type }: RelayReply, model: string): Promise<ModelResponse> {
  try {
    const body: unknown = /\bevent-stream\b/.test(content_type) ? await folded(route, answer) : parseShallow(answer);
    return { ...read(route, body), model: text(record(body)?.model) || model };
  } catch {
    return silent(model);
  }
}

/** A call that the agent was told the refusal of. */
export const silent = (model: string): ModelResponse => ({
  id: "",
  created: 0,
  model,
  usage: null,
  message: { role: "assistant", content: null, finish_reason: null, is_truncated: false, tokens: null },
});

function read(route: RelayRoute, body: unknown): ModelResponse {
  if (route === "chat/completions") return readChatCompletion(body);
  if (route === "messages") return readAnthropicMessage(body, 0);
  if (route === "responses") return readResponse(body);
  if (route === "completions") {
    const { reply, choice } = onlyChoice(body);
    const finish_reason = readFinish(choice.finish_reason);
    const message = { role: "assistant", content: text(choice.text), finish_reason, is_truncated: finish_reason === "length", tokens: null } as const;
    return { ...readHead(reply), usage: readUsage(reply.usage), message };
  }
  return { ...silent(""), usage: readUsage(record(body)?.usage) };
}

/** Events of an answer that came whole: its errors were the relay's to see. */
async function folded(route: RelayRoute, answer: string): Promise<unknown> {
  const fold = foldOf(route);
  let last: unknown = null;
  const { body } = new Response(answer);
  if (body === null) return null;
  for await (const { data } of readEvents(body, answer.length + 4)) {
    if (data === "[DONE]") continue;
    const event = record(parseShallow(data)) ?? {};
    fold?.add(event);
    last = event.response ?? last;
  }
  return fold === null ? last : fold.result(true);
}

/** Null: the last event has all of it. */
function foldOf(route: RelayRoute): StreamFold | null {
  const errorOf = (): Error => new Error("an error in the answer");
  if (route === "chat/completions") return new ChatStream(errorOf);
  if (route === "completions") return new CompletionStream(errorOf);
  return route === "messages" ? new AnthropicStream(errorOf) : null;
}
