import { parseShallow } from "../../config/json-depth.ts";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { AssistantMessage, Content, Message, Part } from "../../rollouts/types.ts";

export interface AnthropicPrompt {
  readonly system: string;
  readonly messages: JsonObject[];
}

/** Messages of `POST /v1/messages`. Consecutive tool answers are one user message, as the route wants it. */
export function anthropicPrompt(prompt: readonly Message[]): AnthropicPrompt {
  const system: string[] = [];
  const messages: JsonObject[] = [];
  let results: JsonObject[] | null = null;
  for (const message of prompt) {
    if (message.role === "tool") {
      if (results === null) {
        results = [];
        messages.push({ role: "user", content: results });
      }
      results.push({ type: "tool_result", tool_use_id: message.tool_call_id, content: plainText(message.content) });
      continue;
    }
    results = null;
    if (message.role === "system") system.push(plainText(message.content));
    else if (message.role === "assistant") messages.push({ role: "assistant", content: assistantContent(message) });
    else messages.push({ role: "user", content: typeof message.content === "string" ? message.content : message.content.map(block) });
  }
  return { system: system.join("\n\n"), messages };
}

/** Content where the route takes text only. */
function plainText(content: Content): string {
  return typeof content === "string" ? content : content.map((part) => partText(part)).join(" ");
}

function partText(part: Part): string {
  const { type, text } = part as { type: string; text?: unknown };
  if (type === "text" && typeof text === "string") return text;
  if (type === "image_url") return "[image]";
  return type.startsWith("input_audio") ? "[audio]" : JSON.stringify(part);
}

function block(part: Part): JsonObject {
  const image = part.type === "image_url" ? imageBlock((part as { image_url?: { url?: unknown } }).image_url?.url) : null;
  return image ?? { type: "text", text: partText(part) };
}

/** Only pictures that travel with the request; an address would have to be fetched by somebody. */
function imageBlock(url: unknown): JsonObject | null {
  const [, media_type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(typeof url === "string" ? url : "") ?? [];
  return media_type === undefined || data === undefined ? null : { type: "image", source: { type: "base64", media_type, data } };
}

/** Thinking goes back first and as it was signed, then text, then the tools it asked for. */
function assistantContent({ content, thinking_blocks, tool_calls }: AssistantMessage): Json {
  const thinking = (thinking_blocks ?? []) as JsonObject[];
  const calls = tool_calls ?? [];
  if (thinking.length === 0 && calls.length === 0) return typeof content === "string" ? content : (content ?? []).map(block);
  const texts = (typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []).map(block)).filter((each) => each.text !== "");
  return [...thinking, ...texts, ...calls.map(({ id, name, arguments: given }) => ({ type: "tool_use", id, name, input: inputOf(given) }))];
}

/** Arguments that are no JSON object cannot be told to this route: the model is told that it gave none. */
function inputOf(text: string): JsonObject {
  try {
    const parsed: unknown = parseShallow(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as JsonObject) : {};
  } catch {
    return {};
  }
}
