import { ChatStream } from "../openai/chat-stream.ts";
import type { StreamFold } from "../transport/read-answer.ts";
import { type Fields, record, records, text } from "../openai/reply-fields.ts";

/**
 * An answer of the binding as the chat completion it stands for: newer models answer in that form, older ones with `{response,
 * tool_calls, usage}`. `now`: Unix milliseconds, since those do not say when they answered.
 */
export function asChatCompletion(answer: unknown, model: string, now: number): unknown {
  const reply = record(answer);
  if (reply === null || reply.choices !== undefined || (reply.response === undefined && reply.tool_calls === undefined)) return answer;
  const tool_calls = records(reply.tool_calls).map(asToolCall);
  const message = { content: asText(reply.response), ...(tool_calls.length > 0 ? { tool_calls } : {}) };
  // Whether it was cut off is not said.
  const finish_reason = text(reply.finish_reason) || (tool_calls.length > 0 ? "tool_calls" : null);
  return { id: text(reply.id), created: Math.floor(now / 1_000), model, usage: reply.usage, choices: [{ message, finish_reason }] };
}

/** With a JSON schema to follow, the answer is no text but a value. */
const asText = (response: unknown): string | null =>
  typeof response === "string" ? response : response === null || response === undefined ? null : JSON.stringify(response);

/** `{name, arguments}` with arguments as a value; a missing id is the tool's name. */
function asToolCall(call: Fields): Fields {
  const { id, name, arguments: given } = { ...call, ...record(call.function) } as Fields;
  return { id: text(id) || text(name), function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}) } };
}

/** Events of a streamed answer in either form. */
export class WorkersAiStream implements StreamFold {
  readonly #chat: ChatStream;
  #response = "";
  #rest: Fields | null = null;
  #inChatForm = false;

  /** `errorOf`: what an error inside the stream stands for. */
  constructor(errorOf: (error: Fields) => Error) {
    this.#chat = new ChatStream(errorOf);
  }

  get size(): number {
    return this.#chat.size + this.#response.length;
  }

  add(event: Fields): void {
    this.#inChatForm ||= event.choices !== undefined || event.error !== undefined;
    if (this.#inChatForm) return this.#chat.add(event);
    const { response, ...rest } = event;
    this.#response += text(response);
    this.#rest = { ...this.#rest, ...rest };
  }

  result(done: boolean): unknown {
    if (this.#inChatForm) return this.#chat.result(done);
    return done && this.#rest !== null ? { ...this.#rest, response: this.#response } : null;
  }
}
