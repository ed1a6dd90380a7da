import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { Message, ModelRequest, ModelResponse, Tool } from "../../rollouts/types.ts";
import type { Attempt, NativeCall, NativeRequest } from "../base-client.ts";
import { chatBody, type ChatPrompt, wireMessages, wireTool } from "./chat-request.ts";
import { checkChatCompletion, readChatCompletion } from "./chat-response.ts";
import { ChatStream } from "./chat-stream.ts";
import { OpenAIClient } from "./openai-client.ts";
import type { StreamFold } from "../transport/read-answer.ts";
import { errorInAnswer } from "./openai-sdk.ts";
import { record } from "./reply-fields.ts";
import { RequestFailed } from "../transport/request-failure.ts";
import { isOver, type LimitName, limitNameIn, TokenLimitName } from "./token-limit-name.ts";

/** The same request with its limit of tokens under `name`. */
function withLimitName(request: NativeRequest, name: LimitName): NativeRequest {
  const known = limitNameIn(request.body);
  if (known === null || known === name) return request;
  const { [known]: limit, ...rest } = request.body;
  const body = { ...rest, [name]: limit as Json };
  return { ...request, body, text: JSON.stringify(body) };
}

/** Any server with OpenAI's chat route, through the `openai` SDK. One SDK object serves all calls of an endpoint. */
export class OpenAIChatCompletionsClient extends OpenAIClient<ChatPrompt, JsonObject> {
  readonly type: string = "openai_chat_completions";
  protected readonly path: string = "/chat/completions";
  readonly #limitName = this.ports.limitName ?? new TokenLimitName(this.endpoint.base_url);

  override toNativePrompt(messages: readonly Message[]): ChatPrompt {
    return wireMessages(messages);
  }

  override toNativeTool(tool: Tool): JsonObject {
    return wireTool(tool);
  }

  override toNativeBody(call: NativeCall<ChatPrompt, JsonObject>): JsonObject {
    const { max_tokens, ...sampling } = call.sampling_args;
    return chatBody(call, max_tokens === undefined ? sampling : { ...sampling, [this.#limitName.current]: max_tokens as Json });
  }

  protected override passesOverLimit(body: JsonObject, passedOn: boolean): boolean {
    return this.#limitName.passesOver(body, passedOn);
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

  protected override streamFold(): StreamFold {
    return new ChatStream((error) => this.errorOfRefusal(errorInAnswer(error)));
  }

  /** Asks once, and once more where the server takes the limit of tokens under its other name only. */
  override async getNativeResponse(request: NativeRequest, attempt: Attempt): Promise<unknown> {
    // What waited for its permit was made before others found out.
    const current = withLimitName(request, this.#limitName.current);
    try {
      return await super.getNativeResponse(current, attempt);
    } catch (thrown) {
      const refused = thrown instanceof RequestFailed && thrown.failure.code === "bad_request" ? thrown.failure.message : null;
      const name = limitNameIn(current.body);
      const other = refused === null || name === null ? null : this.#limitName.refuses(name, refused);
      if (other === null) throw thrown;
      this.ports.onWarning?.("max_tokens_refused", `the server refuses ${name}, and is sent ${other} instead from now on`);
      return await super.getNativeResponse(withLimitName(current, other), attempt);
    }
  }

  /** Older servers know `max_tokens` only and pass over the name it has in the chat route today. */
  protected override inspect({ sampling_args }: ModelRequest, { usage }: ModelResponse, { body }: NativeRequest): void {
    const asked = sampling_args.max_tokens;
    if (typeof asked !== "number" || usage === null || !isOver(usage.completion_tokens, asked)) return;
    const name = limitNameIn(body);
    const next = name === null ? null : this.#limitName.ignores(name);
    if (next === undefined) return;
    const seen = `the server answered ${usage.completion_tokens} tokens where max_tokens is ${asked}`;
    if (next === null) this.ports.onWarning?.("max_tokens_unknown", `${seen}: it keeps to no limit of tokens, whatever it is called`);
    else this.ports.onWarning?.("max_tokens_ignored", `${seen}: it does not know ${name}, and is sent ${next} from now on`);
  }
}
