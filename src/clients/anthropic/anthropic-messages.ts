import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { Message, ModelRequest, ModelResponse, RelayRoute, Tool } from "../../rollouts/types.ts";
import { anthropicError, errorEvent } from "./anthropic-errors.ts";
import { type AnthropicPrompt, anthropicPrompt } from "./anthropic-request.ts";
import { checkAnthropicMessage, readAnthropicMessage } from "./anthropic-response.ts";
import { AnthropicSdk } from "./anthropic-sdk.ts";
import { AnthropicStream } from "./anthropic-stream.ts";
import type { NativeCall } from "../base-client.ts";
import type { Endpoint } from "../client.ts";
import { HttpClient } from "../transport/http-client.ts";
import type { StreamFold } from "../transport/read-answer.ts";
import { record } from "../openai/reply-fields.ts";
import type { StatusAnswer } from "../transport/request-failure.ts";

/** What verifiers asks for when nobody says how long an answer may be; the route does not go without. */
const DEFAULT_MAX_TOKENS = 4096;

/** Anthropic's messages route, through the `@anthropic-ai/sdk`. */
export class AnthropicMessagesClient extends HttpClient<AnthropicSdk, AnthropicPrompt, JsonObject> {
  readonly type = "anthropic_messages";
  protected override readonly writesCache = true;
  protected readonly path = "/v1/messages";
  protected override readonly modelsPath = "/v1/models";

  protected override setupClient(endpoint: Endpoint): AnthropicSdk {
    return new AnthropicSdk(endpoint);
  }

  protected override relayPath(route: RelayRoute): string {
    return `/v1/${route}`;
  }

  /** OpenAI's routes want the key as their own clients send it. */
  protected override relayHeaders(route: RelayRoute): Readonly<Record<string, string>> {
    return route === "messages" ? {} : { authorization: `Bearer ${this.endpoint.api_key}` };
  }

  override toNativePrompt(messages: readonly Message[]): AnthropicPrompt {
    return anthropicPrompt(messages);
  }

  override toNativeTool({ name, description, parameters }: Tool): JsonObject {
    return { name, description, input_schema: parameters };
  }

  override toNativeBody({ model, prompt, tools, sampling_args }: NativeCall<AnthropicPrompt, JsonObject>): JsonObject {
    const { extra_body, stop, max_tokens, ...sampling } = sampling_args;
    return {
      model,
      max_tokens: (max_tokens as Json | undefined) ?? DEFAULT_MAX_TOKENS,
      system: prompt.system,
      messages: prompt.messages,
      ...(tools.length > 0 ? { tools: [...tools] } : {}),
      ...(stop === undefined ? {} : { stop_sequences: Array.isArray(stop) ? stop : [stop] }),
      ...sampling,
      ...(extra_body as JsonObject | undefined),
    };
  }

  override raiseFromNativeResponse(response: unknown): void {
    const error = record(record(response)?.error);
    if (error !== null) throw this.errorOfRefusal(errorEvent(error));
    checkAnthropicMessage(response);
  }

  override fromNativeResponse(response: unknown): ModelResponse {
    return readAnthropicMessage(response, this.ports.now());
  }

  override errorOfRefusal(answer: StatusAnswer): Error {
    return anthropicError(answer, this.scrub, this.ports.now());
  }

  protected override streamFold(): StreamFold {
    return new AnthropicStream((error) => this.errorOfRefusal(errorEvent(error)));
  }

  protected override inspect({ sampling_args }: ModelRequest): void {
    const { max_tokens, extra_body } = sampling_args;
    if (typeof max_tokens === "number" || record(extra_body)?.max_tokens !== undefined) return;
    this.ports.onWarning?.("max_tokens_unset", `max_tokens is not set and this route needs it: ${DEFAULT_MAX_TOKENS} was sent; set it with -t`);
  }
}
