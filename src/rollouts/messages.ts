import type { Json } from "../config/plan/run-config.ts";
import { pythonJson } from "./rows/python-json.ts";
import type { Content, Message, Part, ToolCall } from "./types.ts";

/** Raw messages, as data sets and environments write them, in the one form the library works with. */

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

const describe = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};

/** A string is one raw text prompt; a list is taken message by message. Throws a `TypeError` that names the bad message. */
export function normaliseMessages(raw: unknown): Message[] {
  if (typeof raw === "string") return [{ role: "text", content: raw }];
  const list = isRecord(raw) ? [raw] : raw;
  if (!Array.isArray(list)) throw new TypeError(`expected messages or a text, got ${describe(raw)}`);
  return list.map(normaliseMessage);
}

function normaliseMessage(raw: unknown, index: number): Message {
  if (!isRecord(raw)) throw new TypeError(`message ${index} is not an object: ${describe(raw)}`);
  switch (raw.role) {
    case "system":
    case "user":
      return { ...raw, role: raw.role, content: checkedContent(raw.content, index) };
    case "text":
      if (typeof raw.content !== "string") throw new TypeError(`message ${index}: the content of a text message is a string`);
      return { ...raw, role: "text", content: raw.content };
    case "tool":
      if (typeof raw.tool_call_id !== "string") throw new TypeError(`message ${index}: a tool message needs tool_call_id`);
      return { ...raw, role: "tool", tool_call_id: raw.tool_call_id, content: checkedContent(raw.content, index) };
    case "assistant":
      return {
        ...raw,
        role: "assistant",
        content: raw.content === null || raw.content === undefined ? null : checkedContent(raw.content, index),
        ...(Array.isArray(raw.tool_calls) ? { tool_calls: raw.tool_calls.map((call) => normaliseToolCall(call, index)) } : {}),
      };
    default:
      throw new TypeError(`message ${index} has the unknown role ${describe(raw.role)}`);
  }
}

function checkedContent(content: unknown, index: number): Content {
  if (typeof content === "string") return content;
  if (Array.isArray(content) && content.every((part) => isRecord(part) && typeof part.type === "string")) return content as Part[];
  throw new TypeError(`message ${index}: content is neither a string nor a list of parts: ${describe(content)}`);
}

/** Flattens OpenAI's nested form; arguments that are not text yet are JSON-encoded (null → `{}`); a missing id is the name. */
function normaliseToolCall(raw: unknown, index: number): ToolCall {
  const call = isRecord(raw) && isRecord(raw.function) ? { id: raw.id, ...raw.function } : raw;
  if (!isRecord(call) || typeof call.name !== "string") throw new TypeError(`message ${index} has a tool call without a name: ${describe(raw)}`);
  const given = call.arguments ?? {};
  return {
    id: typeof call.id === "string" ? call.id : call.name,
    name: call.name,
    arguments: typeof given === "string" ? given : JSON.stringify(given),
  };
}

/** Text of a message: its text parts joined by one space and trimmed when it is a list. */
export function contentText(content: Content | null | undefined): string {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return content;
  return content
    .flatMap((part) => (part.type === "text" && "text" in part && typeof part.text === "string" ? [part.text] : []))
    .join(" ")
    .trim();
}

/** Keys that survive in a message whose content had to be rewritten. */
const REWRITTEN_KEYS = ["reasoning_content", "tool_calls", "tool_call_id", "name"] as const;

/** Messages as they stand in a row of `results.jsonl`: tool calls as JSON texts, multimodal parts in one form, nulls left out. */
export function rowMessages(messages: readonly Message[]): Json[] {
  return messages.map((message) => {
    const fields = message as unknown as Record<string, Json | undefined>;
    if (message.role === "assistant" && message.tool_calls !== undefined && message.tool_calls !== null && message.tool_calls.length > 0) {
      return {
        role: "assistant",
        content: rowContent(message.content ?? ""),
        tool_calls: message.tool_calls.map(({ id, name, arguments: text }) => pythonJson({ id, name, arguments: text })),
        ...(typeof message.reasoning_content === "string" ? { reasoning_content: message.reasoning_content } : {}),
      };
    }
    const row: Record<string, Json> = { role: message.role };
    // The order of verifiers' own messages, which one with a rewritten content has lost there.
    if (message.role === "tool" && typeof message.content === "string") row.tool_call_id = message.tool_call_id;
    row.content = rowContent(message.content);
    const keys = Array.isArray(message.content) ? REWRITTEN_KEYS : Object.keys(fields);
    for (const key of keys) {
      const value = fields[key];
      if (key !== "role" && key !== "content" && value !== null && value !== undefined) row[key] = value;
    }
    return row;
  });
}

function rowContent(content: Content | null): Json {
  if (content === null || typeof content === "string") return content;
  return content.flatMap((part) => rowPart(part as { type: string; [field: string]: Json | undefined }));
}

function rowPart(part: { type: string; [field: string]: Json | undefined }): Json[] {
  if (part.type === "text") return [{ type: "text", text: typeof part.text === "string" ? part.text : "" }];
  if (part.type === "image_url") {
    const url = isRecord(part.image_url) ? part.image_url.url : part.image_url;
    return typeof url === "string" && url !== "" ? [{ type: "image_url", image_url: { url } }] : [];
  }
  if (part.type === "input_audio" || part.type === "audio") {
    const audio = part[part.type] ?? part.input_audio;
    const { data, format } = isRecord(audio) ? audio : {};
    if (typeof data !== "string" || typeof format !== "string" || data.trim() === "" || format.trim() === "") return [{ type: "text", text: "[audio]" }];
    return [{ type: "input_audio", input_audio: { data: data.replaceAll(/\s+/g, ""), format: format.trim().toLowerCase() } }];
  }
  return [part as Json];
}
