import type { Json, JsonObject } from "../config/run-config.ts";
import type { Message, ModelRequest, ModelResponse, Tool } from "../environments/types.ts";
import type { NativeCall } from "./base-client.ts";
import { chatBody, type ChatPrompt, wireMessages, wireTool } from "./chat-request.ts";
import { checkChatCompletion, readChatCompletion } from "./chat-response.ts";
import { ChatStream } from "./chat-stream.ts";
import type { Endpoint } from "./client.ts";
import { HttpClient } from "./http-client.ts";
import type { StreamFold } from "./read-answer.ts";
import { errorInAnswer, openAiError, OpenAiSdk } from "./openai-sdk.ts";
import { record } from "./reply-fields.ts";
import type { StatusAnswer } from "./request-failure.ts";

/** Any server with OpenAI's chat route, through the `openai` SDK. One SDK object serves all calls of an endpoint. */
export class OpenAIChatCompletionsClient extends HttpClient<OpenAiSdk, ChatPrompt, JsonObject> {
  readonly type: string = "openai_chat_completions";
  protected readonly path: string = "/chat/completions";

  protected override setupClient(endpoint: Endpoint): OpenAiSdk {
    return new OpenAiSdk(endpoint);
  }

  override toNativePrompt(messages: readonly Message[]): ChatPrompt {
    return wireMessages(messages);
  }

  override toNativeTool(tool: Tool): JsonObject {
    return wireTool(tool);
  }

  override toNativeBody(call: NativeCall<ChatPrompt, JsonObject>): JsonObject {
    const { max_tokens, ...sampling } = call.sampling_args;
    return chatBody(call, max_tokens === undefined ? sampling : { ...sampling, max_completion_tokens: max_tokens as Json });
  }

  override raiseFromNativeResponse(response: unknown): void {
    const reply = record(response);
    const error = record(reply?.error);
    if (error !== null && !Array.isArray(reply?.choices)) throw this.errorOfRefusal(errorInAnswer(error));
    checkChatCompletion(response);
  }

  override fromNativeResponse(response: unknown): ModelResponse {
    return readChatCompletion(response);
  }

  override errorOfRefusal(answer: StatusAnswer): Error {
    return openAiError(answer, this.scrub, this.ports.now());
  }

  protected override streamFold(): StreamFold {
    return new ChatStream((error) => this.errorOfRefusal(errorInAnswer(error)));
  }

  /** Older servers know `max_tokens` only and pass over the name it has in the chat route today. */
  protected override inspect({ sampling_args }: ModelRequest, { usage }: ModelResponse): void {
    const asked = sampling_args.max_tokens;
    if (typeof asked !== "number" || usage === null || usage.completion_tokens <= asked) return;
    const hint = `send it under its old name too: -S '{"extra_body": {"max_tokens": ${asked}}}'`;
    this.ports.onWarning?.(
      "max_tokens_ignored",
      `the server answered ${usage.completion_tokens} tokens where max_tokens is ${asked}, so it does not know max_completion_tokens; ${hint}`,
    );
  }
}
