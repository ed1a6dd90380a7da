import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { contentText } from "../../rollouts/messages.ts";
import type { AssistantMessage, Content, Message, Part } from "../../rollouts/types.ts";

/** Messages as the items of a `POST {base}/responses`. */
export function responsesInput(prompt: readonly Message[]): JsonObject[] {
  return prompt.flatMap((message): JsonObject[] => {
    switch (message.role) {
      case "assistant":
        return assistantItems(message);
      case "tool":
        return [{ type: "function_call_output", call_id: message.tool_call_id, output: wireContent(message.content) }];
      case "text":
        return [{ role: "user", content: message.content }];
      default:
        return [{ role: message.role, content: wireContent(message.content) }];
    }
  });
}

/** What was thought, said and called are items of their own here. */
function assistantItems({ content, thinking_blocks, tool_calls }: AssistantMessage): JsonObject[] {
  const said = contentText(content);
  const calls = (tool_calls ?? []).map(({ id, name, arguments: text }): JsonObject => ({ type: "function_call", call_id: id, name, arguments: text }));
  const thoughts = ((thinking_blocks ?? []) as JsonObject[]).filter(isReasoning);
  return [...thoughts, ...(said === "" && calls.length > 0 ? [] : [{ role: "assistant", content: said }]), ...calls];
}

/** A reasoning item that can be sent back: without its encrypted content it is a name for something only the server may still have. */
export const isReasoning = ({ type, encrypted_content }: Readonly<Record<string, unknown>>): boolean =>
  type === "reasoning" && typeof encrypted_content === "string" && encrypted_content !== "";

const wireContent = (content: Content): Json => (typeof content === "string" ? content : content.map(wirePart));

function wirePart(part: Part): JsonObject {
  const fields = part as JsonObject;
  if (part.type === "text") return { type: "input_text", text: fields.text ?? "" };
  if (part.type !== "image_url") return fields;
  const { url, detail } = (fields.image_url ?? {}) as JsonObject;
  return { type: "input_image", image_url: url ?? null, detail: detail ?? "auto" };
}
