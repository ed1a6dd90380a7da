import { z } from "zod";
import { renderChat } from "../embedded-model/chat-template.ts";
import type { EmbeddedModel } from "../embedded-model/model.ts";
import type { Prompt } from "./answers.ts";
import { type AnswerHead, type AnswerShape, textOf, usageObject } from "./answer-shape.ts";
import { chatLogprob } from "./log-probabilities.ts";
import { badRequest } from "./openai-error.ts";
import { promptOf } from "./prompts.ts";
import { DEMONSTRATION_FIELDS, integer, parseRequest, SAMPLING_FIELDS } from "./request-fields.ts";

/** The route `/chat/completions`. */

const textPart = z.looseObject({ type: z.literal("text", "the model reads text only"), text: z.string() });
const ROLES = ["developer", "system", "user", "assistant", "tool", "function"] as const;
const message = z.looseObject({
  role: z.enum(ROLES, `expected one of ${ROLES.join(", ")}`),
  content: z.preprocess((content) => (typeof content === "string" ? [{ type: "text", text: content }] : content), z.array(textPart).nullish()),
});

const FIELDS = {
  ...SAMPLING_FIELDS,
  ...DEMONSTRATION_FIELDS,
  messages: z.array(message),
  max_tokens: integer(1).nullish(),
  max_completion_tokens: integer(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: integer(0, 20).nullish(),
};

export type ChatRequest = z.infer<z.ZodObject<typeof FIELDS>>;

export function parseChat(body: unknown): ChatRequest {
  const request = parseRequest(FIELDS, body);
  if (typeof request.top_logprobs === "number" && request.logprobs !== true) {
    throw badRequest("The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.", "top_logprobs");
  }
  if (typeof request.max_tokens === "number" && typeof request.max_completion_tokens === "number") {
    const both = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
    throw badRequest(both, "max_tokens", "invalid_parameter_combination");
  }
  return request;
}

export function chatPrompt(model: EmbeddedModel, { messages }: ChatRequest): Prompt {
  const turns = messages.map(({ role, content }) => ({ role, content: (content ?? []).map(({ text }) => text).join("\n") }));
  const text = renderChat(turns);
  if (text === null)
    throw badRequest("Invalid 'messages': expected a message of the role 'user', which is what the model answers.", "messages", "invalid_value");
  return promptOf(model, text);
}

/** OpenAI's `chat.completion` and `chat.completion.chunk`. */
export class ChatShape implements AnswerShape {
  readonly #model: EmbeddedModel;
  readonly #head: AnswerHead;
  /** Alternatives per token; null = no log-probabilities. */
  readonly #top: number | null;
  readonly #usageWanted: boolean;

  constructor(model: EmbeddedModel, head: AnswerHead, request: ChatRequest) {
    this.#model = model;
    this.#head = head;
    this.#top = request.logprobs === true ? (request.top_logprobs ?? 0) : null;
    this.#usageWanted = request.stream_options?.include_usage === true;
  }

  whole: AnswerShape["whole"] = (choices, usage) => ({
    ...this.#named("chat.completion"),
    choices: choices.map(({ tokens, finish }, index) => ({
      index,
      message: { role: "assistant", content: textOf(tokens), refusal: null, annotations: [] },
      logprobs: this.#logprobs(tokens),
      finish_reason: finish,
    })),
    usage: usageObject(usage),
  });

  begin: AnswerShape["begin"] = (index) => this.#chunk(index, { role: "assistant", content: "", refusal: null });
  token: AnswerShape["token"] = (index, token) => this.#chunk(index, { content: token.text }, { logprobs: this.#logprobs([token]) });
  end: AnswerShape["end"] = (index, finish) => this.#chunk(index, {}, { finish_reason: finish });
  usage: AnswerShape["usage"] = (usage) => ({ ...this.#named("chat.completion.chunk"), choices: [], usage: usageObject(usage) });

  #chunk(index: number, delta: object, more: object = {}): object {
    const choice = { index, delta, logprobs: null, finish_reason: null, ...more };
    return { ...this.#named("chat.completion.chunk"), choices: [choice], ...(this.#usageWanted ? { usage: null } : {}) };
  }

  #logprobs(tokens: Parameters<typeof textOf>[0]): object | null {
    const top = this.#top;
    return top === null ? null : { content: tokens.map((token) => chatLogprob(this.#model, token, top)), refusal: null };
  }

  #named(object: string): object {
    const { id, created, model, system_fingerprint } = this.#head;
    return { id, object, created, model, system_fingerprint };
  }
}
