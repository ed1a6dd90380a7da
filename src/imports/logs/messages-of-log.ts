import type { Json } from "../../config/plan/run-config.ts";
import { rowMessages } from "../../rollouts/messages.ts";
import { readMessages } from "../../rollouts/rows/output.ts";
import { isFields } from "./fields.ts";

/** A list of messages in OpenAI's form, or what stands for one, as a row has it: a text stays a text, anything else becomes JSON. */
export function messagesOfLog(raw: unknown): Json {
  if (raw === null || raw === undefined) return null;
  if (typeof raw === "string") return raw;
  if (Array.isArray(raw) && raw.length > 0 && raw.every((message) => isFields(message) && typeof message.role === "string")) {
    try {
      return rowMessages(readMessages(raw, "prompt") ?? []);
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    }
  }
  return JSON.stringify(raw);
}

/** A text that holds a JSON list of messages as such messages; any other as it is. */
export function messagesInText(text: string): Json {
  if (!/^\s*\[/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.length > 0 && value.every((message) => isFields(message) && typeof message.role === "string")
      ? messagesOfLog(value)
      : text;
  } catch {
    // A prompt may begin with a bracket.
    return text;
  }
}

/** What a model said, as a completion. */
export const saidOf = (output: unknown): Json => {
  if (output === null || output === undefined) return null;
  return [{ role: "assistant", content: typeof output === "string" ? output : JSON.stringify(output) }];
};
