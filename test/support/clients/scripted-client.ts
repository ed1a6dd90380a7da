import type { AssistantMessage, Client, ModelRequest, ModelResponse, ResponseTokens, Usage } from "../../../src/rollouts/types.ts";

/** What the model says: a text, a message, an error to throw, or an answer that depends on the request. */
export type Reply = string | Error | (Partial<Omit<AssistantMessage, "role">> & ReplyDetails) | ((request: ModelRequest) => Reply);

interface ReplyDetails {
  readonly finish_reason?: "stop" | "length" | "tool_calls" | null;
  readonly usage?: Partial<Usage> | null;
  readonly tokens?: ResponseTokens;
}

export interface ScriptedClient extends Client {
  readonly requests: ModelRequest[];
}

/** Answers with `replies` in turn, then with the last again; every request is kept. */
export function scriptedClient(...replies: Reply[]): ScriptedClient {
  const requests: ModelRequest[] = [];
  return {
    type: "scripted",
    requests,
    async getResponse(request) {
      requests.push(request);
      request.signal?.throwIfAborted();
      request.onBegin?.();
      return answer(replies[Math.min(requests.length, replies.length) - 1] ?? "ok", request);
    },
  };
}

function answer(reply: Reply, request: ModelRequest): ModelResponse {
  if (typeof reply === "function") return answer(reply(request), request);
  if (reply instanceof Error) throw reply;
  const { finish_reason = "stop", usage = {}, tokens = null, ...message } = typeof reply === "string" ? { content: reply } : reply;
  return {
    id: "scripted",
    created: 0,
    model: request.model,
    usage: usage === null ? null : { prompt_tokens: 10, reasoning_tokens: 0, completion_tokens: 5, total_tokens: 15, ...usage },
    message: { content: null, ...message, role: "assistant", finish_reason, is_truncated: finish_reason === "length", tokens },
  };
}

/** A message that calls tools: name and arguments (a text is sent as it is) of each. */
export const calls = (...list: readonly (readonly [name: string, args: unknown])[]): Reply => ({
  content: null,
  finish_reason: "tool_calls",
  tool_calls: list.map(([name, args], index) => ({ id: `call_${index}`, name, arguments: typeof args === "string" ? args : JSON.stringify(args) })),
});
