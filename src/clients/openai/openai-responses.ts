import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { Message, ModelResponse, Tool } from "../../rollouts/types.ts";
import type { NativeCall } from "../base-client.ts";
import { OpenAIClient } from "./openai-client.ts";
import type { StreamFold } from "../transport/read-answer.ts";
import { errorInAnswer } from "./openai-sdk.ts";
import { responsesInput } from "./responses-input.ts";
import { checkResponse, readResponse } from "./responses-output.ts";
import { type Fields, record } from "./reply-fields.ts";

/**
 * OpenAI's Responses route. Every request carries the whole conversation, as on the other routes: nothing depends on what the
 * server has kept. Reasoning that the server encrypts (`include: ["reasoning.encrypted_content"]`) is sent back with it.
 */
export class OpenAIResponsesClient extends OpenAIClient<JsonObject[], JsonObject> {
  readonly type = "openai_responses";
  protected readonly path = "/responses";

  override toNativePrompt(messages: readonly Message[]): JsonObject[] {
    return responsesInput(messages);
  }

  /** This route takes every schema for a strict one unless told otherwise; the chat route does not. */
  override toNativeTool({ name, description, parameters, strict }: Tool): JsonObject {
    return { type: "function", name, description, parameters, strict: strict ?? false };
  }

  override toNativeBody({ model, prompt, tools, sampling_args }: NativeCall<JsonObject[], JsonObject>): JsonObject {
    const { extra_body, max_tokens, ...sampling } = sampling_args;
    return {
      model,
      input: prompt,
      ...(tools.length > 0 ? { tools: [...tools] } : {}),
      ...(max_tokens === undefined ? {} : { max_output_tokens: max_tokens as Json }),
      ...sampling,
      ...(extra_body as JsonObject | undefined),
    };
  }

  override raiseFromNativeResponse(response: unknown): void {
    const error = record(record(response)?.error);
    if (error !== null) throw this.errorOfRefusal(errorInAnswer(error));
    checkResponse(response);
  }

  override fromNativeResponse(response: unknown): ModelResponse {
    return readResponse(response);
  }

  protected override streamFold(): StreamFold {
    return new LastResponse((error) => this.errorOfRefusal(errorInAnswer(error)));
  }
}

/** The last event of a streamed answer carries all of it. */
class LastResponse implements StreamFold {
  readonly #errorOf: (error: Fields) => Error;
  #response: Fields | null = null;
  readonly size = 0;

  constructor(errorOf: (error: Fields) => Error) {
    this.#errorOf = errorOf;
  }

  add(event: Fields): void {
    if (event.type === "error") throw this.#errorOf(record(event.error) ?? event);
    if (event.type === "response.completed" || event.type === "response.incomplete" || event.type === "response.failed")
      this.#response = record(event.response);
  }

  result(): unknown {
    return this.#response;
  }
}
