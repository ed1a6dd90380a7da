import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { AssistantMessage, Message, Tool } from "../../rollouts/types.ts";
import type { NativeCall } from "../base-client.ts";

/** Messages of the chat route, and whether one of them carries sound. */
export interface ChatPrompt {
  readonly messages: JsonObject[];
  readonly audio: boolean;
}

/** The body of `POST {base}/chat/completions`. `sampling` has the names of the route already. */
export function chatBody({ model, prompt, tools }: NativeCall<ChatPrompt, JsonObject>, sampling: JsonObject): JsonObject {
  const { extra_body, ...own } = sampling;
  const extra = extra_body as JsonObject | undefined;
  const body: JsonObject = {
    model,
    messages: prompt.messages,
    n: 1,
    ...(tools.length > 0 ? { tools: [...tools] } : {}),
    ...(own.modalities === undefined && prompt.audio ? { modalities: ["text"] } : {}),
    ...own,
    ...extra,
  };
  return body.stream === true ? { ...body, ...usageInStream(body) } : body;
}

/** A streamed answer tells its usage only when asked to; `stream_options` in the arguments wins. */
export const usageInStream = (body: JsonObject): JsonObject => (body.stream_options === undefined ? { stream_options: { include_usage: true } } : {});

export function wireMessages(prompt: readonly Message[]): ChatPrompt {
  return { messages: prompt.map(wireMessage), audio: hasAudio(prompt) };
}

function wireMessage(message: Message): JsonObject {
  if (message.role === "assistant") return wireAssistant(message);
  const fields = message as unknown as JsonObject;
  return message.role === "text" ? { role: "user", content: message.content } : fields;
}

/** The two optional keys are always there, null when absent. Thinking blocks are another vendor's and stay behind. */
function wireAssistant({ content, tool_calls, reasoning_content }: AssistantMessage): JsonObject {
  const calls = tool_calls?.map(({ id, name, arguments: text }): JsonObject => ({ type: "function", id, function: { name, arguments: text } }));
  return {
    role: "assistant",
    content: content as Json,
    tool_calls: calls === undefined || calls.length === 0 ? null : calls,
    reasoning_content: reasoning_content ?? null,
  };
}

export function wireTool({ name, description, parameters, strict }: Tool): JsonObject {
  return { type: "function", function: { name, description, parameters, ...(strict === null || strict === undefined ? {} : { strict }) } };
}

const hasAudio = (prompt: readonly Message[]): boolean =>
  prompt.some(({ content }) => Array.isArray(content) && content.some(({ type }) => typeof type === "string" && type.startsWith("input_audio")));
