import { promptOfRequest } from "../environments/agents/agent-prompt.ts";
import { EdgewiseError } from "../errors/result.ts";
import type { Client, ModelRequest, ModelResponse, RelayReply, RelayRequest } from "../rollouts/types.ts";

/** Requests that an agent made itself, answered by the same script, in the form of their route: OpenAI's chat, whole or as events, and Anthropic's messages. */
export const scriptedRelay =
  (getResponse: (request: ModelRequest) => Promise<ModelResponse>): NonNullable<Client["relay"]> =>
  async (request: RelayRequest): Promise<RelayReply> => {
    const { route, body, model, state, signal, onBegin, onAnswer } = request;
    if (route !== "chat/completions" && route !== "messages") throw new EdgewiseError("bad_request", `a scripted model does not answer ${route}`);
    const { messages: _messages, model: _model, ...sampling_args } = body;
    const base = { model, state, signal, ...(onBegin === undefined ? {} : { onBegin }) };
    const answer = await getResponse({ ...base, prompt: promptOfRequest(route, body), sampling_args, tools: [] });
    onAnswer?.();
    if (route === "messages") return json(anthropicMessage(answer));
    return body.stream === true ? events(answer) : json(chatCompletion(answer));
  };

const json = (value: object): RelayReply => ({ status: 200, content_type: "application/json", text: JSON.stringify(value) });

const callsOf = ({ message }: ModelResponse) =>
  (message.tool_calls ?? []).map(({ id, name, arguments: given }, index) => ({ index, id, type: "function", function: { name, arguments: given } }));

const head = ({ id, model }: ModelResponse) => ({ id, created: 0, model });

function chatCompletion(answer: ModelResponse): object {
  const tool_calls = callsOf(answer).map(({ index: _index, ...call }) => call);
  const message = { role: "assistant", content: answer.message.content, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
  return { ...head(answer), object: "chat.completion", choices: [{ index: 0, message, finish_reason: answer.message.finish_reason }], usage: answer.usage };
}

function events(answer: ModelResponse): RelayReply {
  const tool_calls = callsOf(answer);
  const delta = { role: "assistant", content: answer.message.content, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
  const chunk = (choice: object) => `data: ${JSON.stringify({ ...head(answer), object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] })}\n\n`;
  const text = `${chunk({ delta, finish_reason: null })}${chunk({ delta: {}, finish_reason: answer.message.finish_reason })}data: [DONE]\n\n`;
  return { status: 200, content_type: "text/event-stream", text };
}

function anthropicMessage(answer: ModelResponse): object {
  const { message, usage } = answer;
  const said = typeof message.content === "string" && message.content !== "" ? [{ type: "text", text: message.content }] : [];
  const used = callsOf(answer).map(({ id, function: { name, arguments: given } }) => ({ type: "tool_use", id, name, input: JSON.parse(given) as object }));
  return {
    id: answer.id,
    type: "message",
    role: "assistant",
    model: answer.model,
    content: [...said, ...used],
    stop_reason: used.length > 0 ? "tool_use" : message.finish_reason === "length" ? "max_tokens" : "end_turn",
    usage: { input_tokens: usage?.prompt_tokens ?? 0, output_tokens: usage?.completion_tokens ?? 0 },
  };
}
