import type { EmbeddedModel } from "../embedded-model/model.ts";
import { type Prompt, tokensRead } from "./answers.ts";
import { badRequest } from "./openai-error.ts";

/** A text as a prompt. A character the model does not know is read as the unknown token, and echoed as it is. */
export const promptOf = (model: EmbeddedModel, text: string): Prompt => ({ ids: model.encode(text), texts: Array.from(text) });

/** Refuses, in OpenAI's words for a completion, a prompt that leaves no room for the answer that is asked for. */
export function checkCompletionLength(model: EmbeddedModel, prompt: Prompt, wanted: number): void {
  const length = tokensRead(prompt);
  if (fits(model, length, wanted)) return;
  const requested = `you requested ${length + wanted} tokens (${length} in your prompt; ${wanted} for the completion)`;
  throw overlong(`${maximum(model)}, however ${requested}. Please reduce your prompt; or completion length.`, "prompt");
}

/** The same in its words for a chat. */
export function checkChatLength(model: EmbeddedModel, prompt: Prompt): void {
  const length = tokensRead(prompt);
  if (fits(model, length, 1)) return;
  throw overlong(`${maximum(model)}. However, your messages resulted in ${length} tokens. Please reduce the length of the messages.`, "messages");
}

/** An answer ends where the context does, so one token of room is enough. */
const fits = ({ contextLength }: EmbeddedModel, length: number, wanted: number): boolean => length + Math.min(wanted, 1) <= contextLength;

const maximum = ({ contextLength }: EmbeddedModel): string => `This model's maximum context length is ${contextLength} tokens`;

const overlong = (message: string, param: string) => badRequest(message, param, "context_length_exceeded");
