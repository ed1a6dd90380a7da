import { record, records, text } from "../../clients/openai/reply-fields.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { normaliseMessages } from "../../rollouts/messages.ts";
import type { Message, RelayRoute, ToolCall } from "../../rollouts/types.ts";

/** The conversation that an agent's request continues, as the trajectory has it. What is in no known form is left out: nothing is sent by it. */
export function promptOfRequest(route: RelayRoute, body: JsonObject): Message[] {
  if (route === "messages") return [...systemOf(body.system), ...records(body.messages).flatMap(anthropicMessages)];
  if (route === "responses") {
    const said: Message[] = typeof body.input === "string" ? [{ role: "user", content: body.input }] : records(body.input).flatMap(responsesItem);
    return [...systemOf(body.instructions), ...said];
  }
  if (route === "completions") return [{ role: "text", content: typeof body.prompt === "string" ? body.prompt : JSON.stringify(body.prompt ?? "") }];
  return records(body.messages).flatMap(chatMessage);
}

function chatMessage(message: Record<string, unknown>): Message[] {
  try {
    // OpenAI's newer name for it.
    return normaliseMessages([message.role === "developer" ? { ...message, role: "system" } : message]);
  } catch {
    return [];
  }
}

const systemOf = (system: unknown): Message[] => {
  const content = textOf(system);
  return content === "" ? [] : [{ role: "system", content }];
};

/** Of a text, or of blocks that have some. */
const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : records(content)
        .map((block) => text(block.text))
        .filter((each) => each !== "")
        .join("\n");

function anthropicMessages({ role, content }: Record<string, unknown>): Message[] {
  const blocks = records(content);
  if (role === "assistant") {
    const calls = blocks.flatMap(({ type, id, name, input }): ToolCall[] =>
      type === "tool_use" ? [{ id: text(id), name: text(name), arguments: JSON.stringify(input ?? {}) }] : [],
    );
    return [{ role: "assistant", content: textOf(content), ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
  }
  const results = blocks.flatMap((block): Message[] =>
    block.type === "tool_result" ? [{ role: "tool", tool_call_id: text(block.tool_use_id), content: textOf(block.content) }] : [],
  );
  const said = textOf(content);
  return [...results, ...(said === "" && results.length > 0 ? [] : [{ role: "user", content: said } as const])];
}

function responsesItem(item: Record<string, unknown>): Message[] {
  if (item.type === "function_call")
    return [{ role: "assistant", content: null, tool_calls: [{ id: text(item.call_id), name: text(item.name), arguments: text(item.arguments) }] }];
  if (item.type === "function_call_output")
    return [{ role: "tool", tool_call_id: text(item.call_id), content: typeof item.output === "string" ? item.output : textOf(item.output) }];
  if (item.type !== undefined && item.type !== "message") return [];
  const content = textOf(item.content);
  if (item.role === "assistant") return [{ role: "assistant", content }];
  if (item.role === "system" || item.role === "developer") return [{ role: "system", content }];
  return record(item) !== null && item.role === "user" ? [{ role: "user", content }] : [];
}
